#pragma once

/// Small NumPy arrays without detours: what an acceleration of a few coordinates costs would else be spent on asking for buffers.
///
/// The layout of an array and the places of functions in NumPy's table are its binary interface, which modules that are compiled with its
/// headers have built in; it is the same in NumPy 1 and 2. Whatever is not an array of doubles as expected is left to others.

#include <Python.h>

#include <cstdint>

namespace mechanician {

class FastArrays {
 public:
  /// How many rows of n doubles an array has, one behind the other: 0 for one dimension, else of two; `at` is where they are. −1: it is
  /// no such array.
  static std::intptr_t rows_of(PyObject* object, int n, const double*& at) {
    const FastArrays& known = get();
    if (Py_TYPE(object) != known.type_) return -1;
    const auto& array = *reinterpret_cast<const Array*>(object);
    if (array.kind != known.kind_ || (array.flags & plain) != plain) return -1;
    if (array.num_dimensions < 1 || array.num_dimensions > 2 || array.dimensions[array.num_dimensions - 1] != n)
      return -1;
    at = static_cast<const double*>(array.data);
    return array.num_dimensions == 1 ? 0 : array.dimensions[0] > 0 ? array.dimensions[0] : -1;
  }
  /// A new array of this kind; null with an exception of Python.
  static PyObject* make(std::intptr_t rows, int n, double*& at) {
    const FastArrays& known = get();
    const std::intptr_t sizes[] = {rows, n};
    const bool one = rows == 0;
    PyObject* made =
        known.new_(known.type_, one ? 1 : 2, sizes + (one ? 1 : 0), type_double, nullptr, nullptr, 0, 0, nullptr);
    if (made != nullptr) at = static_cast<double*>(reinterpret_cast<Array*>(made)->data);
    return made;
  }

 private:
  struct Array {
    PyObject head;
    void* data;
    int num_dimensions;
    std::intptr_t *dimensions, *strides;
    PyObject* base;
    PyObject* kind;
    int flags;
  };
  static constexpr int plain = 0x0001 | 0x0100;  // contiguous, aligned
  static constexpr int type_double = 12, at_array_type = 2, at_new = 93;
  using New = PyObject* (*)(PyTypeObject*, int, const std::intptr_t*, int, const std::intptr_t*, void*, int, int,
                            PyObject*);

  /// Without NumPy there is no array either, and type_ is null.
  FastArrays() {
    PyObject* numbers = PyImport_ImportModule("numpy._core._multiarray_umath");  // since NumPy 2
    if (numbers == nullptr) {
      PyErr_Clear();
      numbers = PyImport_ImportModule("numpy.core._multiarray_umath");
    }
    PyObject* table = numbers ? PyObject_GetAttrString(numbers, "_ARRAY_API") : nullptr;
    void** functions = table ? static_cast<void**>(PyCapsule_GetPointer(table, nullptr)) : nullptr;
    PyObject* numpy = functions ? PyImport_ImportModule("numpy") : nullptr;
    PyObject* kind = numpy ? PyObject_CallMethod(numpy, "dtype", "s", "float64") : nullptr;
    if (kind != nullptr) {
      kind_ = kind;
      new_ = reinterpret_cast<New>(functions[at_new]);
      type_ = static_cast<PyTypeObject*>(functions[at_array_type]);
    }
    PyErr_Clear();
  }
  static const FastArrays& get() {
    static const FastArrays known;
    return known;
  }

  PyTypeObject* type_ = nullptr;
  PyObject* kind_ = nullptr;
  New new_ = nullptr;
};

}  // namespace mechanician

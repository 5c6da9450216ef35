#pragma once

/// What the hdf5_ files share of HDF5: identifiers that close themselves, calls whose failures are thrown, types.

#include <hdf5.h>

#include <string>
#include <utility>
#include <vector>

#include "mechanician/result/hdf5_file.hpp"

namespace mechanician {

/// An identifier of HDF5 that is closed when it goes out of scope, and what fails is thrown.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close close_id, const std::string& file, const std::string& what);
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: stands for the identifier everywhere
  herr_t close() { return close_(std::exchange(id_, -1)); }

 private:
  hid_t id_;
  Close close_;
};

/// Calls on one file, with its name in every message.
class Session {
 public:
  explicit Session(std::string file);

  const std::string& file() const { return file_; }
  Handle own(hid_t id, Handle::Close close, const std::string& what) const { return {id, close, file_, what}; }
  void check(herr_t status, const std::string& what) const;

  /// UTF-8 of any length; Python and Julia read it as their own strings.
  Handle text_type() const;
  Handle file_access() const;
  Handle stored_type(const Hdf5Dataset& dataset) const;
  /// The space of a dataset in the file with a block of it chosen, and the space of the block in memory.
  struct Selection {
    Handle in_file, in_memory;
  };
  Selection select(hid_t dataset, const Hdf5Block& block, const std::string& name) const;

  void write_text(hid_t object, const std::string& name, const std::string& value) const;
  template <class T>
  void write_scalar(hid_t object, const std::string& name, hid_t stored, hid_t native, T value) const {
    const Handle space = own(H5Screate(H5S_SCALAR), H5Sclose, name);
    const Handle attribute =
        own(H5Acreate2(object, name.c_str(), stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name);
    check(H5Awrite(attribute, native, &value), name);
  }
  void write_names(hid_t object, const std::vector<std::string>& names) const;

 private:
  std::string file_;
};

}  // namespace mechanician

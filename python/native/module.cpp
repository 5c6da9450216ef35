/// The native part of the Python package: thin classes around mechanician.hpp. What users see is written in Python (python/mechanician).

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <atomic>

#include "mechanician/cli/program.hpp"
#include "mechanician/mechanician.hpp"
#include "native/fast_call.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace mechanician;

namespace {

using Numbers = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

/// Numbers that belong to a Python object which owns them.
nb::object array_of(std::vector<double>&& numbers, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<double>(std::move(numbers));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, double>(owned->data(), shape.size(), shape.data(), owner));
}

nb::object array_of(const Eigen::VectorXd& x) {
  return array_of(std::vector<double>(x.data(), x.data() + x.size()), {static_cast<std::size_t>(x.size())});
}

nb::object array_of(const Eigen::MatrixXd& x) {
  const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = x;
  return array_of(std::vector<double>(rows.data(), rows.data() + rows.size()),
                  {static_cast<std::size_t>(x.rows()), static_cast<std::size_t>(x.cols())});
}

const unsigned long first_thread = PyThread_get_thread_ident();

/// Set when Python begins to end, after all threads but daemons have.
std::atomic<bool> python_ends{false};

/// Where Python ends while a daemon thread computes, that thread must not ask for the lock any more: Python would end it through frames
/// that do not let that pass, and the process with it. It waits here until the process has ended.
void stay_where_python_ends() {
  while (python_ends && PyThread_get_thread_ident() != first_thread) ::pause();
}

/// Other threads of Python run while it computes.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() {
    stay_where_python_ends();
    PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

template <class Call>
auto released(Call&& call) {
  const Unlocked unlocked;
  return call();
}

/// Python's own signals are looked at between steps: Ctrl-C interrupts, and what was computed stays.
template <class Call>
bool ask_python(const nb::object& progress, bool& interrupted, Call&& call) {
  stay_where_python_ends();
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) {
    // Ctrl-C keeps what there is; what else a handler raises, as one that limits the time does, is for the caller.
    if (!PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) nb::raise_python_error();
    PyErr_Clear();
    interrupted = true;
    return false;
  }
  if (progress.is_none()) return true;
  return nb::cast<bool>(nb::bool_(call()));
}

/// Where there is nothing to keep, whatever a handler of a signal raises is for the caller, Ctrl-C included.
void look_at_signals() {
  stay_where_python_ends();
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

/// Options of the command line in a message, as arguments: `--method rk4` is method='rk4', `--states` is states.
std::string in_python(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const bool option = text.substr(at, 2) == "--" && at + 2 < text.size() && text[at + 2] >= 'a' &&
                        text[at + 2] <= 'z' && (at == 0 || text[at - 1] == ' ' || text[at - 1] == '(');
    if (!option) {
      out += text[at++];
      continue;
    }
    if (out.ends_with("' ")) out.replace(out.size() - 1, 1, ", ");
    for (at += 2; at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || text[at] == '-'); ++at)
      out += text[at] == '-' ? '_' : text[at];
    const std::string_view rest = text.substr(at);
    for (const std::string_view value : {" rk4", " gpu", " H", " N"}) {
      if (!rest.starts_with(value)) continue;
      const std::string_view word = value.substr(1);
      out += word.size() > 1 ? "='" + std::string(word) + "'" : "=" + std::string(word);
      at += value.size();
      break;
    }
  }
  return out;
}

/// ModelError of Python, which carries the problems.
void translate(const std::exception_ptr& p, void* /*unused*/) {
  try {
    std::rethrow_exception(p);
  } catch (const ModelError& e) {
    const nb::object type = nb::module_::import_("mechanician._errors").attr("ModelError");
    nb::list problems;
    for (const Problem& problem : e.problems())
      problems.append(nb::make_tuple(problem.place.line, problem.place.column, problem.place.length, problem.message,
                                     problem.hint));
    PyErr_SetObject(type.ptr(), type(std::string(e.what()), problems).ptr());
  } catch (const FileError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const std::invalid_argument& e) {
    PyErr_SetString(PyExc_ValueError, in_python(e.what()).c_str());
  }
}

/// A model as Python holds it: what it was read from, and the system.
struct NativeModel {
  std::string file;
  std::optional<std::string> text;
  Values set;
  System system;

  NativeModel(std::string file_, std::optional<std::string> text_, Values set_)
      : file(std::move(file_)),
        text(std::move(text_)),
        set(std::move(set_)),
        system(text ? System::from_text(*text, set, file) : System::from_file(file, set)) {}
};

struct Start {
  Values position, velocity;
  std::optional<double> time;
};

State state_of(const NativeModel& model, const Start& s) {
  return start_of(model.system, s.position, s.velocity, s.time);
}

template <class Request>
Request begin_at(Request request, const Start& start) {
  request.position = start.position, request.velocity = start.velocity, request.time = start.time;
  return request;
}

nb::tuple by_numbers(const State& s) { return nb::make_tuple(s.t, array_of(s.q), array_of(s.qd)); }

void add_model(nb::module_& m) {
  nb::class_<Start>(m, "Start")
      .def(
          "__init__",
          [](Start* self, Values position, Values velocity, std::optional<double> time) {
            new (self) Start{std::move(position), std::move(velocity), time};
          },
          "position"_a, "velocity"_a, "time"_a.none())
      .def_ro("position", &Start::position)
      .def_ro("velocity", &Start::velocity)
      .def_ro("time", &Start::time);
  nb::class_<NativeModel>(m, "NativeModel")
      .def(nb::init<std::string, std::optional<std::string>, Values>(), "file"_a, "text"_a.none(), "set"_a,
           nb::call_guard<Unlocked>())
      .def_ro("file", &NativeModel::file)
      .def_ro("given_text", &NativeModel::text)
      .def_ro("given_set", &NativeModel::set)
      .def_prop_ro("source", [](const NativeModel& self) { return self.system.source().text; })
      .def_prop_ro("title", [](const NativeModel& self) { return self.system.title(); })
      .def_prop_ro("coordinates",
                   [](const NativeModel& self) {
                     std::vector<std::string> names;
                     for (int i = 0; i < self.system.n(); ++i) names.push_back(self.system.coordinate(i));
                     return names;
                   })
      .def_prop_ro("constraints",
                   [](const NativeModel& self) {
                     std::vector<std::string> names;
                     for (int j = 0; j < self.system.m(); ++j) names.push_back(self.system.row_name(j));
                     return names;
                   })
      .def_prop_ro("outputs", [](const NativeModel& self) { return self.system.output_names(); })
      .def_prop_ro("parameters",
                   [](const NativeModel& self) {
                     Values values;
                     const std::vector<std::string> names = self.system.parameter_names();
                     for (std::size_t i = 0; i < names.size(); ++i) values[names[i]] = self.system.parameters()[i];
                     return values;
                   })
      .def_prop_ro("inputs",
                   [](const NativeModel& self) {
                     Values values;
                     const std::vector<std::string> names = self.system.parameter_names();
                     for (const int i : self.system.inputs_from_outside())
                       if (const auto k = static_cast<std::size_t>(i); k < names.size())
                         values[names[k]] = self.system.parameters()[k];
                     return values;
                   })
      .def("state", [](const NativeModel& self, const Start& start) { return by_numbers(state_of(self, start)); })
      .def("project",
           [](const NativeModel& self, const Start& start) {
             return by_numbers(released([&] { return accepted_start(self.system, state_of(self, start), true); }));
           })
      .def("check",
           [](const NativeModel& self, const Start& start) {
             const auto answer = released([&] { return self.system.instant(begin_at(InstantRequest{}, start)); });
             return nb::make_tuple(answer.check_json(), answer.start_refusals(), answer.notes());
           })
      .def("accelerate",
           [](const NativeModel& self, const Start& start, bool parts) {
             const auto answer =
                 released([&] { return self.system.instant(begin_at(InstantRequest{.parts = parts}, start)); });
             return nb::make_tuple(answer.json(), answer.refusals(), answer.notes());
           })
      .def("picture",
           [](const NativeModel& self, const Start& start) {
             return released([&] { return self.system.instant(begin_at(InstantRequest{}, start)).picture(); });
           })
      .def("equations",
           [](const NativeModel& self, const std::string& format) {
             return released([&] { return self.system.equations_as(format); });
           })
      .def("export_c",
           [](const NativeModel& self, const Start& start, const std::string& folder, const std::string& name) {
             return released([&] { return write_c(self.system, state_of(self, start), folder, name).file; });
           })
      .def("export_fmu",
           [](const NativeModel& self, const Start& start, const std::string& file, bool three,
              const std::string& name) {
             const ExportedFile made = released(
                 [&] { return write_fmu(self.system, state_of(self, start), file, three ? "3.0" : "2.0", name); });
             return nb::make_tuple(made.file, made.note);
           })
      .def("linearise",
           [](const NativeModel& self, const Start& start, std::vector<std::string> inputs,
              std::vector<std::string> outputs, std::vector<std::string> states, bool project) {
             LineariseRequest request = begin_at(LineariseRequest{}, start);
             request.inputs = std::move(inputs), request.outputs = std::move(outputs);
             request.states = std::move(states), request.project = project;
             const LinearAnswer near = released([&] { return linearise(self.system, request); });
             return nb::make_tuple(near.json, near.states, array_of(near.A), array_of(near.B), array_of(near.C),
                                   array_of(near.D), array_of(near.drift), near.eigenvalues, near.at, near.stable,
                                   near.notes);
           })
      .def("rest", [](const NativeModel& self, const Start& start, int starts, unsigned long seed,
                      const std::string& vary, double from, double to) {
        const RestRequest request{starts, seed, start.position, start.time, vary, from, to, look_at_signals};
        const RestAnswer rest = released([&] { return find_rest(self.system, request); });
        nb::list states;
        for (const RestPoint& r : rest.states)
          states.append(nb::make_tuple(r.position, r.eigenvalues, r.stable, r.isolated));
        return nb::make_tuple(rest.json, states, rest.notes);
      });
}

auto rows_of(const MotionAnswer& run, nb::handle owner) {
  const std::size_t shape[] = {run.num_rows(), run.columns().size()};
  return nb::ndarray<nb::numpy, const double>(run.rows_so_far().data(), 2, shape, owner);
}

void add_motions(nb::module_& m) {
  nb::class_<MotionRequest>(m, "MotionRequest")
      .def(nb::init<>())
      .def_rw("to", &MotionRequest::to)
      .def_rw("every", &MotionRequest::every)
      .def_rw("tolerance", &MotionRequest::tolerance)
      .def_rw("method", &MotionRequest::method)
      .def_rw("verify", &MotionRequest::verify)
      .def_rw("project", &MotionRequest::project)
      .def_rw("report", &MotionRequest::report)
      .def_rw("columns", &MotionRequest::columns)
      .def_rw("scale", &MotionRequest::scale);
  nb::class_<MotionAnswer>(m, "NativeRun")
      .def_prop_ro("columns", &MotionAnswer::columns)
      .def_prop_ro("summary", &MotionAnswer::summary_json)
      .def_prop_ro("report", &MotionAnswer::report)
      .def_prop_ro("rows",
                   [](nb::handle self) {
                     const MotionAnswer& run = nb::cast<const MotionAnswer&>(self);
                     released([&] { return run.rows().size(); });
                     return rows_of(run, self);
                   })
      .def_prop_ro("rows_so_far", [](nb::handle self) { return rows_of(nb::cast<const MotionAnswer&>(self), self); })
      .def_prop_ro("left_open", &MotionAnswer::left_open)
      .def("sample",
           [](const MotionAnswer& self, double t) {
             const NamedSample sample = released([&] { return self.sample(t); });
             return array_of(std::vector<double>(sample.row().begin(), sample.row().end()), {sample.row().size()});
           })
      .def("save", &MotionAnswer::write, nb::call_guard<Unlocked>());
  m.def(
      "run",
      [](const NativeModel& model, const Start& start, const MotionRequest& wishes, const nb::object& progress) {
        MotionRequest request = begin_at(wishes, start);
        bool interrupted = false;
        request.progress = [&](double begin, double now, double end) {
          return ask_python(progress, interrupted, [&] { return progress(begin, now, end); });
        };
        MotionAnswer run = released([&] { return model.system.integrate(request); });
        // Ctrl-C that came when all was done is for whoever called.
        if (interrupted && run.status() != "interrupted") {
          PyErr_SetNone(PyExc_KeyboardInterrupt);
          nb::raise_python_error();
        }
        return run;
      },
      "model"_a, "start"_a, "wishes"_a, "progress"_a.none());
  nb::class_<MotionStepper>(m, "NativeSteps")
      .def("__init__",
           [](MotionStepper* self, const NativeModel& model, const Start& start, const MotionRequest& wishes) {
             MotionRequest request = begin_at(wishes, start);
             request.progress = [](double, double, double) { return look_at_signals(), true; };
             const Unlocked unlocked;
             new (self) MotionStepper(model.system, request);
           })
      .def("set_input", &MotionStepper::set_input, nb::call_guard<Unlocked>())
      .def("unset_input", &MotionStepper::unset_input, nb::call_guard<Unlocked>())
      .def("advance", &MotionStepper::advance, nb::call_guard<Unlocked>())
      .def_prop_ro("columns", &MotionStepper::columns)
      .def_prop_ro("failed", &MotionStepper::failed)
      .def_prop_ro("why", &MotionStepper::message)
      .def("row",
           [](const MotionStepper& self) { return array_of(std::vector<double>(self.row()), {self.row().size()}); });
}

void add_sweeps(nb::module_& m) {
  nb::class_<SweepRequest>(m, "SweepRequest")
      .def(nb::init<>())
      .def_rw("vary", &SweepRequest::vary)
      .def_rw("pairs", &SweepRequest::pairs)
      .def_rw("keep", &SweepRequest::keep)
      .def_rw("to", &SweepRequest::to)
      .def_rw("tolerance", &SweepRequest::tolerance)
      .def_rw("step", &SweepRequest::step)
      .def_rw("method", &SweepRequest::method)
      .def_rw("device", &SweepRequest::device)
      .def_rw("threads", &SweepRequest::threads)
      .def_rw("as_given", &SweepRequest::as_given);
  m.def(
      "sweep",
      [](const NativeModel& model, const Start& start, const SweepRequest& wishes, const nb::object& progress) {
        SweepRequest request = begin_at(wishes, start);
        bool interrupted = false;
        request.progress = [&](std::int64_t done, std::int64_t of) {
          return ask_python(progress, interrupted, [&] { return progress(done, of); });
        };
        SweepAnswer sweep = released([&] { return model.system.sweep(request); });
        const std::size_t width = sweep.columns.size(), motions = sweep.num_motions();
        return nb::make_tuple(sweep.columns, array_of(std::move(sweep.rows), {motions, width}), sweep.outcomes,
                              sweep.reasons, sweep.computed);
      },
      "model"_a, "start"_a, "wishes"_a, "progress"_a.none());
}

/// For callbacks of C: 0 where it went well. `function` is an Acceleration.
extern "C" int mechanician_acceleration(double t, const double* q, const double* qd, double* qdd, void* function) {
  return static_cast<const Acceleration*>(function)->try_evaluate(t, q, qd, nullptr, qdd) ? 0 : 1;
}

/// f(t, q, qd) of plain arrays, one state or rows of them; everything else by `_general`, in Python.
PyObject* call_acceleration(PyObject* self, PyObject* args, PyObject* names) {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "the function was not made by System.compiled");
    return nullptr;
  }
  if (names == nullptr && PyTuple_Size(args) == 3 && PyFloat_Check(PyTuple_GetItem(args, 0))) {
    const Acceleration& f = *nb::inst_ptr<Acceleration>(self);
    const double *q = nullptr, *qd = nullptr, t = PyFloat_AsDouble(PyTuple_GetItem(args, 0));
    const std::intptr_t rows = FastArrays::rows_of(PyTuple_GetItem(args, 1), f.n(), q);
    if (rows >= 0 && FastArrays::rows_of(PyTuple_GetItem(args, 2), f.n(), qd) == rows) {
      double* qdd = nullptr;
      PyObject* result = FastArrays::make(rows, f.n(), qdd);
      if (result == nullptr) return nullptr;
      try {
        if (rows == 0)
          f(t, q, qd, nullptr, qdd);
        else
          released([&] { f.evaluate(rows, &t, 0, q, qd, nullptr, qdd); });
        return result;
      } catch (const std::exception& e) {
        Py_DECREF(result);
        PyErr_SetString(PyExc_ValueError, e.what());
        return nullptr;
      }
    }
  }
  PyObject* general = PyObject_GetAttrString(self, "_general");
  if (general == nullptr) return nullptr;
  PyObject* result = PyObject_Call(general, args, names);
  Py_DECREF(general);
  return result;
}

PyType_Slot acceleration_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_acceleration)}, {0, nullptr}};

void add_functions(nb::module_& m) {
  nb::class_<Acceleration>(m, "NativeFunction", nb::type_slots(acceleration_slots))
      .def("__init__",
           [](Acceleration* self, const NativeModel& model, const Start& start) {
             const State near = state_of(model, start);
             const Unlocked unlocked;
             new (self) Acceleration(model.system, near);
           })
      .def_prop_ro("n", &Acceleration::n)
      .def_prop_ro("path", &Acceleration::path)
      .def_prop_ro("address",
                   [](const Acceleration&) { return reinterpret_cast<std::uintptr_t>(&mechanician_acceleration); })
      .def_prop_ro("data", [](Acceleration& self) { return reinterpret_cast<std::uintptr_t>(&self); })
      .def(
          "evaluate",
          [](const Acceleration& self, const Numbers& t, const Numbers& q, const Numbers& qd,
             nb::ndarray<double, nb::c_contig, nb::device::cpu> qdd) {
            const auto n = static_cast<std::size_t>(self.n());
            const std::size_t count = n == 0 ? 0 : q.size() / n;
            if (q.size() != qd.size() || q.size() != qdd.size() || q.size() != count * n ||
                (t.size() != 1 && t.size() != count))
              throw std::invalid_argument("t, q, qd and qdd do not fit each other");
            const Unlocked unlocked;
            self.evaluate(static_cast<std::int64_t>(count), t.data(), t.size() == 1 ? 0 : 1, q.data(), qd.data(),
                          nullptr, qdd.data());
          },
          "t"_a, "q"_a, "qd"_a, "qdd"_a);
}

}  // namespace

NB_MODULE(_native, m) {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
    python_ends = true;
    // Threads that wait for the lock already get it once more, and stay at their next call.
    const nb::gil_scoped_release others_first;
    ::usleep(20'000);
  }));
  nb::set_leak_warnings(false);  // threads that Python leaves where they are keep what they have
  nb::register_exception_translator(translate);
  m.attr("version") = std::string(version());
  add_model(m);
  add_motions(m);
  add_sweeps(m);
  add_functions(m);
  m.def("command_line", [](std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const Unlocked unlocked;
    return run_command_line(static_cast<int>(words.size()), arguments.data());
  });
}

/// The native part of the Python package: thin classes around mechanician.hpp. What users see is written in Python (python/mechanician).

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "mechanician/mechanician.hpp"

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

/// Python's own signals are looked at between steps: Ctrl-C interrupts, and what was computed stays.
template <class Call>
bool ask_python(const nb::object& progress, Call&& call) {
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) {
    PyErr_Clear();
    return false;
  }
  if (progress.is_none()) return true;
  return nb::cast<bool>(nb::bool_(call()));
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
          "position"_a, "velocity"_a, "time"_a.none());
  nb::class_<NativeModel>(m, "NativeModel")
      .def(nb::init<std::string, std::optional<std::string>, Values>(), "file"_a, "text"_a.none(), "set"_a,
           nb::call_guard<nb::gil_scoped_release>())
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
      .def("state", [](const NativeModel& self, const Start& start) { return by_numbers(state_of(self, start)); })
      .def("project",
           [](const NativeModel& self, const Start& start) {
             return by_numbers(accepted_start(self.system, state_of(self, start), true));
           })
      .def("check",
           [](const NativeModel& self, const Start& start) {
             const InstantAnswer answer = self.system.instant(begin_at(InstantRequest{}, start));
             return nb::make_tuple(answer.check_json(), answer.start_refusals(), answer.notes());
           })
      .def("accelerate",
           [](const NativeModel& self, const Start& start, bool parts) {
             const InstantAnswer answer = self.system.instant(begin_at(InstantRequest{.parts = parts}, start));
             return nb::make_tuple(answer.json(), answer.refusals(), answer.notes());
           })
      .def("equations",
           [](const NativeModel& self, const std::string& format) { return self.system.equations_as(format); })
      .def("export_c",
           [](const NativeModel& self, const Start& start, const std::string& folder, const std::string& name) {
             return write_c(self.system, state_of(self, start), folder, name).file;
           })
      .def("export_fmu", [](const NativeModel& self, const Start& start, const std::string& file, bool three,
                            const std::string& name) {
        const ExportedFile made =
            write_fmu(self.system, state_of(self, start), file, three ? FmiVersion::three : FmiVersion::two, name);
        return nb::make_tuple(made.file, made.note);
      });
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
                     const std::size_t shape[] = {run.num_rows(), run.columns().size()};
                     return nb::ndarray<nb::numpy, const double>(run.rows().data(), 2, shape, self);
                   })
      .def("sample",
           [](const MotionAnswer& self, double t) {
             const NamedSample sample = self.sample(t);
             return array_of(std::vector<double>(sample.row().begin(), sample.row().end()), {sample.row().size()});
           })
      .def("save", &MotionAnswer::write, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "run",
      [](const NativeModel& model, const Start& start, const MotionRequest& wishes, const nb::object& progress) {
        MotionRequest request = begin_at(wishes, start);
        request.progress = [&](double begin, double now, double end) {
          return ask_python(progress, [&] { return progress(begin, now, end); });
        };
        nb::gil_scoped_release released;
        return model.system.integrate(request);
      },
      "model"_a, "start"_a, "wishes"_a, "progress"_a.none());
  nb::class_<MotionStepper>(m, "NativeSteps")
      .def("__init__",
           [](MotionStepper* self, const NativeModel& model, const Start& start, const MotionRequest& wishes) {
             new (self) MotionStepper(model.system, begin_at(wishes, start));
           })
      .def("advance", &MotionStepper::advance, nb::call_guard<nb::gil_scoped_release>())
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
        request.progress = [&](std::int64_t done, std::int64_t of) {
          return ask_python(progress, [&] { return progress(done, of); });
        };
        SweepAnswer sweep;
        {
          nb::gil_scoped_release released;
          sweep = model.system.sweep(request);
        }
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

void add_functions(nb::module_& m) {
  nb::class_<Acceleration>(m, "NativeFunction")
      .def("__init__",
           [](Acceleration* self, const NativeModel& model, const Start& start) {
             const State near = state_of(model, start);
             nb::gil_scoped_release released;
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
            self.evaluate(static_cast<std::int64_t>(count), t.data(), t.size() == 1 ? 0 : 1, q.data(), qd.data(),
                          nullptr, qdd.data());
          },
          "t"_a, "q"_a, "qd"_a, "qdd"_a)
      .def(
          "evaluate_one",
          [](const Acceleration& self, double t, const Numbers& q, const Numbers& qd) {
            const auto n = static_cast<std::size_t>(self.n());
            if (q.size() != n || qd.size() != n)
              throw std::invalid_argument("q and qd have an entry for each coordinate");
            std::vector<double> qdd(n);
            self(t, q.data(), qd.data(), nullptr, qdd.data());
            return array_of(std::move(qdd), {n});
          },
          "t"_a, "q"_a, "qd"_a);
}

}  // namespace

NB_MODULE(_native, m) {
  nb::register_exception_translator(translate);
  m.attr("version") = std::string(version());
  add_model(m);
  add_motions(m);
  add_sweeps(m);
  add_functions(m);
}

/// The native part of the Python package: thin classes around the library. What users see is written in Python (python/mechanician).

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>

#include "function.hpp"
#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/version.hpp"
#include "motion.hpp"
#include "sweep.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace mechanician;
using namespace mechanician::python;

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
      problems.append(
          nb::make_tuple(problem.place.line, problem.place.column, problem.place.length, problem.message, problem.hint));
    PyErr_SetObject(type.ptr(), type(std::string(e.what()), problems).ptr());
  } catch (const FileError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  }
}

void add_model(nb::module_& m) {
  nb::class_<Start>(m, "Start")
      .def(
          "__init__",
          [](Start* self, std::map<std::string, double> position, std::map<std::string, double> velocity,
             std::optional<double> time) { new (self) Start{std::move(position), std::move(velocity), time}; },
          "position"_a, "velocity"_a, "time"_a.none());
  nb::class_<Answer>(m, "Answer")
      .def_ro("json", &Answer::json)
      .def_ro("refusals", &Answer::refusals)
      .def_ro("notes", &Answer::notes);
  nb::class_<NativeModel>(m, "NativeModel")
      .def(nb::init<std::string, std::optional<std::string>, const std::map<std::string, double>&>(), "file"_a,
           "text"_a.none(), "set"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("file", &NativeModel::file)
      .def_prop_ro("given_text", &NativeModel::text)
      .def_prop_ro("given_set", &NativeModel::set)
      .def_prop_ro("source", [](const NativeModel& self) { return self.system().source().text; })
      .def_prop_ro("title", [](const NativeModel& self) { return self.system().title(); })
      .def_prop_ro("coordinates",
                   [](const NativeModel& self) {
                     std::vector<std::string> names;
                     for (int i = 0; i < self.system().n(); ++i) names.push_back(self.system().coordinate(i));
                     return names;
                   })
      .def_prop_ro("constraints",
                   [](const NativeModel& self) {
                     std::vector<std::string> names;
                     for (int j = 0; j < self.system().m(); ++j) names.push_back(self.system().row_name(j));
                     return names;
                   })
      .def_prop_ro("outputs", [](const NativeModel& self) { return self.system().output_names(); })
      .def_prop_ro("parameters",
                   [](const NativeModel& self) {
                     std::map<std::string, double> values;
                     const std::vector<std::string> names = self.system().parameter_names();
                     for (std::size_t i = 0; i < names.size(); ++i) values[names[i]] = self.system().parameters()[i];
                     return values;
                   })
      .def("state",
           [](const NativeModel& self, const Start& start) {
             const State s = self.state(start);
             return nb::make_tuple(s.t, array_of(s.q), array_of(s.qd));
           })
      .def("project",
           [](const NativeModel& self, const Start& start) {
             const State s = self.project(self.state(start));
             return nb::make_tuple(s.t, array_of(s.q), array_of(s.qd));
           })
      .def("check", &NativeModel::check, nb::call_guard<nb::gil_scoped_release>())
      .def("accelerate", &NativeModel::accelerate, nb::call_guard<nb::gil_scoped_release>())
      .def("equations", &NativeModel::equations, nb::call_guard<nb::gil_scoped_release>());
}

void add_motions(nb::module_& m) {
  nb::class_<RunWishes>(m, "RunWishes")
      .def(nb::init<>())
      .def_rw("to", &RunWishes::to)
      .def_rw("every", &RunWishes::every)
      .def_rw("tolerance", &RunWishes::tolerance)
      .def_rw("method", &RunWishes::method)
      .def_rw("verify", &RunWishes::verify)
      .def_rw("project", &RunWishes::project)
      .def_rw("columns", &RunWishes::columns)
      .def_rw("scale", &RunWishes::scale);
  nb::class_<NativeRun>(m, "NativeRun")
      .def_ro("columns", &NativeRun::columns)
      .def_ro("summary", &NativeRun::summary)
      .def_ro("report", &NativeRun::report)
      .def_prop_ro("rows",
                   [](nb::handle self) {
                     NativeRun& run = nb::cast<NativeRun&>(self);
                     const std::size_t width = run.columns.size();
                     const std::size_t shape[] = {run.rows.size() / width, width};
                     return nb::ndarray<nb::numpy, double>(run.rows.data(), 2, shape, self);
                   })
      .def("save", &NativeRun::save, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "run",
      [](const NativeModel& model, const Start& start, const RunWishes& wishes, bool report, const nb::object& progress) {
        const auto go_on = [&](double begin, double now, double end) {
          return ask_python(progress, [&] { return progress(begin, now, end); });
        };
        nb::gil_scoped_release released;
        return run_motion(model, start, wishes, report, go_on);
      },
      "model"_a, "start"_a, "wishes"_a, "report"_a, "progress"_a.none());
  nb::class_<NativeSteps>(m, "NativeSteps")
      .def(nb::init<const NativeModel&, const Start&, const RunWishes&>())
      .def("advance", &NativeSteps::advance, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("t", &NativeSteps::t)
      .def_prop_ro("columns", &NativeSteps::columns)
      .def_prop_ro("failed", &NativeSteps::failed)
      .def_prop_ro("why", &NativeSteps::why)
      .def("row", [](const NativeSteps& self) {
        return array_of(std::vector<double>(self.row()), {self.row().size()});
      });
}

void add_sweeps(nb::module_& m) {
  nb::class_<SweepWishes>(m, "SweepWishes")
      .def(nb::init<>())
      .def_rw("names", &SweepWishes::names)
      .def_rw("keep", &SweepWishes::keep)
      .def_rw("to", &SweepWishes::to)
      .def_rw("tolerance", &SweepWishes::tolerance)
      .def_rw("step", &SweepWishes::step)
      .def_rw("method", &SweepWishes::method)
      .def_rw("device", &SweepWishes::device)
      .def_rw("threads", &SweepWishes::threads)
      .def_rw("as_given", &SweepWishes::as_given)
      .def("set_samples", [](SweepWishes& self, const Numbers& values) {
        self.samples.assign(values.data(), values.data() + values.size());
      });
  m.def(
      "sweep",
      [](const NativeModel& model, const Start& start, const SweepWishes& wishes, const nb::object& progress) {
        NativeSweep sweep;
        {
          const auto go_on = [&](std::int64_t done, std::int64_t of) {
            return ask_python(progress, [&] { return progress(done, of); });
          };
          nb::gil_scoped_release released;
          sweep = run_sweep_of(model, start, wishes, go_on);
        }
        const std::size_t width = sweep.names.size(), motions = sweep.outcomes.size();
        return nb::make_tuple(sweep.names, array_of(std::move(sweep.values), {motions, width}), sweep.outcomes,
                              sweep.reasons, sweep.computed);
      },
      "model"_a, "start"_a, "wishes"_a, "progress"_a.none());
}

void add_functions(nb::module_& m) {
  nb::class_<NativeFunction>(m, "NativeFunction")
      .def(nb::init<const NativeModel&, const Start&>(), nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("n", &NativeFunction::n)
      .def_prop_ro("path", &NativeFunction::path)
      .def_prop_ro("address",
                   [](const NativeFunction&) { return reinterpret_cast<std::uintptr_t>(&mechanician_acceleration); })
      .def_prop_ro("data", [](NativeFunction& self) { return reinterpret_cast<std::uintptr_t>(&self); })
      .def(
          "evaluate",
          [](NativeFunction& self, const Numbers& t, const Numbers& q, const Numbers& qd,
             nb::ndarray<double, nb::c_contig, nb::device::cpu> qdd) {
            const auto n = static_cast<std::size_t>(self.n());
            const std::size_t count = n == 0 ? 0 : q.size() / n;
            if (q.size() != qd.size() || q.size() != qdd.size() || q.size() != count * n ||
                (t.size() != 1 && t.size() != count))
              throw std::invalid_argument("t, q, qd and qdd do not fit each other");
            self.evaluate(static_cast<std::int64_t>(count), t.data(), t.size() == 1 ? 0 : 1, q.data(), qd.data(),
                          qdd.data());
          },
          "t"_a, "q"_a, "qd"_a, "qdd"_a)
      .def(
          "evaluate_one",
          [](NativeFunction& self, double t, const Numbers& q, const Numbers& qd) {
            const auto n = static_cast<std::size_t>(self.n());
            if (q.size() != n || qd.size() != n) throw std::invalid_argument("q and qd have an entry for each coordinate");
            std::vector<double> qdd(n);
            self.evaluate(1, &t, 0, q.data(), qd.data(), qdd.data());
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

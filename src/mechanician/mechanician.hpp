#pragma once

/// The one header of the library.
///
///     auto pendulum = mechanician::System::from_file("pendulum.toml", {{"L", 2.0}});
///     auto now      = pendulum.instant({.position = {{"x", 0.6}, {"y", -0.8}}});     // acceleration, forces, diagnosis
///     auto motion   = pendulum.integrate({.to = 10.0, .tolerance = 1e-9});
///     motion.column("lambda(rod)"); motion.sample(3.2).q("x"); motion.write("out.h5");
///     auto many     = pendulum.sweep({.vary = {{"L", mechanician::linspace(0.5, 2, 100)}}, .to = 5.0});
///     mechanician::Acceleration f = pendulum.compiled();                              // for other people's integrators
///     auto near     = linearise(pendulum, {.position = {{"x", 0.0}, {"y", -2.0}}});    // A, B, C, D, eigenvalues
///     auto rest     = find_rest(pendulum);                                             // states of rest and their stability
///
/// Models built in C++ (model/model.hpp) become a System too. Systems, motions and functions keep alive what they need.

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/library/acceleration.hpp"
#include "mechanician/library/export_files.hpp"
#include "mechanician/library/instant_answer.hpp"
#include "mechanician/library/linear_answer.hpp"
#include "mechanician/library/motion_answer.hpp"
#include "mechanician/library/requests.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/validate.hpp"
#include "mechanician/motion/motion.hpp"

#pragma once

// Models with many bodies and joints that are alike.

#include <string>

namespace mechanician {

/// A chain of bodies that hang on each other by balls, each turned and with a mass of its own.
inline const std::string chain_of_balls = R"toml(
[parameters]
N = 3
c = 0.02
[world]
gravity = [0.3, 0, -9.81]
formulation = "free"
[bodies."link[i]"]
for     = "i = 1..N"
mass    = "0.1 + 0.01*i"
centre  = [0.01, 0, 0.005]
inertia = [1e-4, 1e-3, 2e-3]
start   = { at = ["0.2*i - 0.1", 0, 0], turned = { axis = [1, 0, 0], angle = "0.3*i" } }
[joints.hook]
type    = "spherical"
between = ["ground", "link[1]"]
at      = [0, 0, 0]
[joints."ball[i]"]
for     = "i = 2..N"
type    = "spherical"
between = ["link[i - 1]", "link[i]"]
at      = ["0.2*(i - 1)", 0, 0]
damping = "c"
[outputs]
mean   = "sum(i = 1..N, link[i].z)/N"
"h[i]" = { for = "i = 1..N", value = "link[i].z + link[i].wx*t" }
)toml";

/// In the plane, with hinges, and springs between every second link.
inline const std::string chain_of_hinges = R"toml(
[parameters]
N = 3
[world]
gravity     = [0, 0, -9.81]
planar      = "xz"
formulation = "free"
[bodies."link[i]"]
for     = "i = 1..N"
mass    = 0.1
inertia = [1e-3, 1e-3, 1e-3]
start   = { at = ["0.2*i - 0.1", 0, 0] }
[points."tip[i]"]
for = "i = 1..N"
on  = "link[i]"
at  = [0.05, 0, "0.02*i"]
[joints.hook]
type    = "revolute"
between = ["ground", "link[1]"]
at      = [0, 0, 0]
axis    = [0, 1, 0]
[joints."pin[i]"]
for     = "i = 2..N"
type    = "revolute"
between = ["link[i - 1]", "link[i]"]
at      = ["0.2*(i - 1)", 0, 0]
axis    = [0, 1, 0]
[springs."s[i]"]
for       = "i = 3..N"
between   = ["tip[i - 2]", "tip[i]"]
stiffness = "20 + i"
damping   = 0.1
)toml";

}  // namespace mechanician

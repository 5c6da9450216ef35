#pragma once

namespace mechanician {

/// A square lattice of K by K joints with both diagonals of every cell, on a pin at its corner: far more rods than it needs.
inline constexpr const char* truss_for_test = R"toml(
coordinates = ["x[1..K, 1..K]", "y[1..K, 1..K]"]
[parameters]
K = 5
[dynamics]
kinetic = "sum(i = 1..K, j = 1..K, (x[i,j]'^2 + y[i,j]'^2)/2)"
potential = "sum(i = 1..K, j = 1..K, 9.81*y[i,j])"
[constraints]
ax = "x[1,1] = 1"
ay = "y[1,1] = 1"
[constraints.a]
for = "i = 2..K, j = 1..K"
equation = "(x[i,j] - x[i-1,j])^2 + (y[i,j] - y[i-1,j])^2 = 1"
[constraints.b]
for = "i = 1..K, j = 2..K"
equation = "(x[i,j] - x[i,j-1])^2 + (y[i,j] - y[i,j-1])^2 = 1"
[constraints.d]
for = "i = 2..K, j = 2..K"
equation = "(x[i,j] - x[i-1,j-1])^2 + (y[i,j] - y[i-1,j-1])^2 = 2"
[constraints.e]
for = "i = 2..K, j = 2..K"
equation = "(x[i-1,j] - x[i,j-1])^2 + (y[i-1,j] - y[i,j-1])^2 = 2"
[start.position]
"x[i,j]" = { for = "i = 1..K, j = 1..K", value = "i" }
"y[i,j]" = { for = "i = 1..K, j = 1..K", value = "j" }
)toml";

}  // namespace mechanician

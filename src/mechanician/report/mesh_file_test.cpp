// Surfaces from files: a cube in three forms, volumes by the divergence theorem, and what is no surface.

#include "mechanician/report/mesh_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {
namespace {

using Point = std::array<double, 3>;

Point corner(const Mesh& mesh, std::size_t k) {
  const std::size_t i = 3 * static_cast<std::size_t>(mesh.corners[k]);
  return {mesh.positions[i], mesh.positions[i + 1], mesh.positions[i + 2]};
}

/// ∮ x·n dA / 3: the sign tells whether normals point outwards.
double volume(const Mesh& mesh) {
  double sum = 0.0;
  for (std::size_t k = 0; k < mesh.corners.size(); k += 3) {
    const Point a = corner(mesh, k), b = corner(mesh, k + 1), c = corner(mesh, k + 2);
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
  }
  return sum / 6.0;
}

/// A box of these sides at (1, 2, 3), with faces of four corners.
constexpr std::array<std::array<int, 4>, 6> faces{
    {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}}};
Point box_corner(int k) { return {1.0 + 0.5 * (k & 1), 2.0 + 0.25 * (k >> 1 & 1), 3.0 + 2.0 * (k >> 2)}; }

std::string box_obj() {
  std::string text = "# a box\nmtllib x.mtl\no box\n";
  for (int k = 0; k < 8; ++k) text += fmt::format("v {} {} {}\n", box_corner(k)[0], box_corner(k)[1], box_corner(k)[2]);
  text += "vn 0 0 1\nusemtl grey\n";
  for (const auto& f : faces) text += fmt::format("f {}/1/1 {}//1 {} {}\r\n", f[0] + 1, f[1] + 1, f[2] - 8, f[3] + 1);
  return text;
}

template <class F>
void each_triangle(const F& use) {
  for (const auto& f : faces)
    for (const int k : {1, 2})
      use({box_corner(f[0]), box_corner(f[static_cast<std::size_t>(k)]),
           box_corner(f[static_cast<std::size_t>(k + 1)])});
}

std::string box_text_stl() {
  std::string text = "solid box\n";
  each_triangle([&](const std::array<Point, 3>& t) {
    text += " facet normal 0 0 0\n  outer loop\n";
    for (const Point& p : t) text += fmt::format("   vertex {:e} {:e} {:e}\n", p[0], p[1], p[2]);
    text += "  endloop\n endfacet\n";
  });
  return text + "endsolid box\n";
}

std::string box_binary_stl() {
  std::string text = "solid by its first word, binary by its length";  // as some programs write them
  text.resize(80, ' ');
  const std::uint32_t count = 12;
  text.append(reinterpret_cast<const char*>(&count), 4);
  each_triangle([&](const std::array<Point, 3>& t) {
    const std::array<float, 3> normal{};
    text.append(reinterpret_cast<const char*>(&normal), 12);
    for (const Point& p : t) {
      const std::array<float, 3> q{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])};
      text.append(reinterpret_cast<const char*>(&q), 12);
    }
    text.append(2, '\0');
  });
  return text;
}

TEST(MeshFile, ABoxIsTheSameInAllForms) {
  const Mesh meshes[] = {parse_mesh(box_obj(), true, "a.obj"), parse_mesh(box_text_stl(), false, "a.stl"),
                         parse_mesh(box_binary_stl(), false, "a.stl")};
  for (const Mesh& mesh : meshes) {
    EXPECT_EQ(mesh.num_triangles(), 12u);
    EXPECT_EQ(mesh.positions.size(), 24u) << "corners at one place are one";
    EXPECT_NEAR(volume(mesh), 0.5 * 0.25 * 2.0, 1e-6);
  }
}

/// A ball of so many triangles: rings and sectors.
Mesh ball(int rings, int sectors) {
  std::string obj;
  for (int i = 0; i <= rings; ++i)
    for (int j = 0; j < sectors; ++j) {
      const double a = std::numbers::pi * i / rings, b = 2.0 * std::numbers::pi * j / sectors;
      obj += fmt::format("v {} {} {}\n", std::sin(a) * std::cos(b), std::sin(a) * std::sin(b), std::cos(a));
    }
  for (int i = 0; i < rings; ++i)
    for (int j = 0; j < sectors; ++j) {
      const int next = (j + 1) % sectors;
      obj += fmt::format("f {} {} {} {}\n", i * sectors + j + 1, (i + 1) * sectors + j + 1,
                         (i + 1) * sectors + next + 1, i * sectors + next + 1);
    }
  return parse_mesh(obj, true, "ball.obj");
}

TEST(MeshFile, WhatIsTooLargeIsCoarserAndOfTheSameForm) {
  const Mesh fine = ball(150, 300);
  EXPECT_GT(fine.num_triangles(), 80'000u);
  EXPECT_NEAR(volume(fine), 4.0 / 3.0 * std::numbers::pi, 2e-3);
  for (const std::size_t most : {20'000u, 2'000u, 200u}) {
    const Mesh coarse = coarsened(fine, most);
    EXPECT_LE(coarse.num_triangles(), most);
    EXPECT_GT(coarse.num_triangles(), most / 12) << "no coarser than need be";
    // Of T even triangles with edges h² = 16π/(√3 T) a ball lacks 3h²/8 for the flat faces and up to 3h²/16 for corners that are means of
    // patches as wide as an edge: 16/T together, and no more than twice that where a grid
    // cuts the ball unevenly.
    const double lack = 1.0 - volume(coarse) / volume(fine);
    EXPECT_GT(lack, 0.0) << most;
    EXPECT_LT(lack, 32.0 / static_cast<double>(coarse.num_triangles())) << most;
    for (const std::uint32_t k : coarse.corners) EXPECT_LT(3 * k + 2, coarse.positions.size());
  }
  const Mesh same = coarsened(fine, fine.num_triangles());
  EXPECT_EQ(same.corners, fine.corners);
}

TEST(MeshFile, WhatIsNoSurfaceIsRefused) {
  const std::string stl = box_binary_stl(), text = box_text_stl();
  const auto refused = [](const std::string& content, bool obj, std::string_view why) {
    try {
      parse_mesh(content, obj, "bad.file");
      FAIL() << "should be refused: " << why;
    } catch (const FileError& e) {
      EXPECT_NE(std::string_view(e.what()).find(why), std::string_view::npos) << e.what();
    }
  };
  refused("", false, "neither");
  refused(stl.substr(0, stl.size() - 7).replace(0, 5, "binar"), false, "neither");
  refused("solid nothing\nendsolid\n", false, "no triangles");
  refused("solid\nouter loop\nvertex 0 0\nendloop\n", false, "line 3: a vertex is three numbers");
  refused("solid\nouter loop\nvertex 0 0 0\nvertex 1 0 nan\nendloop\n", false, "line 4: a vertex is three numbers");
  refused("solid\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\n", false, "line 5: a facet has three vertices");
  refused("solid\nouter loop\nvertex 0 0 0\n", false, "within a facet");
  refused("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n", true, "line 4: there is no such vertex");
  refused("v 0 0 0\nf 1 -2 1\n", true, "line 2: there is no such vertex");
  refused("v 0 zero 0\n", true, "line 1: a vertex is three numbers");
  refused("v 0 0 0\nv 1 0 0\nf 1 2 1\n", true, "no triangles");
  std::string infinite = stl;
  const float inf = INFINITY;
  std::memcpy(infinite.data() + 84 + 12, &inf, 4);
  refused(infinite, false, "triangle 1 has a corner that is no number");
}

}  // namespace
}  // namespace mechanician

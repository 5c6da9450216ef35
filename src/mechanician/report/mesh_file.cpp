#include "mechanician/report/mesh_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/read_file.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr std::size_t largest_file = 256u << 20;

using Point = std::array<float, 3>;

class MeshBuilder {
 public:
  std::uint32_t corner(const Point& p) {
    const auto [at, added] = known_.emplace(p, static_cast<std::uint32_t>(known_.size()));
    if (added) mesh.positions.insert(mesh.positions.end(), p.begin(), p.end());
    return at->second;
  }
  /// One that has an area.
  void triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    if (a != b && b != c && c != a) mesh.corners.insert(mesh.corners.end(), {a, b, c});
  }
  Mesh mesh;

 private:
  std::map<Point, std::uint32_t> known_;
};

[[noreturn]] void refuse(const std::string& path, std::string_view kind, std::string_view why) {
  throw FileError(fmt::format("{}: no {} file: {}", printable(path), kind, why));
}

/// Words of a line.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  std::string_view next() {
    const std::size_t begin = std::min(rest_.find_first_not_of(" \t\r"), rest_.size());
    const std::size_t end = std::min(rest_.find_first_of(" \t\r", begin), rest_.size());
    const std::string_view word = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return word;
  }

 private:
  std::string_view rest_;
};

bool read_number(std::string_view word, float& to) {
  double x = 0.0;
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  const auto read = std::from_chars(word.data(), word.data() + word.size(), x);
  to = static_cast<float>(x);
  return !word.empty() && read.ec == std::errc() && read.ptr == word.data() + word.size() && std::isfinite(to);
}

bool read_point(Words& words, Point& to) {
  return std::all_of(to.begin(), to.end(), [&](float& x) { return read_number(words.next(), x); });
}

template <class F>
void each_line(std::string_view text, const F& use) {
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end), line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// 80 bytes, the number of triangles, and for each of them a normal, three corners and two bytes more.
Mesh parse_binary_stl(std::string_view text, const std::string& path) {
  std::uint32_t count = 0;
  std::memcpy(&count, text.data() + 80, 4);
  MeshBuilder mesh;
  for (std::size_t i = 0; i < count; ++i) {
    std::array<Point, 4> p;
    std::memcpy(&p, text.data() + 84 + 50 * i, sizeof p);
    for (std::size_t k = 1; k < 4; ++k)
      for (const float x : p[k])
        if (!std::isfinite(x)) refuse(path, "STL", fmt::format("triangle {} has a corner that is no number", i + 1));
    mesh.triangle(mesh.corner(p[1]), mesh.corner(p[2]), mesh.corner(p[3]));
  }
  return std::move(mesh.mesh);
}

Mesh parse_text_stl(std::string_view text, const std::string& path) {
  MeshBuilder mesh;
  std::vector<std::uint32_t> facet;
  each_line(text, [&](std::string_view line, int number) {
    Words words(line);
    const std::string_view word = words.next();
    if (word == "vertex") {
      Point p;
      if (!read_point(words, p)) refuse(path, "STL", fmt::format("line {}: a vertex is three numbers", number));
      facet.push_back(mesh.corner(p));
    } else if (word == "endloop") {
      if (facet.size() != 3) refuse(path, "STL", fmt::format("line {}: a facet has three vertices", number));
      mesh.triangle(facet[0], facet[1], facet[2]);
      facet.clear();
    }
  });
  if (!facet.empty()) refuse(path, "STL", "it ends within a facet");
  return std::move(mesh.mesh);
}

Mesh parse_obj(std::string_view text, const std::string& path) {
  MeshBuilder mesh;
  std::vector<std::uint32_t> vertices;
  each_line(text, [&](std::string_view line, int number) {
    Words words(line);
    const std::string_view word = words.next();
    if (word == "v") {
      Point p;
      if (!read_point(words, p)) refuse(path, "OBJ", fmt::format("line {}: a vertex is three numbers", number));
      vertices.push_back(mesh.corner(p));
    } else if (word == "f") {
      // Vertex, texture and normal: 7, 7/1, 7/1/3 or 7//3; -1 is the last vertex so far.
      std::vector<std::uint32_t> face;
      for (std::string_view corner = words.next(); !corner.empty(); corner = words.next()) {
        corner = corner.substr(0, corner.find('/'));
        long index = 0;
        const auto read = std::from_chars(corner.data(), corner.data() + corner.size(), index);
        const auto count = static_cast<long>(vertices.size());
        if (index < 0) index += count + 1;
        if (read.ec != std::errc() || read.ptr != corner.data() + corner.size() || index < 1 || index > count)
          refuse(path, "OBJ", fmt::format("line {}: there is no such vertex", number));
        face.push_back(vertices[static_cast<std::size_t>(index - 1)]);
      }
      for (std::size_t k = 2; k < face.size(); ++k) mesh.triangle(face[0], face[k - 1], face[k]);
    }
  });
  return std::move(mesh.mesh);
}

/// Corners in cells of this edge become one.
Mesh clustered(const Mesh& mesh, const Point& low, float edge) {
  std::map<std::array<std::int32_t, 3>, std::uint32_t> cells;
  std::vector<std::uint32_t> cell_of;
  std::vector<std::array<double, 4>> sums;
  for (std::size_t i = 0; i < mesh.positions.size(); i += 3) {
    std::array<std::int32_t, 3> cell{};
    for (std::size_t k = 0; k < 3; ++k)
      cell[k] = static_cast<std::int32_t>(std::floor((mesh.positions[i + k] - low[k]) / edge));
    const auto [at, added] = cells.emplace(cell, static_cast<std::uint32_t>(sums.size()));
    if (added) sums.push_back({});
    auto& sum = sums[at->second];
    for (std::size_t k = 0; k < 3; ++k) sum[k] += mesh.positions[i + k];
    sum[3] += 1.0;
    cell_of.push_back(at->second);
  }
  Mesh out;
  for (const auto& sum : sums)
    for (std::size_t k = 0; k < 3; ++k) out.positions.push_back(static_cast<float>(sum[k] / sum[3]));
  // What falls together is drawn once.
  std::vector<std::array<std::uint32_t, 3>> triangles;
  for (std::size_t i = 0; i < mesh.corners.size(); i += 3) {
    std::array<std::uint32_t, 3> t{cell_of[mesh.corners[i]], cell_of[mesh.corners[i + 1]],
                                   cell_of[mesh.corners[i + 2]]};
    if (t[0] == t[1] || t[1] == t[2] || t[2] == t[0]) continue;
    std::rotate(t.begin(), std::min_element(t.begin(), t.end()), t.end());
    triangles.push_back(t);
  }
  std::sort(triangles.begin(), triangles.end());
  triangles.erase(std::unique(triangles.begin(), triangles.end()), triangles.end());
  for (const auto& t : triangles) out.corners.insert(out.corners.end(), t.begin(), t.end());
  return out;
}

}  // namespace

Mesh parse_mesh(std::string_view text, bool obj, const std::string& path) {
  Mesh mesh;
  if (obj) {
    mesh = parse_obj(text, path);
  } else {
    // The length tells a binary file: some that are begin with "solid" too.
    std::uint32_t count = 0;
    if (text.size() >= 84) std::memcpy(&count, text.data() + 80, 4);
    if (text.size() >= 84 && text.size() == 84 + 50 * static_cast<std::size_t>(count))
      mesh = parse_binary_stl(text, path);
    else if (text.starts_with("solid"))
      mesh = parse_text_stl(text, path);
    else
      refuse(path, "STL", "it is neither as long as its number of triangles says nor does it begin with `solid`");
  }
  if (mesh.corners.empty()) refuse(path, obj ? "OBJ" : "STL", "it has no triangles");
  return mesh;
}

Mesh read_mesh(const std::string& path) {
  const FileText file = read_file(path, largest_file);
  if (!file.problem.empty()) throw FileError(fmt::format("{}: {}", printable(path), file.problem));
  if (file.text.size() > largest_file) throw FileError(fmt::format("{}: more than 256 MB", printable(path)));
  const std::string_view ending = std::string_view(path).substr(path.size() < 4 ? 0 : path.size() - 4);
  return parse_mesh(file.text, ending == ".obj" || ending == ".OBJ", path);
}

Mesh coarsened(const Mesh& mesh, std::size_t most_triangles) {
  if (mesh.num_triangles() <= most_triangles) return mesh;
  constexpr float inf = std::numeric_limits<float>::infinity();
  Point low{inf, inf, inf}, high{-inf, -inf, -inf};
  for (std::size_t i = 0; i < mesh.positions.size(); ++i)
    low[i % 3] = std::min(low[i % 3], mesh.positions[i]), high[i % 3] = std::max(high[i % 3], mesh.positions[i]);
  const float size = std::max({high[0] - low[0], high[1] - low[1], high[2] - low[2]});
  // A surface of k cells across has some 4k² triangles and more; less fine until it fits.
  for (double across = std::sqrt(static_cast<double>(most_triangles)); across > 1.0; across *= 0.8) {
    Mesh coarse = clustered(mesh, low, static_cast<float>(size / across));
    if (coarse.num_triangles() <= most_triangles) return coarse;
  }
  return {};
}

}  // namespace mechanician

#pragma once

/// Surfaces of bodies from STL and OBJ files, small enough for a page.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

struct Mesh {
  std::vector<float> positions;        ///< x, y, z of each corner
  std::vector<std::uint32_t> corners;  ///< three of each triangle
  std::size_t num_triangles() const { return corners.size() / 3; }
};

/// Reads an STL file (binary or text) or an OBJ file (faces of any number of corners; materials and the like are passed over). The ending
/// of the name says which. Corners at one place are one. Throws FileError where the file cannot be read or is none.
Mesh read_mesh(const std::string& path);

/// The same from what the file holds; `obj`: an OBJ file.
Mesh parse_mesh(std::string_view text, bool obj, const std::string& path);

/// At most so many triangles: corners in one cell of a grid become one, their mean, on a grid as fine as that allows.
Mesh coarsened(const Mesh& mesh, std::size_t most_triangles);

}  // namespace mechanician

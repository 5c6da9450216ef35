#pragma once

/// What a table consists of, for those who write it in other languages: points, polynomials and what holds outside.

#include <vector>

#include "mechanician/expression/table.hpp"

namespace mechanician {

struct TablePieces {
  std::string name;
  int num_arguments = 1;
  Interpolation interpolation = Interpolation::linear;
  Outside outside = Outside::error;
  std::vector<double> points[2];      ///< of each argument
  int stride = 2;                     ///< coefficients of a piece
  std::vector<double> coefficients;   ///< of one argument: by piece, of powers of the way from its first point
  std::vector<double> values, nodes;  ///< of a grid: values; where it is cubic f, ∂x f, ∂y f, ∂x∂y f by node
  int order_x = 0, order_y = 0;       ///< derivatives that the key asks for
  int side[2] = {0, 0};               ///< ±1: with the polynomial of the nearest region of that side
  int guard = 0;      ///< 1, 2: no value, but what changes its sign where a region of this argument ends
  bool fine = false;  ///< regions end at all points
  struct Regions {
    long first, count, apart;
  } regions[2] = {};  ///< of each argument: they end at points first, first + apart, …
};

/// What `key` names (table_lookup.hpp): a value, a derivative or a guard. Nothing where there is no such table or it is asked for its size.
std::optional<TablePieces> find_pieces(double key);

}  // namespace mechanician

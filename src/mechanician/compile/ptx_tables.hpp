#pragma once

/// Tables on a GPU: their numbers are data of the module, and a lookup is a search among points and a polynomial, in the operations of
/// expression/table_lookup.cpp and so with its bits.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/compile/program.hpp"
#include "mechanician/compile/ptx_text_internal.hpp"
#include "mechanician/expression/table_pieces.hpp"

namespace mechanician {

/// Why the lookups of a program cannot be written as PTX; null where they can: values of tables that are known, together not too long
/// for a text.
const char* why_no_tables(const Program& program);

class PtxTables {
 public:
  explicit PtxTables(PtxInstructions& to) : o_(to) {}

  PtxText::F look_up(PtxText::F x, PtxText::F y, double key);
  /// The arrays that the instructions so far refer to.
  std::string data() const;

 private:
  using F = PtxText::F;
  using I = PtxText::I;
  using P = PtxText::P;
  /// Where a number lies among the points of an argument.
  struct At {
    I piece;
    F s, step;  ///< beyond the point where its piece begins, and the length of the piece
    /// Beyond the ends, where that means something; without a value.
    std::optional<P> outside = {}, nowhere = {};
  };
  At locate(const TablePieces& table, int argument, F x);
  F polynomial(const TablePieces& table, I piece, F s);
  struct Weights {
    F value0, value1, slope0, slope1;
  };
  Weights hermite(F s, F h, int order);
  Weights straight(F s, F h, int order);
  F on_grid(const TablePieces& table, const At& x, const At& y);
  /// The address of an array; equal ones are one.
  I array(const std::vector<double>& numbers);
  F load(I base, I at);

  PtxText o_;
  std::map<std::vector<double>, int> arrays_;
};

}  // namespace mechanician

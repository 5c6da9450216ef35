#pragma once

/// Programs of one model as functions of C99, with what several of them compute written once.
///
///     static void NAME(const double *x, double *y)       y = outputs of the inputs x
///
/// Steps are told apart by what they compute, across all programs. Those that the same programs have in common are a function of their own that these call first; values go
/// on in an array on the stack. So nothing is computed that is not needed, and bits are those of each program by itself. Long functions are cut into parts: compilers take more
/// than linearly long over them. What is used once is written where it is used.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mechanician/compile/program.hpp"
#include "mechanician/exports/c_tables.hpp"

namespace mechanician {

class CPool {
 public:
  /// Names of functions that are called begin with `prefix`; tables that something is looked up in are added to `tables`.
  CPool(std::string prefix, CTables& tables) : prefix_(std::move(prefix)), tables_(tables) {}

  /// Of the inputs the first `common` are the same for all programs. Those behind them, up to `alike`, are the same for all that have some alike; what follows is
  /// the program's own.
  void add(const Program& program, std::string_view name, int common, int alike = 0);
  /// Everything that was added.
  std::string code();

 private:
  struct Node {
    Action action{};
    std::int32_t operands[3] = {-1, -1, -1};  ///< nodes; a step has one at least
    std::int32_t input = -1;                  ///< that it is; or else a constant, or a step
    double constant = 0.0;
    std::uint64_t users = 0;  ///< programs, by bit
    bool is_step() const { return operands[0] >= 0; }
  };
  struct Function {
    std::string name;
    std::vector<std::int32_t> outputs;
    int index = 0;
  };
  /// What the same programs have in common.
  struct Unit {
    std::string name;
    std::uint64_t users = 0;
    std::vector<std::int32_t> nodes = {};
  };
  /// What a unit or a function computes itself, in order, cut into parts.
  struct Piece {
    std::vector<std::vector<std::int32_t>> parts = {};
  };

  std::int32_t node_of(const Node& node, int program);
  void group();
  /// All that has to be computed for these nodes and is in no other unit.
  std::vector<std::int32_t> closure(const std::vector<std::int32_t>& from, std::int32_t unit) const;
  /// Cut; what is needed elsewhere than where it is made gets a place in w. `unit` −1: a function, `from` are its outputs.
  Piece piece_of(const std::vector<std::int32_t>& from, std::int32_t unit);
  /// Statements.
  std::string steps(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& outputs) const;
  std::string print_parts(const Piece& piece, const std::string& name, std::string& calls) const;
  std::string fused(const std::string& text) const;

  std::string prefix_;
  CTables& tables_;
  std::vector<Node> nodes_;
  std::unordered_map<std::string, std::int32_t> known_;
  std::vector<Function> functions_;
  std::vector<Unit> units_;
  std::vector<std::int32_t> unit_of_;  ///< by node; −1: none
  std::vector<std::int32_t> place_;    ///< in w, by node; −1: none
  std::int32_t num_places_ = 0;
};

}  // namespace mechanician

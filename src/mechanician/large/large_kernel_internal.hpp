#pragma once

/// A term of a large system, ready to run over its members.

#include <cstdint>
#include <vector>

#include "mechanician/equations/switches.hpp"
#include "mechanician/large/large_system.hpp"

namespace mechanician {

/// What one thread needs. Inputs and outputs of a batch: block after block, in each the lanes of one number after those
/// of the other.
struct LargeSystem::Desk {
  CompiledFunction function;  ///< that of the kernel, with registers of its own
  std::vector<double> inputs, outputs;
  std::vector<LineWriter<lanes * batch>> lines;  ///< by output, past the caches
};

/// Where an input comes from that a program reads.
struct LargeSystem::Source {
  enum class From : std::uint8_t { time, position, velocity, index, number, common } from;
  std::int64_t place;                  ///< of the lanes of the first block
  std::int64_t first = -1;             ///< where members follow each other: among the positions or velocities
  const std::int32_t* list = nullptr;  ///< by member, where they do not
  const double* numbers = nullptr;     ///< of an index, a list of numbers, sides; common: one for all members
};

/// One term: its program, and where its numbers come from and go to.
struct LargeSystem::Kernel {
  /// An entry of M or A, of Q or b, of one member.
  enum class Part : std::uint8_t { mass, force, row, right };
  struct Output {
    Part part;
    int a = 0, b = 0;  ///< local coordinates: of M both, of Q and A one
    Expr value;
    std::vector<std::int32_t> to;  ///< by member: place among the values; −1: nowhere, its mirror image counts
    std::int64_t first = -1;       ///< where places follow each other, the first
    bool alone = false;            ///< nothing else goes to these places: no sum to begin with
  };
  const Term* term = nullptr;
  TermMembers members;
  std::shared_ptr<RolledTerm> rolled;  ///< where members are listed one by one
  std::size_t number = 0;              ///< of the term among all that are stated, where it is not rolled
  std::vector<std::int32_t> row;       ///< by member, of a constraint: its number
  std::vector<Output> constant, varying;
  std::vector<std::int64_t> first;  ///< by coordinate: where members follow each other the first one's; else −1
  CompiledFunction function;        ///< of varying, lanes side by side
  CompiledFunction rows;            ///< residual and rate of a constraint
  CompiledFunction mass_power;      ///< ½ q̇ᵀṀ q̇
  RowTraits traits;
  std::vector<RowTraits> own_traits;  ///< by member, where these say it in other words and places
  std::vector<Expr> row_expressions;  ///< residual and rate
  std::vector<Switch> switches;
  std::vector<Expr> rates_of_switches, divisors;
  MemberSides sides;  ///< of the switches
  MemberFunctions switch_functions, switch_rates, divisor_functions;
  NarrowFunctions narrow;  ///< in what varies
  MemberFunctions narrow_arguments, narrow_outputs;
  std::vector<std::int64_t> first_divisor;  ///< by divisor
  /// Of what a member gives to G or H, by one of its coordinates; some are to be multiplied by the λ of its row.
  struct Derivative {
    bool of_row, times_lambda, by_velocity;
    int row, col;                  ///< local coordinates; H has one row
    std::vector<std::int32_t> to;  ///< by member: place in the pattern of derivatives
  };
  std::vector<Derivative> derivatives;
  MemberFunctions derivative_functions;
  std::vector<char> needed;  ///< by input: some program reads it
  std::vector<Source> sources;
  /// [values | bounds] of constant, varying, residual and rate; made where it is asked for.
  CompiledFunction bounded;
  std::vector<Source> bounded_sources;
  std::vector<Desk> desks = std::vector<Desk>(1);
  bool shared = false;  ///< worth several threads, and no two members go to the same place

  std::string member_name(std::int64_t member) const {
    if (rolled && !rolled->stated.empty()) return rolled->stated[static_cast<std::size_t>(member)].name;
    return mechanician::member_name(*term, members, member);
  }
  const Place& place(std::int64_t member) const {
    return rolled && !rolled->stated.empty() ? rolled->stated[static_cast<std::size_t>(member)].place : term->place;
  }

  /// [t | q | q̇ | indices | numbers | sides]
  std::vector<Expr> inputs() const;
  void run(CompiledFunction& program, Desk& desk, std::int64_t num_blocks) const {
    program.evaluate_all(desk.inputs.data(), static_cast<std::int64_t>(needed.size()) * lanes, desk.outputs.data(),
                         program.num_outputs() * lanes, num_blocks);
  }
};

}  // namespace mechanician

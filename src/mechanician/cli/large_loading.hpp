#pragma once

/// From a command line to a large system at its start state.

#include <optional>

#include "mechanician/cli/options.hpp"
#include "mechanician/large/large_system.hpp"

namespace mechanician {

/// From here on dense factorisations take too long.
inline constexpr long many_coordinates = 1000;
/// Beyond so many kernels over members are the quicker way into a motion, as far as they can say what the model says: a ladder of
/// 82 coordinates takes 42 ms by them and 52 written out, a chain of 998 takes 19 ms and 500.
inline constexpr long least_for_kernels = 63;
/// Models of up to so many that say what kernels cannot are written out: that takes some kilobytes for each.
inline constexpr long most_for_the_ordinary_path = 100'000;

struct Large {
  LargeSystem system;
  LargeSystem::Start start;
};

/// Reads the model and applies --set, --position, --velocity and --time. Nothing: the ordinary path takes it.
/// `more_than`: coordinates up to which it does so in any case.
std::optional<Large> load_large(const CommandOptions& options, long more_than = many_coordinates,
                                LargeSystem::Kinks kinks = LargeSystem::Kinks::as_written);

/// For commands that have the ordinary path only: throws UsageError where the model is too large for it.
void refuse_many_coordinates(const CommandOptions& options, const char* command, const char* instead = "");

}  // namespace mechanician

#pragma once

/// What tables hold, as a number: whether a file of data is still what it was when a run was begun.

#include <cstdint>
#include <span>

#include "mechanician/expression/table.hpp"

namespace mechanician {

/// 0 of none.
std::uint64_t hash_tables(std::span<const Table> tables);

}  // namespace mechanician

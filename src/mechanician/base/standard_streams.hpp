#pragma once

/// The three streams that a process is started with, which may be closed, full, or read by nobody any more.

#include <string_view>

namespace mechanician {

/// Makes sure that descriptors 0, 1 and 2 are taken, so that no file that is opened later gets one of them and what is said on
/// standard error ends up in a result. What was closed stays as good as closed: reading and writing it fails. To be called first.
void open_standard_streams();

/// Writes all of it, waiting where the other end is slow; false, with errno, where that is not possible.
bool write_all(int descriptor, std::string_view text);

}  // namespace mechanician

#pragma once

/// Whether two threads that use the library at once come to the numbers that they come to one after the other.
bool two_threads();

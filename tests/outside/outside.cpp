// What a program outside this project sees: headers, library and version fit together.
#include <iostream>

#include "mechanician/base/version.hpp"

int main(int argc, char** argv) {
  if (argc != 2 || mechanician::version() != argv[1]) {
    std::cerr << "the library says version " << mechanician::version() << '\n';
    return 1;
  }
  return 0;
}

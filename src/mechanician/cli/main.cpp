#include "mechanician/cli/program.hpp"

int main(int argc, char** argv) { return mechanician::run_command_line(argc, argv); }

#include <unistd.h>

#include <iostream>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return fovea::cli::run({argv + 1, argv + argc}, {std::cin, std::cout, std::cerr, ::isatty(STDERR_FILENO) == 1});
}

// What Fovea throws. The library never prints and never ends the process; the binary turns these into one line on
// standard error and an exit code.
#pragma once

#include <stdexcept>
#include <string>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// The base of everything Fovea throws: a failure at run time (exit code 1).
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes that do not fit together; names the op and the shapes (exit code 2).
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// An option or argument with an invalid value; names it and the valid values (exit code 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file that is missing, broken or cannot be written; names the file and the field (exit code 1).
class FileError : public Error {
 public:
  using Error::Error;
};

/// An allocation failed; names its size (exit code 1).
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

}  // namespace fovea

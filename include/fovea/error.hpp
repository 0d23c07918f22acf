// What Fovea throws. The library never prints and never ends the process; the binary turns these into one line on
// standard error and an exit code.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

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
  /// Of the field `field` of an options struct: the message is "field: problem".
  UsageError(std::string_view field, std::string_view problem)
      : Error(std::string(field).append(": ").append(problem)), field_(field) {}

  /// The field at fault, as C++ and Python spell it: "max_length"; empty when the message names none.
  [[nodiscard]] const std::string& field() const { return field_; }
  /// The message without the field.
  [[nodiscard]] std::string problem() const { return what() + (field_.empty() ? 0 : field_.size() + 2); }

 private:
  std::string field_;
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

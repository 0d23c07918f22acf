// Checks of a decoder's arrays, with errors that name them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "attention/rnn/decoder.hpp"
#include "fovea/error.hpp"

namespace fovea::decoder {

inline constexpr const char* kOp = "attentional_rnn";

inline void expect(const std::string& name, const Var& v, const Shape& shape, bool optional = false) {
  if (!v && optional) return;
  if (!v || !(v.shape() == shape)) {
    throw ShapeError(
        fmt::format("{}: {} {}: expected {}", kOp, name, v ? v.shape().text() : "is missing", shape.text()));
  }
}

/// The first axis of an array of that rank.
inline Int rows_of(const char* name, const Var& v, int rank, const char* expected) {
  if (!v || v.rank() != rank || v.dim(0) < 1) {
    throw ShapeError(fmt::format("{}: {} {}: expected {}", kOp, name, v ? v.shape().text() : "is missing", expected));
  }
  return v.dim(0);
}

}  // namespace fovea::decoder

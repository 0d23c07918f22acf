// Checks of a decoder's arrays, with errors that name them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "attention/rnn/decoder.hpp"
#include "fovea/error.hpp"

namespace fovea::decoder {

inline constexpr const char* kOp = "attentional_rnn";

/// An array's name, put together only when an error needs it: a training step must not allocate.
struct Name {
  Name(const char* whole) : text(whole) {}  // NOLINT(google-explicit-constructor)
  Name(const char* before, std::size_t number, const char* after) : text(before), index(number), rest(after) {}

  [[nodiscard]] std::string full() const { return rest == nullptr ? text : fmt::format("{}[{}]{}", text, index, rest); }
  const char* text;
  std::size_t index = 0;
  const char* rest = nullptr;
};

inline void expect(const Name& name, const Var& v, const Shape& shape, bool optional = false) {
  if (!v && optional) return;
  if (!v || !(v.shape() == shape)) {
    throw ShapeError(
        fmt::format("{}: {} {}: expected {}", kOp, name.full(), v ? v.shape().text() : "is missing", shape.text()));
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

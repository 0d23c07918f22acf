// What the mechanisms share in asking for their weights.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "fovea/error.hpp"
#include "fovea/nn/parameters.hpp"

namespace fovea::attention {

/// Throws UsageError naming the first size below 1: a field of the options that was left out.
inline void require_sizes(const std::string& name, std::initializer_list<std::pair<const char*, std::int64_t>> sizes) {
  for (const auto& [field, size] : sizes) {
    if (size < 1) throw UsageError(fmt::format("{}: {} {}: expected at least 1", name, field, size));
  }
}

/// Vectors that are multiplied with features by dot product: normal with deviation 1 / sqrt(width), so that the product
/// with features of variance 1 has variance 1.
inline Var dot_vectors(Parameters& p, const std::string& name, const Shape& shape) {
  return p.get(name, shape, Init::normal(1 / std::sqrt(static_cast<double>(shape[-1]))));
}

}  // namespace fovea::attention

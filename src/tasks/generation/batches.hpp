// Inputs of a decoder in batches, shared out to the threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace fovea {

struct BatchLimits {
  std::int64_t tokens = 0;  // padding included; fewer for beams wider than 5
  int beam = 1;
};

/// Calls decode(begin, end) for batches of inputs whose lengths are given, longest first: as many as the limits allow,
/// and no more than an even share of the inputs, so that every thread has work. A single batch runs on the caller's
/// thread and may use all of them inside.
void decode_in_batches(std::span<const std::int64_t> lengths, const BatchLimits& limits,
                       const std::function<void(std::size_t begin, std::size_t end)>& decode);

}  // namespace fovea

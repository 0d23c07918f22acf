// The options of fovea attend, and what they name, read and checked.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fovea/attention.hpp"
#include "fovea/npy.hpp"

namespace fovea::cli {

struct AttendArguments {
  std::string query, key, value;
  std::string score = "scaled-dot", params;
  std::optional<float> scale;
  std::string normalize = "softmax";
  float temperature = 1;
  bool causal = false, alibi = false;
  std::optional<std::int64_t> window;
  std::string lengths, bias, mask;
  std::string out, weights, top_out, grad, grads;
  std::optional<std::int64_t> top;
  std::optional<int> threads;
};

/// A call of attend() from files. Inputs are leaves whose gradients are wanted when --grads is given.
struct AttendCall {
  Var query, key, value;  // value is key when no --value was given
  bool own_value = false;
  std::vector<std::pair<std::string, Var>> parameters;  // of the score, by name
  AttendOptions options;
  std::vector<std::int64_t> lengths;  // options.lengths looks here
  Tensor grad;

  AttendCall() = default;
  AttendCall(const AttendCall&) = delete;
  AttendCall& operator=(const AttendCall&) = delete;
};

/// Throws UsageError or ShapeError naming the option at fault and what was expected, FileError for a file that cannot
/// be read.
void read_call(const AttendArguments& arguments, AttendCall& call);

}  // namespace fovea::cli

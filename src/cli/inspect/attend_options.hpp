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
  std::optional<float> alpha;
  float temperature = 1;
  std::optional<float> softcap;
  std::string sink;
  bool off_by_one = false, causal = false, alibi = false;
  std::optional<std::int64_t> window, dilation, global, prefix;
  std::string documents, lengths, bias, mask;
  std::optional<float> rotary;
  std::optional<std::int64_t> rotary_dims;
  std::string out, weights, top_out, grad, grads;
  std::optional<std::int64_t> top;
  std::optional<int> threads;
};

/// A call of attend() from files. Inputs are leaves whose gradients are wanted when --grads is given.
struct AttendCall {
  Var query, key, value;  // value is key when no --value was given
  bool own_value = false;
  std::vector<std::pair<std::string, Var>> parameters;  // of the score, by name; and the sink
  AttendOptions options;
  std::vector<std::int64_t> lengths, documents;  // what spans of the options refer to
  Tensor grad;

  AttendCall() = default;
  AttendCall(const AttendCall&) = delete;
  AttendCall& operator=(const AttendCall&) = delete;
};

/// Throws UsageError or ShapeError naming the option at fault and what was expected, FileError for a file that cannot
/// be read.
void read_call(const AttendArguments& arguments, AttendCall& call);

}  // namespace fovea::cli

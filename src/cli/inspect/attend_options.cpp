#include "cli/inspect/attend_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"

namespace fovea::cli {
namespace {

// What a file holds is wrong usage of the option that names it; a file that cannot be opened is a failure.
template <class Read>
auto read(const char* option, const std::string& path, Read&& reader) {
  try {
    return reader(path);
  } catch (const FileError& error) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored) || ::access(path.c_str(), R_OK) != 0) throw;
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

Tensor read_floats(const char* option, const std::string& path) {
  return read(option, path, [](const std::string& p) { return read_npy(p); });
}

IntegerArray read_integers(const char* option, const std::string& path) {
  return read(option, path, [](const std::string& p) { return read_npy_integers(p); });
}

void expect_rank(const char* option, const std::string& path, const Tensor& t, const char* expected) {
  if (t.rank() == 3 || t.rank() == 4) return;
  throw ShapeError(fmt::format("{}: {} is {}; expected {}", option, path, t.shape().text(), expected));
}

// The parameters of a score, in the file's names.
std::vector<std::string> parameter_names(const std::string& score) {
  if (score == "general" || score == "location") return {"W"};
  if (score == "additive") return {"U", "W", "v"};
  if (score == "concat") return {"W", "v"};
  return {};
}

void read_parameters(const AttendArguments& arguments, bool learn, AttendCall& call) {
  const std::vector<std::string> names = parameter_names(arguments.score);
  if (names.empty()) {
    if (arguments.params.empty()) return;
    throw UsageError(fmt::format("--params: the score {} has no parameters", arguments.score));
  }
  const std::string all = fmt::format("{}", fmt::join(names, ", "));
  if (arguments.params.empty()) {
    throw UsageError(fmt::format("--params is missing: the score {} needs {}", arguments.score, all));
  }
  const auto file = read("--params", arguments.params, [](const std::string& p) { return Safetensors(p); });
  for (const auto& entry : file.entries()) {
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) {
      throw UsageError(fmt::format("--params: {} holds \"{}\"; the score {} expects only {}", arguments.params,
                                   entry.name, arguments.score, all));
    }
  }
  for (const std::string& name : names) {
    if (!file.contains(name)) {
      throw UsageError(fmt::format("--params: {} holds no \"{}\"; the score {} expects {}", arguments.params, name,
                                   arguments.score, all));
    }
    const Tensor t = read("--params", arguments.params, [&](const std::string&) { return file.tensor(name); });
    call.parameters.emplace_back(name, learn ? Var::parameter(t) : Var(t));
  }
}

Score make_score(const AttendArguments& arguments, const AttendCall& call) {
  const auto parameter = [&](const char* name) {
    return std::find_if(call.parameters.begin(), call.parameters.end(), [&](const auto& p) { return p.first == name; })
        ->second;
  };
  const std::string& name = arguments.score;
  if (arguments.scale && name != "dot" && name != "scaled-dot" && name != "cosine") {
    throw UsageError(fmt::format("--scale goes with dot, scaled-dot and cosine, not with {}", name));
  }
  if (arguments.scale && !std::isfinite(*arguments.scale)) {
    throw UsageError(fmt::format("--scale {}: expected a finite number", *arguments.scale));
  }
  if (name == "dot") return score::Dot{arguments.scale};
  if (name == "scaled-dot") return score::ScaledDot{arguments.scale};
  if (name == "cosine") return score::Cosine{.scale = arguments.scale.value_or(1.0F)};
  if (name == "general") return score::General{.w = parameter("W")};
  if (name == "additive") return score::Additive{.w = parameter("W"), .u = parameter("U"), .v = parameter("v")};
  if (name == "concat") return score::Concat{.w = parameter("W"), .v = parameter("v")};
  return score::Location{.w = parameter("W")};
}

Normalizer make_normalizer(const AttendArguments& arguments) {
  const float t = arguments.temperature;
  if (arguments.normalize == "sparsemax") return normalizer::Sparsemax{t};
  if (arguments.normalize == "entmax15") return normalizer::Entmax15{t};
  if (arguments.normalize == "sigmoid") return normalizer::Sigmoid{.temperature = t};
  if (arguments.normalize == "hard") return normalizer::Hard{.temperature = t};
  return normalizer::Softmax{t};
}

void read_visibility(const AttendArguments& arguments, AttendCall& call) {
  AttendOptions& options = call.options;
  options.causal = arguments.causal;
  options.alibi = arguments.alibi;
  if (arguments.window) options.window = *arguments.window;
  if (!arguments.lengths.empty()) {
    IntegerArray lengths = read_integers("--lengths", arguments.lengths);
    const std::int64_t batch = call.query.dim(0);
    if (!(lengths.shape == Shape{batch})) {
      throw ShapeError(fmt::format("--lengths: {} is {}; expected [{}], one per sequence", arguments.lengths,
                                   lengths.shape.text(), batch));
    }
    call.lengths = std::move(lengths.values);
    options.lengths = call.lengths;
  }
  if (!arguments.bias.empty()) options.bias = read_floats("--bias", arguments.bias);
  if (!arguments.mask.empty()) {
    const TruthArray mask = read("--mask", arguments.mask, [](const std::string& p) { return read_npy_truths(p); });
    options.mask = Mask::share(mask.shape, mask.values);
  }
}

}  // namespace

void read_call(const AttendArguments& arguments, AttendCall& call) {
  const auto together = [](const char* a, bool has_a, const char* b, bool has_b) {
    if (has_a != has_b) throw UsageError(fmt::format("{} needs {} too", has_a ? a : b, has_a ? b : a));
  };
  together("--top", arguments.top.has_value(), "--top-out", !arguments.top_out.empty());
  together("--grad", !arguments.grad.empty(), "--grads", !arguments.grads.empty());
  const bool learn = !arguments.grads.empty();
  const auto leaf = [learn](const Tensor& t) { return learn ? Var::parameter(t) : Var(t); };

  const Tensor query = read_floats("--query", arguments.query);
  expect_rank("--query", arguments.query, query, "[batch,queries,width] or [batch,heads,queries,width]");
  const Tensor key = read_floats("--key", arguments.key);
  expect_rank("--key", arguments.key, key, "[batch,keys,width] or [batch,heads,keys,width]");
  call.query = leaf(query);
  call.key = leaf(key);
  call.own_value = !arguments.value.empty();
  call.value = call.key;
  if (call.own_value) {
    const Tensor value = read_floats("--value", arguments.value);
    expect_rank("--value", arguments.value, value, "[batch,keys,width] or [batch,heads,keys,width]");
    call.value = leaf(value);
  }
  read_parameters(arguments, learn, call);
  call.options.score = make_score(arguments, call);
  if (!(arguments.temperature > 0)) {
    throw UsageError(fmt::format("--temperature {}: expected a number above 0", arguments.temperature));
  }
  call.options.normalizer = make_normalizer(arguments);
  read_visibility(arguments, call);
  if (arguments.top) {
    if (*arguments.top < 1 || *arguments.top > key.dim(-2)) {
      throw UsageError(fmt::format("--top {}: expected 1 to {}, the number of keys", *arguments.top, key.dim(-2)));
    }
    call.options.want.top = *arguments.top;
  }
  call.options.want.weights = !arguments.weights.empty();
  if (learn) call.grad = read_floats("--grad", arguments.grad);
}

}  // namespace fovea::cli

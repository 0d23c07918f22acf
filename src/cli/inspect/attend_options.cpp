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
  if (arguments.alpha && arguments.normalize != "entmax") {
    throw UsageError(fmt::format("--alpha: goes with --normalize entmax, not {}", arguments.normalize));
  }
  if (arguments.normalize == "sparsemax") return normalizer::Sparsemax{t};
  if (arguments.normalize == "entmax") {
    const float alpha = arguments.alpha.value_or(1.5F);
    if (!(alpha > 1 && alpha <= 2)) {
      throw UsageError(fmt::format("--alpha {}: must be above 1 and at most 2", alpha));
    }
    return normalizer::Entmax{.temperature = t, .alpha = alpha};
  }
  if (arguments.normalize == "sigmoid") return normalizer::Sigmoid{.temperature = t};
  if (arguments.normalize == "hard") return normalizer::Hard{.temperature = t};
  return normalizer::Softmax{t};
}

void read_visibility(const AttendArguments& arguments, AttendCall& call) {
  AttendOptions& options = call.options;
  options.causal = arguments.causal;
  options.alibi = arguments.alibi;
  const auto with = [](const char* option, bool given, const char* other, bool has_other) {
    if (given && !has_other) throw UsageError(fmt::format("{}: goes with {}", option, other));
  };
  with("--dilation", arguments.dilation.has_value(), "--window", arguments.window.has_value());
  with("--global", arguments.global.has_value(), "--window", arguments.window.has_value());
  with("--prefix", arguments.prefix.has_value(), "--causal", arguments.causal);
  with("--rotary-dims", arguments.rotary_dims.has_value(), "--rotary", arguments.rotary.has_value());
  options.window = arguments.window.value_or(-1);
  options.dilation = arguments.dilation.value_or(1);
  options.global_keys = arguments.global.value_or(0);
  options.prefix = arguments.prefix.value_or(0);
  if (!arguments.documents.empty()) {
    IntegerArray documents = read_integers("--documents", arguments.documents);
    const Shape expected{call.query.dim(0), call.key.dim(-2)};
    if (!(documents.shape == expected) || call.query.dim(-2) != call.key.dim(-2)) {
      throw ShapeError(fmt::format("--documents: {} is {}; expected {}, with as many queries as keys",
                                   arguments.documents, documents.shape.text(), expected.text()));
    }
    call.documents = std::move(documents.values);
    options.documents = call.documents;
  }
  if (arguments.rotary) {
    if (!(*arguments.rotary > 0) || !std::isfinite(*arguments.rotary)) {
      throw UsageError(fmt::format("--rotary {}: the base must be a finite number above 0", *arguments.rotary));
    }
    const std::int64_t dims = arguments.rotary_dims.value_or(call.query.dim(-1));
    if (dims < 2 || dims > std::min(call.query.dim(-1), call.key.dim(-1)) || dims % 2 != 0) {
      throw UsageError(fmt::format("--rotary: {} dimensions of {} cannot be rotated; expected an even number up to {}",
                                   dims, call.query.dim(-1), std::min(call.query.dim(-1), call.key.dim(-1))));
    }
    options.rotary = Rotary{.base = *arguments.rotary, .dims = dims};
  }
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
  if (arguments.softcap) {
    if (!(*arguments.softcap > 0) || !std::isfinite(*arguments.softcap)) {
      throw UsageError(fmt::format("--softcap {}: expected a finite number above 0", *arguments.softcap));
    }
    call.options.softcap = *arguments.softcap;
  }
  const bool sinks = !arguments.sink.empty() || arguments.off_by_one;
  if (!arguments.sink.empty() && arguments.off_by_one) throw UsageError("--off-by-one: excludes --sink");
  if (sinks && arguments.normalize != "softmax") {
    throw UsageError(fmt::format("{}: goes with --normalize softmax, not {}",
                                 arguments.off_by_one ? "--off-by-one" : "--sink", arguments.normalize));
  }
  call.options.off_by_one = arguments.off_by_one;
  if (!arguments.sink.empty()) {
    const Tensor sink = read_floats("--sink", arguments.sink);
    const std::int64_t heads = query.rank() == 4 ? query.dim(1) : 1;
    if (!(sink.shape() == Shape{heads})) {
      throw ShapeError(fmt::format("--sink: {} is {}; expected [{}], one for each head", arguments.sink,
                                   sink.shape().text(), heads));
    }
    call.options.sink = leaf(sink);
    call.parameters.emplace_back("sink", call.options.sink);
  }
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

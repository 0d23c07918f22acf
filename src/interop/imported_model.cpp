#include "interop/imported_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/nn/positions.hpp"
#include "interop/files.hpp"
#include "text/tokenizer/byte_pairs.hpp"

namespace fovea::interop {
namespace {

bool nearly_equal(const Tensor& a, const Tensor& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(),
                    [](float x, float y) { return std::abs(x - y) <= 2e-4F; });
}

}  // namespace

void set_parts(ImportedModel& model, const EncoderConfig& encoder, const GeneratorConfig& generator, int width,
               const VocabularyMap& source, const VocabularyMap& target) {
  model.config.encoder = encoder;
  model.config.head = generator;
  model.config.tokens().vocabulary = source.size();
  model.config.tokens().embedding = width;
  model.config.generator().vocabulary = target.size();
  model.config.generator().embedding = width;
}

void set_language_model(ImportedModel& model, const GeneratorConfig& generator, int width,
                        const VocabularyMap& target) {
  model.config.source = NoSourceConfig{};
  model.config.encoder = NoEncoderConfig{.dim = width};
  model.config.head = generator;
  model.config.generator().vocabulary = target.size();
  model.config.generator().embedding = width;
}

std::shared_ptr<const Tokenizer> byte_pairs_in(const std::filesystem::path& folder, const VocabularyMap& map) {
  const std::filesystem::path file = folder / "merges.txt";
  if (!std::filesystem::exists(file)) return nullptr;
  return std::make_shared<text::BytePairTokenizer>(
      map.vocabulary(), text::parse_merges(FileBytes::map(file).text(), file.string()), file.string());
}

void put_linear(Parameters& p, const std::string& name, const Tensor& weight, const Tensor& bias) {
  if (weight.rank() != 2) throw FileError(fmt::format("weight {}: {} is no matrix", name, weight.shape().text()));
  p.put(name + ".weight", weight.transpose(0, 1).clone());
  p.put(name + ".bias", bias ? bias : Tensor::zeros({weight.dim(0)}));
}

void put_norm(Parameters& p, const std::string& name, const Tensor& gain, const Tensor& bias) {
  p.put(name + ".gain", gain);
  p.put(name + ".bias", bias);
}

void put_positions(Parameters& p, TransformerConfig& config, const std::string& name, const Tensor& table) {
  if (table.rank() != 2 || table.dim(1) != config.dim || table.dim(0) < 1 || table.dim(0) > 1 << 20) {
    throw FileError(
        fmt::format("positions: a table of shape {} for vectors of width {}", table.shape().text(), config.dim));
  }
  // Long tables were computed in float32 elsewhere, where a late angle is off by a little: the start decides.
  const Tensor start = table.slice(0, 0, std::min<std::int64_t>(table.dim(0), 128)).contiguous();
  const std::int64_t length = start.dim(0);
  config.first_position = 0;
  if (nearly_equal(start, sinusoidal_positions(0, length, config.dim))) {
    config.positions = Positions::sinusoidal;
  } else if (nearly_equal(start, timing_signal(0, length, config.dim))) {
    config.positions = Positions::timing_signal;
  } else if (nearly_equal(start, timing_signal(1, length, config.dim))) {
    config.positions = Positions::timing_signal;
    config.first_position = 1;
  } else {
    config.positions = Positions::learned;
    config.scaled_positions = false;
    config.max_positions = static_cast<int>(table.dim(0));
    p.put(name, table);
  }
}

void set_activation(TransformerConfig& config, std::string_view name, const std::string& where) {
  if (name == "relu") {
    config.activation = Activation::relu;
  } else if (name == "swish" || name == "silu") {
    config.activation = Activation::swish;
  } else if (name == "gelu_new" || name == "gelu_fast" || name == "gelu_pytorch_tanh") {
    config.activation = Activation::gelu_tanh;
  } else if (name == "gelu" || name == "gelu_python") {
    config.activation = Activation::gelu;
  } else {
    throw FileError(
        fmt::format("{}: the activation {} is not supported; relu, gelu, gelu_new and swish are", where, name));
  }
}

}  // namespace fovea::interop

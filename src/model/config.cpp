#include "model/config.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"

namespace fovea {

#define FOVEA_ENUM_NAMES(E, ...)                                  \
  template <>                                                     \
  std::span<const EnumName<E>> enum_names<E>() {                  \
    static constexpr EnumName<E> names[] = {__VA_ARGS__};         \
    return names;                                                 \
  }                                                               \
  template <>                                                     \
  E enum_value<E>(std::string_view text, std::string_view what) { \
    return find<E>(text, what);                                   \
  }

namespace {

template <class E>
E find(std::string_view text, std::string_view what) {
  std::string possible;
  for (const auto& entry : enum_names<E>()) {
    if (text == entry.name) return entry.value;
    possible += (possible.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw UsageError(fmt::format("{}: \"{}\" is not one of {}", what, text, possible));
}

}  // namespace

FOVEA_ENUM_NAMES(Arch, {Arch::rnn, "rnn"}, {Arch::cnn, "cnn"}, {Arch::transformer, "transformer"})
FOVEA_ENUM_NAMES(Cell, {Cell::gru, "gru"}, {Cell::lstm, "lstm"})
FOVEA_ENUM_NAMES(RnnAttention, {RnnAttention::none, "none"}, {RnnAttention::additive, "additive"},
                 {RnnAttention::dot, "dot"}, {RnnAttention::scaled_dot, "scaled-dot"},
                 {RnnAttention::general, "general"}, {RnnAttention::concat, "concat"},
                 {RnnAttention::location, "location"}, {RnnAttention::cosine, "cosine"})
FOVEA_ENUM_NAMES(RnnForm, {RnnForm::bahdanau, "bahdanau"}, {RnnForm::luong, "luong"},
                 {RnnForm::conditional, "conditional"})
FOVEA_ENUM_NAMES(LocalKind, {LocalKind::none, "none"}, {LocalKind::monotonic, "monotonic"},
                 {LocalKind::predictive, "predictive"})
FOVEA_ENUM_NAMES(Norm, {Norm::pre, "pre"}, {Norm::post, "post"})
FOVEA_ENUM_NAMES(Positions, {Positions::sinusoidal, "sinusoidal"}, {Positions::learned, "learned"},
                 {Positions::rotary, "rotary"}, {Positions::rotary_cross, "rotary-cross"}, {Positions::alibi, "alibi"})
FOVEA_ENUM_NAMES(Tie, {Tie::none, "none"}, {Tie::target, "target"}, {Tie::all, "all"})
#undef FOVEA_ENUM_NAMES

namespace {

void in_range(const char* name, int value, int low, int high) {
  if (value < low || value > high) {
    throw UsageError(fmt::format("{}: {} given, {} to {} are possible", name, value, low, high));
  }
}

// One list of the fields serves writing and reading.
template <class Config, class Visit>
void each_field(Config& c, const Visit& visit) {
  visit("encoder", c.encoder);
  visit("decoder", c.decoder);
  visit("layers", c.layers);
  visit("decoder-layers", c.decoder_layers);
  visit("dim", c.dim);
  visit("embedding", c.embedding);
  visit("ffn", c.ffn);
  visit("heads", c.heads);
  visit("norm", c.norm);
  visit("positions", c.positions);
  visit("cell", c.cell);
  visit("bidirectional", c.bidirectional);
  visit("attention", c.attention);
  visit("form", c.form);
  visit("input-feeding", c.input_feeding);
  visit("local", c.local);
  visit("local-window", c.local_window);
  visit("coverage", c.coverage);
  visit("kernel", c.kernel);
  visit("tie", c.tie);
  visit("scaled-embeddings", c.scaled_embeddings);
  visit("max-positions", c.max_positions);
  visit("source-vocabulary", c.source_vocabulary);
  visit("target-vocabulary", c.target_vocabulary);
  visit("shared-vocabulary", c.shared_vocabulary);
  visit("languages", c.languages);
}

}  // namespace

void ModelConfig::check() const {
  in_range("layers", layers, 1, 64);
  in_range("decoder-layers", decoder_layers, 0, 64);
  in_range("dim", dim, 1, 16384);
  in_range("embedding", embedding, 0, 16384);
  in_range("ffn", ffn, 1, 65536);
  in_range("heads", heads, 1, 256);
  in_range("kernel", kernel, 1, 63);
  in_range("local-window", local_window, 1, 10000);
  in_range("max-positions", max_positions, 1, 1 << 20);
  in_range("source vocabulary", source_vocabulary, 5, 1 << 24);
  in_range("target vocabulary", target_vocabulary, 5, 1 << 24);
  const bool transformer = encoder == Arch::transformer || decoder == Arch::transformer;
  if (transformer && dim % heads != 0) {
    throw UsageError(fmt::format("heads: {} do not divide the width {}", heads, dim));
  }
  if (transformer && embedding_width() != dim) {
    throw UsageError(fmt::format("embedding: a transformer's is its width, {}, not {}", dim, embedding));
  }
  if (transformer && is_rotary(positions) && (dim / heads) % 2 != 0) {
    throw UsageError(
        fmt::format("positions: {} needs an even width per head, not {}", enum_text(positions), dim / heads));
  }
  if (encoder == Arch::cnn && kernel % 2 == 0) {
    throw UsageError(fmt::format("kernel: {} is even; the CNN encoder needs an odd width", kernel));
  }
  if (!scaled_embeddings && (encoder != Arch::rnn || decoder != Arch::rnn)) {
    throw UsageError("unscaled-embeddings: only a model of two RNNs does without; others add positions of that size");
  }
  if (tie == Tie::all && !shared_vocabulary) {
    throw UsageError("tie: all three matrices can be one only with a shared vocabulary");
  }
  if (local != LocalKind::none && (decoder != Arch::rnn || attention == RnnAttention::none)) {
    throw UsageError("local: only an rnn decoder with attention has it");
  }
  if (coverage &&
      (decoder != Arch::rnn || (attention != RnnAttention::additive && attention != RnnAttention::concat))) {
    throw UsageError("coverage: only an rnn decoder with additive or concat attention has it");
  }
  if (input_feeding && (decoder != Arch::rnn || form != RnnForm::luong)) {
    throw UsageError("input-feeding: only an rnn decoder of the luong form has it");
  }
  if (decoder == Arch::rnn && form == RnnForm::conditional) {
    if (attention == RnnAttention::none)
      throw UsageError("form: conditional looks between two cells; it needs attention");
    if (decoder_layer_count() != 1) {
      throw UsageError(
          fmt::format("form: a conditional decoder has one layer of two cells, not {} layers", decoder_layer_count()));
    }
  }
}

std::int64_t ModelConfig::longest_source() const {
  const bool table = encoder == Arch::cnn || (encoder == Arch::transformer && positions == Positions::learned);
  const bool location = decoder == Arch::rnn && attention == RnnAttention::location;
  return table || location ? max_positions : 0;
}

std::int64_t ModelConfig::longest_target() const {
  const bool table = decoder == Arch::cnn || (decoder == Arch::transformer && positions == Positions::learned);
  return table ? max_positions : 0;
}

std::span<const char* const> preset_names() {
  static constexpr const char* names[] = {"rnn-bahdanau", "rnn-luong",        "rnn-plain",
                                          "cnn",          "transformer-tiny", "transformer-small"};
  return names;
}

ModelConfig preset(std::string_view name) {
  ModelConfig c;
  if (name == "transformer-tiny") return c;
  if (name == "transformer-small") {
    c.layers = 3;
    c.dim = 256;
    c.ffn = 1024;
    return c;
  }
  if (name == "cnn") {
    c.encoder = c.decoder = Arch::cnn;
    c.dim = c.embedding = 256;
    return c;
  }
  c.encoder = c.decoder = Arch::rnn;
  c.layers = 1;
  c.dim = c.embedding = 256;
  if (name == "rnn-bahdanau") return c;
  if (name == "rnn-plain") {
    c.attention = RnnAttention::none;
    return c;
  }
  if (name == "rnn-luong") {
    c.layers = 2;
    c.cell = Cell::lstm;
    c.bidirectional = false;
    c.form = RnnForm::luong;
    c.attention = RnnAttention::general;
    c.input_feeding = true;
    return c;
  }
  throw UsageError(fmt::format("preset: \"{}\" is not one of {}", name, fmt::join(preset_names(), ", ")));
}

nlohmann::json to_json(const ModelConfig& config) {
  nlohmann::json json;
  each_field(config, [&json]<class T>(const char* name, const T& value) {
    if constexpr (std::is_enum_v<T>) {
      json[name] = enum_text(value);
    } else {
      json[name] = value;
    }
  });
  return json;
}

ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& file) {
  ModelConfig config;
  if (!json.is_object()) throw FileError(file + ": the model's configuration is not an object");
  each_field(config, [&]<class T>(const char* name, T& value) {
    const auto found = json.find(name);
    if constexpr (std::is_same_v<T, bool>) {
      // Models made before it could be chosen: two RNNs did not scale them.
      if (found == json.end() && &value == &config.scaled_embeddings) {
        value = config.encoder != Arch::rnn || config.decoder != Arch::rnn;
        return;
      }
    }
    if (found == json.end()) throw FileError(fmt::format("{}: \"{}\" is missing", file, name));
    try {
      if constexpr (std::is_enum_v<T>) {
        value = enum_value<T>(found->get<std::string>(), name);
      } else if constexpr (std::is_same_v<T, int>) {
        // As it is written: nlohmann-json would cut off what does not fit.
        const double number = found->is_number_integer() ? found->get<double>() : NAN;
        if (!(std::abs(number) <= std::numeric_limits<int>::max())) {
          throw FileError(fmt::format("{}: \"{}\" is {}, not a whole number that fits", file, name, found->dump()));
        }
        value = found->get<int>();
      } else {
        value = found->get<T>();
      }
    } catch (const UsageError& error) {
      throw FileError(fmt::format("{}: {}", file, error.what()));
    } catch (const nlohmann::json::exception&) {
      throw FileError(fmt::format("{}: \"{}\" has the wrong type", file, name));
    }
  });
  try {
    config.check();
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", file, error.what()));
  }
  return config;
}

}  // namespace fovea

// What a model is made of: everything needed to build it again, and nothing about how it was trained.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "fovea/recurrent.hpp"

namespace fovea {

enum class Arch { rnn, cnn, transformer };
/// Score of the RNN decoder's attention; `none` is the fixed context vector (Sutskever 2014, Cho 2014).
enum class RnnAttention { none, additive, dot, scaled_dot, general, concat, location, cosine };
/// Bahdanau 2015: the query is the previous state and the context enters the cell. Luong 2015: the query is the
/// current state, an attentional layer mixes state and context. Conditional (Sennrich 2017): two cells with the look
/// between them; the query is the state that has read the last word, the context enters the second cell.
enum class RnnForm { bahdanau, luong, conditional };
enum class LocalKind { none, monotonic, predictive };
enum class Norm { pre, post };
/// Rotary turns what looks and what is looked at within the source and within the target (Su et al. 2021); rotary_cross
/// also between the two, so that a head can follow the source at a distance, as where letters become sounds in order.
enum class Positions { sinusoidal, learned, rotary, rotary_cross, alibi };
[[nodiscard]] constexpr bool is_rotary(Positions p) {
  return p == Positions::rotary || p == Positions::rotary_cross;
}
/// none: three matrices; target: the target's embedding is the output layer; all: one matrix for both embeddings and
/// the output (needs a shared vocabulary).
enum class Tie { none, target, all };

/// The names of an enum's values, as options and files spell them.
template <class E>
struct EnumName {
  E value;
  const char* name;
};
template <class E>
std::span<const EnumName<E>> enum_names();

template <class E>
std::string enum_text(E value) {
  for (const auto& entry : enum_names<E>()) {
    if (entry.value == value) return entry.name;
  }
  return "?";
}
/// Throws UsageError naming `what` and the possible values.
template <class E>
E enum_value(std::string_view text, std::string_view what);

struct ModelConfig {
  Arch encoder = Arch::transformer;
  Arch decoder = Arch::transformer;
  int layers = 4;          // of the encoder, and of the decoder unless decoder_layers says otherwise
  int decoder_layers = 0;  // 0: as many as the encoder
  int dim = 128;           // width of states: d_model, the RNN's hidden size, the CNN's channels
  int embedding = 0;       // width of embeddings; 0: dim. Transformers take only dim
  int ffn = 256;
  int heads = 4;
  Norm norm = Norm::pre;
  Positions positions = Positions::sinusoidal;
  Cell cell = Cell::gru;
  bool bidirectional = true;  // the RNN encoder
  RnnAttention attention = RnnAttention::additive;
  RnnForm form = RnnForm::bahdanau;
  bool input_feeding = false;
  LocalKind local = LocalKind::none;
  int local_window = 10;  // Luong's D
  bool coverage = false;
  int kernel = 3;  // the CNN's width
  Tie tie = Tie::none;
  bool scaled_embeddings = true;  // by the root of their width: they start with deviation 1 / sqrt(width)
  int max_positions = 1024;       // of learned positions
  int source_vocabulary = 0;
  int target_vocabulary = 0;
  bool shared_vocabulary = false;
  std::string languages;  // "en-de"; may be empty

  [[nodiscard]] int encoder_layers() const { return layers; }
  [[nodiscard]] int decoder_layer_count() const { return decoder_layers > 0 ? decoder_layers : layers; }
  [[nodiscard]] int embedding_width() const { return embedding > 0 ? embedding : dim; }
  /// Whether a transformer divides its scores by the root of a head's width: it does unless its attention is `dot`.
  [[nodiscard]] bool divided_scores() const { return decoder != Arch::transformer || attention != RnnAttention::dot; }
  /// The most tokens, the end included, that it reads or writes: those it has learned positions for. 0: any number.
  [[nodiscard]] std::int64_t longest_source() const;
  [[nodiscard]] std::int64_t longest_target() const;
  /// Throws UsageError naming the field that cannot be.
  void check() const;
};

/// A named starting point. Throws UsageError listing the names.
[[nodiscard]] ModelConfig preset(std::string_view name);
[[nodiscard]] std::span<const char* const> preset_names();

[[nodiscard]] nlohmann::json to_json(const ModelConfig& config);
/// Throws FileError naming `file` and the field that is missing, unknown or out of range.
[[nodiscard]] ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& file);

}  // namespace fovea

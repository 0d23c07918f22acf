// What a model is made of: everything needed to build it again, and nothing about how it was trained. A model is a
// source, an encoder that turns it into a memory, and a head that reads the memory; each has a config of its own, which
// holds only what that kind has.
//
// A config lists its fields once, in fields(): names as files and options spell them, and the possible range. Reading,
// writing and checking all go through that list.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fovea/activation.hpp"
#include "fovea/model/names.hpp"
#include "fovea/recurrent.hpp"

namespace FOVEA_API fovea {

/// Stands behind a field's name in fields() when a file may leave it out: it then has its default, and is not written
/// where it has it. For what was added after the format was fixed.
struct MayBeAbsent {};

/// Score of the RNN decoder's attention; `none` is the fixed context vector (Sutskever 2014, Cho 2014).
enum class RnnAttention { none, additive, dot, scaled_dot, general, concat, location, cosine };
/// Bahdanau 2015: the query is the previous state and the context enters the cell. Luong 2015: the query is the
/// current state, an attentional layer mixes state and context. Conditional (Sennrich 2017): two cells with the
/// attention between them; the query is the state that has read the last word, the context enters the second cell;
/// further layers stand above the second cell.
/// Gated (Xu et al. 2015): Bahdanau's, and the context is multiplied by a gate that the query opens.
enum class RnnForm { bahdanau, luong, conditional, gated };
/// What a gated decoder reads of the memory: the mean by the attention weights, or one place that is drawn by them in
/// training and is the likeliest one afterwards (Xu et al. 2015, sections 4.1 and 4.2).
enum class Focus { soft, hard };
/// Which keys local attention sees: all; those near the query's own position; those near a predicted centre.
enum class LocalKind { none, monotonic, predictive };
/// Layer norm before each block of a transformer, or after it.
enum class Norm { pre, post };
/// Sinusoidal: wavelengths from 2 pi to 10000 * 2 pi, the last one left out (Vaswani et al. 2017); timing_signal: the
/// same with the last one (Tensor2Tensor, Marian, OpenNMT). Rotary turns queries and keys of self-attention by their
/// positions (Su et al. 2021); rotary_cross also those of cross-attention, so that a head can follow the source at a
/// distance, as where letters become sounds in order.
enum class Positions { sinusoidal, timing_signal, learned, rotary, rotary_cross, alibi };
/// Whether queries and keys are turned by their positions.
[[nodiscard]] constexpr bool is_rotary(Positions p) {
  return p == Positions::rotary || p == Positions::rotary_cross;
}
/// none: three matrices; target: the target's embedding is the output layer; all: one matrix for both embeddings and
/// the output (needs a shared vocabulary).
enum class Tie { none, target, all };

/// How a transformer's decoder reads what it has written: self-attention, or what costs the same at every step: SSRU
/// (see Ssru) or average attention (see AverageAttention).
enum class DecoderSelf { attention, ssru, average };

/// Recurrent encoder: layers of GRU or LSTM in one or both directions (Bahdanau et al. 2015, section 3.2).
struct RnnEncoderConfig {
  static constexpr const char* kind = "rnn";  // in files
  int layers = 1;                             // on top of each other
  int dim = 256;                              // hidden units of each direction
  Cell cell = Cell::gru;                      // GRU or LSTM
  bool bidirectional = true;                  // read in both directions
  bool residual = true;  // from the second layer on a layer's output is its input plus what its cells give

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("layers", c.layers, 1, 64);
    visit("dim", c.dim, 1, 16384);
    visit("cell", c.cell);
    visit("bidirectional", c.bidirectional);
    visit("residual", c.residual, MayBeAbsent{});
  }
};

/// Convolutional encoder or decoder (Gehring et al. 2017).
struct CnnConfig {
  static constexpr const char* kind = "cnn";  // in files
  int layers = 4;                             // gated convolutions
  int dim = 256;                              // channels
  int kernel = 3;                             // width of a convolution; odd in an encoder
  int max_positions = 1024;                   // learned positions: the longest sequence, the end of sequence included

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("layers", c.layers, 1, 64);
    visit("dim", c.dim, 1, 16384);
    visit("kernel", c.kernel, 1, 63);
    visit("max-positions", c.max_positions, 1, 1 << 20);
  }
};

/// Convolutions of several widths side by side, each with a bias and ReLU (Kim 2014): what a window finds, wherever it
/// stands. No positions, no layers on top of each other; usually pooled by the maximum.
struct ParallelCnnConfig {
  static constexpr const char* kind = "parallel-cnn";  // in files
  static constexpr int layers = 1;                     // it has no others
  int dim = 100;                                       // channels of each width
  std::vector<int> kernels{3, 4, 5};                   // widths of the windows; the memory has dim channels of each

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("dim", c.dim, 1, 16384);
    visit("kernels", c.kernels);
  }
};

/// Transformer encoder or decoder (Vaswani et al. 2017).
struct TransformerConfig {
  static constexpr const char* kind = "transformer";  // in files
  int layers = 4;                                     // on top of each other
  int dim = 128;                                      // d_model
  int ffn = 256;                                      // inner width of the feed-forward layers
  int heads = 4;                                      // divides dim
  Norm norm = Norm::pre;                              // before or after each block
  Positions positions = Positions::sinusoidal;        // how order is known
  int max_positions = 1024;                           // of learned positions
  Activation activation = Activation::relu;           // inside the feed-forward layers
  bool scaled_scores = true;                          // divide scores by the root of a head's width
  bool scaled_positions = true;                       // multiply learned positions by the root of the width
  int first_position = 0;                             // of sinusoidal positions: the first token's
  float norm_epsilon = 1e-5F;                         // added to the variance in every layer norm
  bool embedding_norm = false;                        // a layer norm after embeddings and positions
  bool bias = true;                                   // whether attention's and feed-forward maps have one
  DecoderSelf decoder_self = DecoderSelf::attention;  // of a decoder only

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("layers", c.layers, 1, 64);
    visit("dim", c.dim, 1, 16384);
    visit("ffn", c.ffn, 1, 65536);
    visit("heads", c.heads, 1, 256);
    visit("norm", c.norm);
    visit("positions", c.positions);
    if (c.positions == Positions::learned) {
      visit("max-positions", c.max_positions, 1, 1 << 20);
      visit("scaled-positions", c.scaled_positions, MayBeAbsent{});
    }
    visit("activation", c.activation);
    visit("scaled-scores", c.scaled_scores);
    visit("first-position", c.first_position, MayBeAbsent{}, 0, 1 << 20);
    visit("norm-epsilon", c.norm_epsilon, MayBeAbsent{}, 0, 1);
    visit("embedding-norm", c.embedding_norm, MayBeAbsent{});
    visit("bias", c.bias, MayBeAbsent{});
    visit("decoder-self", c.decoder_self, MayBeAbsent{});
  }
};

/// Recurrent decoder with any score, or the fixed context vector.
struct RnnDecoderConfig {
  static constexpr const char* kind = "rnn";        // in files
  int layers = 1;                                   // on top of each other
  int dim = 256;                                    // hidden units
  Cell cell = Cell::gru;                            // GRU or LSTM
  RnnAttention attention = RnnAttention::additive;  // the score, or none
  RnnForm form = RnnForm::bahdanau;                 // which state is the query, and where the context goes
  bool input_feeding = false;                       // feed the attentional state back (Luong)
  LocalKind local = LocalKind::none;                // attend only near a centre
  int local_window = 10;                            // Luong's D
  bool coverage = false;                            // scores know what was attended to before
  Focus attention_kind = Focus::soft;               // of the gated form: the mean of all places, or one
  int max_positions = 1024;                         // of the location score: the longest source, its end included
  int attention_dim = 0;                            // inner width of the additive and concat scores; 0: dim
  bool mean_start = false;    // first states from the mean of the memory, also of an RNN's, not its last
  bool cells_start = false;   // the cells of an LSTM start as its states do, not with zeros
  bool layers_start = false;  // each layer starts with the last state, and cells, of the RNN encoder's layer beside it
  bool residual = false;      // conditional: a layer above the first gives its input plus what its cells give
  int readout_dim = 0;        // width of what the output layer reads; 0: dim. Luong's is always dim
  Activation readout = Activation::none;  // of that layer; none or tanh. Luong's is always tanh

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("layers", c.layers, 1, 64);
    visit("dim", c.dim, 1, 16384);
    visit("cell", c.cell);
    visit("attention", c.attention);
    visit("form", c.form);
    visit("input-feeding", c.input_feeding);
    visit("mean-start", c.mean_start, MayBeAbsent{});
    visit("cells-start", c.cells_start, MayBeAbsent{});
    visit("layers-start", c.layers_start, MayBeAbsent{});
    visit("residual", c.residual, MayBeAbsent{});
    visit("readout-dim", c.readout_dim, MayBeAbsent{}, 0, 16384);
    visit("readout", c.readout, MayBeAbsent{});
    if (c.attention == RnnAttention::none) return;
    visit("attention-dim", c.attention_dim, MayBeAbsent{}, 0, 16384);
    visit("local", c.local);
    if (c.local != LocalKind::none) visit("local-window", c.local_window, 1, 10000);
    visit("coverage", c.coverage);
    if (c.form == RnnForm::gated) visit("attention-kind", c.attention_kind);
    if (c.attention == RnnAttention::location) visit("max-positions", c.max_positions, 1, 1 << 20);
  }
};

/// No encoder: the memory is the embedded source itself, a bag of vectors.
struct NoEncoderConfig {
  static constexpr const char* kind = "none";  // in files
  static constexpr int layers = 0;             // it has none
  int dim = 128;                               // the width of the embeddings
  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("dim", c.dim, 1, 16384);
  }
};

// Of any kind.
using EncoderConfig = std::variant<RnnEncoderConfig, CnnConfig, ParallelCnnConfig, TransformerConfig, NoEncoderConfig>;
using DecoderConfig = std::variant<RnnDecoderConfig, CnnConfig, TransformerConfig>;  // of any kind

/// A source of tokens.
struct TokenSourceConfig {
  static constexpr const char* kind = "tokens";  // in files
  int vocabulary = 0;                            // tokens, the special ones included
  int embedding = 128;                           // width of the embeddings; a transformer's is its dim
  bool scaled_embeddings = true;  // by the root of their width: they start with deviation 1 / sqrt(width)
  bool end_of_sequence = true;    // whether </s> stands behind the source

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("vocabulary", c.vocabulary, 5, 1 << 24);
    visit("embedding", c.embedding, 1, 16384);
    visit("scaled-embeddings", c.scaled_embeddings);
    visit("end-of-sequence", c.end_of_sequence, MayBeAbsent{});
  }
};

/// How the turns of a conversation are read: as one sequence, each token with its turn's embedding; or each turn alone,
/// with attention over its words and then over the turns.
enum class Turns { flat, hierarchical };

/// A source of tokens that are turns of a conversation, the oldest first.
struct TurnSourceConfig : TokenSourceConfig {
  static constexpr const char* kind = "turns";  // in files
  Turns turns = Turns::flat;                    // how they are read
  int max_turns = 5;                            // older ones are left out

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    TokenSourceConfig::fields(c, visit);
    visit("turns", c.turns);
    visit("max-turns", c.max_turns, 1, 1000);
  }
};

/// A source of tokens that are bags: the vector of each, those of its character n-grams, and those of the word n-grams
/// that end with it (Joulin et al. 2017). N-grams have hashed rows behind the vocabulary's.
struct NgramSourceConfig : TokenSourceConfig {
  static constexpr const char* kind = "ngrams";  // in files
  int word_ngrams = 1;                           // longest run of words; 1: words alone
  int char_min = 0, char_max = 0;                // shortest and longest run of characters in a word; 0: none
  int buckets = 200000;                          // rows that the n-grams share

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    TokenSourceConfig::fields(c, visit);
    visit("word-ngrams", c.word_ngrams, 1, 8);
    visit("char-min", c.char_min, 0, 16);
    visit("char-max", c.char_max, 0, 16);
    visit("buckets", c.buckets, 1, 1 << 24);
  }
};

/// What turns pixels into regions. small: a residual CNN that is trained with the rest. squeezenet: SqueezeNet 1.1 up
/// to its last fire layer (Iandola et al. 2016), for weights that were trained on ImageNet.
enum class PictureEncoder { small, squeezenet };

/// A source of pictures: a CNN that makes a grid of regions of each.
struct PictureSourceConfig {
  static constexpr const char* kind = "picture";           // in files
  PictureEncoder picture_encoder = PictureEncoder::small;  // what sees
  int picture_size = 160;                                  // pixels on a side; pictures are cut and resized to it
  int picture_channels = 256;                              // of small: numbers per region
  int picture_blocks = 1;                                  // of small: residual blocks per resolution
  int embedding = 256;                                     // width of the regions as the rest of the model reads them

  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("picture-encoder", c.picture_encoder);
    visit("picture-size", c.picture_size, 32, 1024);
    if (c.picture_encoder == PictureEncoder::small) {
      visit("picture-channels", c.picture_channels, 8, 4096);
      visit("picture-blocks", c.picture_blocks, 1, 16);
    }
    visit("embedding", c.embedding, 1, 16384);
  }

  /// Regions in a row and in a column of a picture.
  [[nodiscard]] std::int64_t grid() const;
  /// Numbers per region that the CNN gives.
  [[nodiscard]] std::int64_t channels() const;
};

/// No source: a language model, which goes on with what it has written or was given. It has no encoder either.
struct NoSourceConfig {
  static constexpr const char* kind = "none";  // in files
  static constexpr int embedding = 0;          // it has none
  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self&, const Visit&) {}
};

/// A head that writes tokens: a decoder and an output layer.
struct GeneratorConfig {
  static constexpr const char* kind = "generator";  // in files
  DecoderConfig decoder = TransformerConfig{};      // what writes
  int vocabulary = 0;                               // tokens, the special ones included
  int embedding = 128;                              // width of the target's embeddings
  bool scaled_embeddings = true;                    // by the root of their width
  Tie tie = Tie::none;                              // which matrices are one
  std::vector<std::int32_t> suppressed{};           // ids that are never written, beside padding and <s>
  bool copy = false;                                // words of the source can be copied (See et al. 2017)

  /// Calls visit(name, field, limits…) for each field but the decoder.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("vocabulary", c.vocabulary, 5, 1 << 24);
    visit("embedding", c.embedding, 1, 16384);
    visit("scaled-embeddings", c.scaled_embeddings);
    visit("tie", c.tie);
    visit("suppressed", c.suppressed, MayBeAbsent{});
    visit("copy", c.copy, MayBeAbsent{});
  }
};

/// How a classifier makes one vector of the memory. learned: attention with one learned query. context: additive
/// attention with a learned context vector (Yang et al. 2016). hops: several such attentions side by side (Lin et al.
/// 2017). hierarchical: context pooling of the words of each sentence, a bidirectional GRU over the sentences, and
/// context pooling of those (Yang et al. 2016). mean, max, last: without attention, to compare; last is the RNN's last
/// state.
enum class Pooling { learned, context, hops, hierarchical, mean, max, last };

/// A head that chooses a label: pooling and an output layer.
struct ClassifierConfig {
  static constexpr const char* kind = "classifier";  // in files
  Pooling pooling = Pooling::learned;                // how the memory becomes one vector
  int labels = 0;                                    // to choose from
  int hidden = 128;                                  // of context, hops and hierarchical
  int hops = 4;                                      // attentions side by side
  int sentence_dim = 64;    // of hierarchical: units of each direction of the GRU over sentences; 0: there is none
  std::string separator{};  // of hierarchical: what stands between sentences; empty: they are found by their marks
  /// Calls visit(name, field, limits…) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit("pooling", c.pooling);
    visit("labels", c.labels, 1, 1 << 20);
    const bool hierarchical = c.pooling == Pooling::hierarchical;
    if (c.pooling == Pooling::context || c.pooling == Pooling::hops || hierarchical) {
      visit("hidden", c.hidden, 1, 16384);
    }
    if (c.pooling == Pooling::hops) visit("hops", c.hops, 1, 64);
    if (hierarchical) {
      visit("sentence-dim", c.sentence_dim, 0, 16384);
      visit("separator", c.separator);
    }
  }
};

// Of any kind.
using SourceConfig =
    std::variant<TokenSourceConfig, TurnSourceConfig, NgramSourceConfig, PictureSourceConfig, NoSourceConfig>;
using HeadConfig = std::variant<GeneratorConfig, ClassifierConfig>;  // of any kind

/// What a model is for: text to text, text to a label, turns of a dialogue to a reply, a picture to text, the beginning
/// of a text to the rest of it.
enum class Task { generate, classify, chat, caption, complete };

/// What a model is made of: source, encoder, head.
struct ModelConfig {
  SourceConfig source = TokenSourceConfig{};    // what it reads
  EncoderConfig encoder = TransformerConfig{};  // what turns that into the memory
  HeadConfig head = GeneratorConfig{};          // what reads the memory
  bool shared_vocabulary = false;               // one tokenizer for both sides
  std::string languages{};                      // "en-de"; may be empty

  /// The parts of a model by kind; a source of n-grams is one of tokens too. Throw UsageError when it is another kind.
  [[nodiscard]] TokenSourceConfig& tokens();
  /// The same of a constant model.
  [[nodiscard]] const TokenSourceConfig& tokens() const;
  /// The same of a source of pictures.
  [[nodiscard]] PictureSourceConfig& pictures();
  /// The same of a constant model.
  [[nodiscard]] const PictureSourceConfig& pictures() const;
  /// Whether it has a source of tokens.
  [[nodiscard]] bool reads_tokens() const;
  /// Width of what the source gives the encoder.
  [[nodiscard]] int source_width() const;
  /// The same of the head.
  [[nodiscard]] GeneratorConfig& generator();
  /// The same of a constant model.
  [[nodiscard]] const GeneratorConfig& generator() const;
  [[nodiscard]] ClassifierConfig& classifier();              // the same of a classifier
  [[nodiscard]] const ClassifierConfig& classifier() const;  // of a constant model

  /// What the parts are for; the kinds of source and head decide.
  [[nodiscard]] Task task() const;
  /// The most tokens, the end of sequence included, that it can read or write: those it has learned positions for.
  /// 0: any number.
  [[nodiscard]] std::int64_t longest_source() const;
  /// The same of what it writes.
  [[nodiscard]] std::int64_t longest_target() const;
  /// Whether its head attends to a memory.
  [[nodiscard]] bool attends() const;
  /// Whether a decoder's layers start from the last states of the encoder's.
  [[nodiscard]] bool layers_start() const;
  /// Layers and heads of the head's attention to the memory.
  [[nodiscard]] int attention_layers() const;
  /// The same of heads.
  [[nodiscard]] int attention_heads() const;
  /// Throws UsageError naming the field that is out of range or does not fit the others.
  void check() const;
};

/// The kind that a variant holds, as files and options spell it: "rnn", "cnn", "transformer".
template <class... Kinds>
[[nodiscard]] const char* kind_of(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return c.kind; }, config);
}
/// A config of the named kind with its defaults. Throws UsageError naming `what` and the possible kinds.
[[nodiscard]] EncoderConfig encoder_of_kind(std::string_view kind, std::string_view what);
/// The same for a decoder.
[[nodiscard]] DecoderConfig decoder_of_kind(std::string_view kind, std::string_view what);

/// The width of the states.
template <class... Kinds>
[[nodiscard]] int dim_of(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return c.dim; }, config);
}
/// The number of layers.
template <class... Kinds>
[[nodiscard]] int layers_of(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return c.layers; }, config);
}

/// A named starting point. Throws UsageError listing the names.
[[nodiscard]] ModelConfig preset(std::string_view name);
/// All names that preset() takes.
[[nodiscard]] std::span<const char* const> preset_names();

}  // namespace fovea

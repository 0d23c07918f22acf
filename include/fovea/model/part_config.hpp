// Parts that read or write a sequence: recurrent, convolutional and Transformer layers.
#pragma once

#include <variant>
#include <vector>

#include "fovea/activation.hpp"
#include "fovea/export.hpp"
#include "fovea/fields.hpp"
#include "fovea/recurrent.hpp"

namespace FOVEA_API fovea {

/// Score of the RNN decoder's attention; `none` is the fixed context vector (Sutskever 2014, Cho 2014).
enum class RnnAttention { none, additive, dot, scaled_dot, general, concat, location, cosine };
/// Bahdanau 2015: the query is the previous state and the context enters the cell. Luong 2015: the query is the
/// current state, an attentional layer mixes state and context. Conditional (Sennrich 2017): two cells with the
/// attention between them; the query is the state that has read the last word, the context enters the second cell;
/// further layers are above the second cell.
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

/// Fields that several parts have.
namespace model_fields {
inline constexpr Field layers{.name = "layers",
                              .range = between(1, 64),
                              .group = "Model",
                              .help = "number of layers of the encoder and of the decoder",
                              .common = true};
inline constexpr Field dim{.name = "dim",
                           .range = between(1, 16384),
                           .group = "Model",
                           .help = "width of the hidden states of the encoder and of the decoder",
                           .common = true};
inline constexpr Field embedding{.name = "embedding",
                                 .range = between(1, 16384),
                                 .group = "Model",
                                 .help = "width of the token embeddings; of a transformer the same as dim",
                                 .usual = "dim"};
inline constexpr Field scaled_embeddings{
    .name = "scaled-embeddings",
    .group = "Model",
    .help = "do not multiply embeddings by the root of their width; for recurrent models",
    .negative = "unscaled-embeddings"};
inline constexpr Field vocabulary{.name = "vocabulary", .range = between(5, 1 << 24)};
inline constexpr Field cell{.name = "cell", .group = "Recurrent models", .help = "kind of recurrent cell"};
/// A learned table of positions. `uses`: whether there is one.
constexpr Field max_positions(Uses uses = {}) {
  return {.name = "max-positions",
          .range = between(1, 1 << 20),
          .uses = uses,
          .group = "Model",
          .help = "longest sequence that learned positions can hold, in tokens with the end of sequence"};
}
}  // namespace model_fields

/// Recurrent encoder: layers of GRU or LSTM in one or both directions (Bahdanau et al. 2015, section 3.2).
struct RnnEncoderConfig {
  static constexpr const char* kind = "rnn";  // in files
  int layers = 1;                             // on top of each other
  int dim = 256;                              // hidden units of each direction
  Cell cell = Cell::gru;                      // GRU or LSTM
  bool bidirectional = true;                  // read in both directions
  bool residual = true;  // from the second layer on a layer's output is its input plus what its cells give

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.layers, model_fields::layers);
    visit(c.dim, model_fields::dim);
    visit(c.cell, model_fields::cell);
    visit(c.bidirectional, {.name = "bidirectional",
                            .group = "Recurrent models",
                            .help = "read the source from left to right only",
                            .negative = "unidirectional"});
    visit(c.residual, {.name = "residual", .may_be_absent = true});
  }
};

/// Convolutional encoder or decoder (Gehring et al. 2017).
struct CnnConfig {
  static constexpr const char* kind = "cnn";  // in files
  int layers = 4;                             // gated convolutions
  int dim = 256;                              // channels
  int kernel = 3;                             // width of a convolution; odd in an encoder
  int max_positions = 1024;                   // learned positions: the longest sequence, the end of sequence included

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.layers, model_fields::layers);
    visit(c.dim, model_fields::dim);
    visit(c.kernel, {.name = "kernel",
                     .range = between(1, 63),
                     .group = "Convolutional models",
                     .help = "width of the convolutions in tokens; odd in an encoder"});
    visit(c.max_positions, model_fields::max_positions());
  }
};

/// Parallel convolutions of several widths, each with a bias and ReLU (Kim 2014): what a window finds, at any
/// position. No positions, no layers on top of each other; usually pooled by the maximum.
struct ParallelCnnConfig {
  static constexpr const char* kind = "parallel-cnn";  // in files
  static constexpr int layers = 1;                     // it has no others
  int dim = 100;                                       // channels of each width
  std::vector<int> kernels{3, 4, 5};                   // widths of the windows; the memory has dim channels of each

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.dim, model_fields::dim);
    visit(c.kernels, {.name = "kernels",
                      .range = between(1, 63),
                      .group = "Convolutional models",
                      .help = "widths of the parallel convolutions of a parallel-cnn encoder, separated by commas",
                      .value = "N,N,..."});
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

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.layers, model_fields::layers);
    visit(c.dim, model_fields::dim);
    visit(c.ffn, {.name = "ffn",
                  .range = between(1, 65536),
                  .group = "Transformers",
                  .help = "inner width of a transformer's feed-forward layers"});
    visit(c.heads, {.name = "heads",
                    .range = between(1, 256),
                    .group = "Transformers",
                    .help = "number of attention heads of a transformer; divides dim"});
    visit(c.norm, {.name = "norm",
                   .group = "Transformers",
                   .help = "layer normalization before or after each block of a transformer"});
    visit(c.positions,
          {.name = "positions", .group = "Transformers", .help = "how a transformer represents token positions"});
    const Uses learned{c.positions == Positions::learned, "positions learned"};
    visit(c.max_positions, model_fields::max_positions(learned));
    visit(c.scaled_positions, {.name = "scaled-positions", .uses = learned, .may_be_absent = true});
    visit(c.activation, {.name = "activation",
                         .group = "Transformers",
                         .help = "activation function inside a transformer's feed-forward layers"});
    visit(c.scaled_scores, {.name = "scaled-scores"});
    visit(c.first_position, {.name = "first-position", .range = between(0, 1 << 20), .may_be_absent = true});
    visit(c.norm_epsilon, {.name = "norm-epsilon", .range = between(0, 1), .may_be_absent = true});
    visit(c.embedding_norm, {.name = "embedding-norm", .may_be_absent = true});
    visit(c.bias, {.name = "bias", .may_be_absent = true});
    visit(c.decoder_self, {.name = "decoder-self", .may_be_absent = true});
  }
};

/// No encoder: the memory is the embedded source itself, a bag of vectors.
struct NoEncoderConfig {
  static constexpr const char* kind = "none";  // in files
  static constexpr int layers = 0;             // it has none
  int dim = 128;                               // the width of the embeddings
  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.dim, model_fields::dim);
  }
};

}  // namespace fovea

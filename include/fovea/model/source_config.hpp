// What a model reads: tokens, turns of a conversation, bags of n-grams, pictures, or nothing.
#pragma once

#include <cstdint>
#include <variant>

#include "fovea/export.hpp"
#include "fovea/fields.hpp"
#include "fovea/model/part_config.hpp"

namespace FOVEA_API fovea {

/// A source of tokens.
struct TokenSourceConfig {
  static constexpr const char* kind = "tokens";  // in files
  int vocabulary = 0;                            // tokens, the special ones included
  int embedding = 128;                           // width of the embeddings; a transformer's is its dim
  bool scaled_embeddings = true;  // by the root of their width: they start with deviation 1 / sqrt(width)
  bool end_of_sequence = true;    // whether the source ends with </s>

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.vocabulary, model_fields::vocabulary);
    visit(c.embedding, model_fields::embedding);
    visit(c.scaled_embeddings, model_fields::scaled_embeddings);
    visit(c.end_of_sequence, {.name = "end-of-sequence", .may_be_absent = true});
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

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    TokenSourceConfig::fields(c, visit);
    visit(c.turns,
          {.name = "turns",
           .group = "Conversations",
           .help = "how the turns of a conversation are read: flat as one sequence, hierarchical with attention "
                   "over words and then over turns"});
    visit(c.max_turns, {.name = "max-turns",
                        .range = between(1, 1000),
                        .group = "Conversations",
                        .help = "turns of a conversation that are read; older ones are left out"});
  }
};

/// A source of tokens that are bags: the vector of each, those of its character n-grams, and those of the word n-grams
/// that end with it (Joulin et al. 2017). N-grams have hashed rows behind the vocabulary's.
struct NgramSourceConfig : TokenSourceConfig {
  static constexpr const char* kind = "ngrams";  // in files
  int word_ngrams = 1;                           // longest run of words; 1: words alone
  int char_min = 0, char_max = 0;                // shortest and longest run of characters in a word; 0: none
  int buckets = 200000;                          // rows that the n-grams share

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    TokenSourceConfig::fields(c, visit);
    visit(c.word_ngrams, {.name = "word-ngrams",
                          .range = between(1, 8),
                          .group = "Classifiers",
                          .help = "longest run of words that has a vector of its own; 1: single words"});
    visit(c.char_min, {.name = "char-min", .range = between(0, 16)});
    visit(c.char_max, {.name = "char-max", .range = between(0, 16)});
    visit(c.buckets, {.name = "buckets",
                      .range = between(1, 1 << 24),
                      .group = "Classifiers",
                      .help = "number of vectors that word and character n-grams share by hashing"});
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

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.picture_encoder, {.name = "picture-encoder",
                              .group = "Pictures",
                              .help = "CNN that reads pictures; small is trained from scratch"});
    visit(c.picture_size, {.name = "picture-size",
                           .range = between(32, 1024),
                           .group = "Pictures",
                           .help = "pixels on a side that pictures are cropped and resized to"});
    const Uses small{c.picture_encoder == PictureEncoder::small, "the picture encoder small"};
    visit(c.picture_channels, {.name = "picture-channels",
                               .range = between(8, 4096),
                               .uses = small,
                               .group = "Pictures",
                               .help = "numbers per region that the picture encoder small computes"});
    visit(c.picture_blocks, {.name = "picture-blocks",
                             .range = between(1, 16),
                             .uses = small,
                             .group = "Pictures",
                             .help = "residual blocks per resolution of the picture encoder small"});
    visit(c.embedding, {.name = "embedding", .range = between(1, 16384)});
  }

  /// Regions in a row and in a column of a picture.
  [[nodiscard]] std::int64_t grid() const;
  /// Numbers per region that the CNN gives.
  [[nodiscard]] std::int64_t channels() const;
};

/// No source: a language model, which continues its own output or a prompt. It has no encoder either.
struct NoSourceConfig {
  static constexpr const char* kind = "none";  // in files
  static constexpr int embedding = 0;          // it has none
  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self&, const Visit&) {}
};

// Of any kind.
using SourceConfig =
    std::variant<TokenSourceConfig, TurnSourceConfig, NgramSourceConfig, PictureSourceConfig, NoSourceConfig>;

}  // namespace fovea

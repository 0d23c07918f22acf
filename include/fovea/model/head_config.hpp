// What reads the memory: a generator or a classifier.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "fovea/export.hpp"
#include "fovea/model/decoder_config.hpp"

namespace FOVEA_API fovea {

/// A head that writes tokens: a decoder and an output layer.
struct GeneratorConfig {
  static constexpr const char* kind = "generator";  // in files
  DecoderConfig decoder = TransformerConfig{};      // what writes
  int vocabulary = 0;                               // tokens, the special ones included
  int embedding = 128;                              // width of the target's embeddings
  bool scaled_embeddings = true;                    // by the root of their width
  Tie tie = Tie::none;                              // which matrices are one
  std::vector<std::int32_t> suppressed{};           // ids that are never written; padding and <s> are not either
  bool copy = false;                                // words of the source can be copied (See et al. 2017)

  /// Calls visit(value, field) for each field but the decoder.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.vocabulary, model_fields::vocabulary);
    visit(c.embedding, model_fields::embedding);
    visit(c.scaled_embeddings, model_fields::scaled_embeddings);
    visit(c.tie,
          {.name = "tie",
           .group = "Model",
           .help = "which embedding matrices are one: target joins the target's embeddings and the output layer, "
                   "all joins the source's too and needs shared-vocab"});
    visit(c.suppressed, {.name = "suppressed", .may_be_absent = true});
    visit(c.copy, {.name = "copy",
                   .may_be_absent = true,
                   .group = "Model",
                   .help = "let the decoder copy words of the source, also unknown ones (pointer-generator)"});
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
  std::string separator{};  // of hierarchical: text between sentences; empty: punctuation ends them
  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.pooling,
          {.name = "pooling", .group = "Classifiers", .help = "how a classifier makes one vector of a text"});
    visit(c.labels, {.name = "labels", .range = between(1, 1 << 20)});
    const Uses hierarchical{c.pooling == Pooling::hierarchical, "the pooling hierarchical"};
    const bool inner = c.pooling == Pooling::context || c.pooling == Pooling::hops || hierarchical.here;
    visit(c.hidden, {.name = "hidden",
                     .range = between(1, 16384),
                     .uses = {inner, "the pooling context, hops or hierarchical"},
                     .group = "Classifiers",
                     .help = "hidden units of the poolings context, hops and hierarchical"});
    visit(c.hops, {.name = "hops",
                   .range = between(1, 64),
                   .uses = {c.pooling == Pooling::hops, "the pooling hops"},
                   .group = "Classifiers",
                   .help = "number of attentions of the pooling hops"});
    visit(c.sentence_dim, {.name = "sentence-dim",
                           .range = between(0, 16384),
                           .uses = hierarchical,
                           .group = "Classifiers",
                           .help = "units of the GRU over sentences in the pooling hierarchical; 0: no GRU"});
    visit(c.separator, {.name = "separator",
                        .uses = hierarchical,
                        .group = "Classifiers",
                        .help = "text between two sentences for the pooling hierarchical",
                        .usual = "sentences end at punctuation"});
  }
};

using HeadConfig = std::variant<GeneratorConfig, ClassifierConfig>;  // of any kind

}  // namespace fovea

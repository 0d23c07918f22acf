// A model as options name it.
#pragma once

#include <string>

#include "base/option_values.hpp"
#include "fovea/model/config.hpp"

namespace fovea {

/// Which parts a model is made of.
struct ModelChoice {
  std::string preset{};                               // empty: the task's usual model
  std::string arch{};                                 // kind of both sides
  std::string encoder{};                              // kind of one side
  std::string decoder{};                              // and of the other
  int decoder_layers = 0;                             // 0: as the preset or `layers` say
  DecoderSelf decoder_self = DecoderSelf::attention;  // of a transformer decoder
  std::string char_ngrams{};                          // lengths, as in 3-5

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit, Task task) {
    const Uses decodes{task != Task::classify, "a decoder, which a classifier does not have"};
    visit(c.preset, {.name = "preset",
                     .group = "Model",
                     .help = "model to start from, which the other options change: rnn-bahdanau, rnn-luong, rnn-plain, "
                             "cnn, transformer-tiny, transformer-small or transformer-deep",
                     .value = "NAME",
                     .usual = "a transformer, its size chosen from the corpus size",
                     .common = true});
    visit(c.arch, {.name = "arch",
                   .group = "Model",
                   .help = "kind of encoder and decoder: rnn, cnn or transformer",
                   .value = "NAME",
                   .common = true});
    visit(c.encoder, {.name = "encoder",
                      .group = "Model",
                      .help = "kind of encoder: rnn, cnn, parallel-cnn, transformer, or none for the embeddings "
                              "themselves",
                      .value = "NAME"});
    visit(c.decoder, {.name = "decoder",
                      .uses = decodes,
                      .group = "Model",
                      .help = "kind of decoder: rnn, cnn or transformer",
                      .value = "NAME"});
    visit(c.decoder_layers, {.name = "decoder-layers",
                             .range = between(1, 64),
                             .uses = decodes,
                             .group = "Model",
                             .help = "number of layers of the decoder, where it differs from layers",
                             .usual = "layers"});
    visit(c.decoder_self, {.name = "decoder-self",
                           .uses = decodes,
                           .group = "Transformers",
                           .help = "how a transformer decoder reads its own output; ssru and average cost the same at "
                                   "every step"});
    visit(c.char_ngrams, {.name = "char-ngrams",
                          .uses = {task == Task::classify, "the task classify"},
                          .group = "Classifiers",
                          .help = "lengths of the runs of characters of a word that have vectors of their own, as in "
                                  "3-5",
                          .value = "A-B"});
  }
};

/// The model that the options ask for. Throws UsageError naming an option with a wrong value.
[[nodiscard]] ModelConfig requested_model(OptionValues& options, Task task);

/// Throws UsageError where the decoder is no transformer.
void set_decoder_self(DecoderConfig& decoder, DecoderSelf self);

/// Adds the options of every part that a model can have.
void list_model_options(std::vector<OptionInfo>& all);

}  // namespace fovea

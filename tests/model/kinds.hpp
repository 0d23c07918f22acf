// Small models of every kind.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "fovea/model/config.hpp"

namespace fovea::test {

inline ModelConfig small(const EncoderConfig& encoder, const DecoderConfig& decoder) {
  ModelConfig c;
  c.encoder = encoder;
  c.tokens() = {.vocabulary = 11, .embedding = 16};
  c.generator() = {.decoder = decoder, .vocabulary = 12, .embedding = 16};
  return c;
}

inline TransformerConfig small_transformer() {
  return {.layers = 2, .dim = 16, .ffn = 24, .heads = 2};
}

inline bool is_local(const ModelConfig& config) {
  const auto* rnn = std::get_if<RnnDecoderConfig>(&config.generator().decoder);
  return rnn != nullptr && rnn->local != LocalKind::none;
}

inline std::vector<std::pair<std::string, ModelConfig>> kinds() {
  std::vector<std::pair<std::string, ModelConfig>> all;
  const auto add = [&all](const std::string& name, const ModelConfig& c) { all.emplace_back(name, c); };
  const RnnEncoderConfig rnn_encoder{.layers = 2, .dim = 16};
  const RnnDecoderConfig rnn_decoder{.layers = 2, .dim = 16};
  const CnnConfig cnn{.layers = 2, .dim = 16};
  for (const EncoderConfig& e : {EncoderConfig(rnn_encoder), EncoderConfig(cnn), EncoderConfig(small_transformer())}) {
    for (const DecoderConfig& d :
         {DecoderConfig(rnn_decoder), DecoderConfig(cnn), DecoderConfig(small_transformer())}) {
      add(fmt::format("{}-{}", kind_of(e), kind_of(d)), small(e, d));
    }
  }
  // Widths that differ everywhere.
  add("cnn-cnn of other widths", [] {
    ModelConfig c = small(CnnConfig{.layers = 1, .dim = 10}, CnnConfig{.layers = 2, .dim = 14, .kernel = 4});
    c.tokens().embedding = 12;
    return c;
  }());
  const ParallelCnnConfig parallel{.dim = 6, .kernels = {1, 2, 5}};
  add("parallel-cnn-rnn", small(parallel, rnn_decoder));
  add("parallel-cnn-cnn", small(parallel, cnn));
  add("parallel-cnn-transformer", small(parallel, small_transformer()));
  for (const RnnAttention a :
       {RnnAttention::none, RnnAttention::additive, RnnAttention::dot, RnnAttention::scaled_dot, RnnAttention::general,
        RnnAttention::concat, RnnAttention::location, RnnAttention::cosine}) {
    for (const RnnForm form : {RnnForm::bahdanau, RnnForm::luong, RnnForm::conditional}) {
      if (form == RnnForm::conditional && a == RnnAttention::none) continue;
      for (const Cell cell : {Cell::gru, Cell::lstm}) {
        const int layers = form == RnnForm::luong ? 2 : 1;
        add(fmt::format("rnn {} {} {}", enum_text(a), enum_text(form), enum_text(cell)),
            small(RnnEncoderConfig{.layers = layers, .dim = 16, .cell = cell, .bidirectional = cell == Cell::gru},
                  RnnDecoderConfig{.layers = layers,
                                   .dim = 16,
                                   .cell = cell,
                                   .attention = a,
                                   .form = form,
                                   .input_feeding = form == RnnForm::luong && cell == Cell::lstm}));
      }
    }
  }
  for (const LocalKind local : {LocalKind::monotonic, LocalKind::predictive}) {
    RnnDecoderConfig decoder = rnn_decoder;
    decoder.local = local;
    decoder.local_window = 2;
    add("rnn local " + enum_text(local), small(rnn_encoder, decoder));
  }
  RnnDecoderConfig covered = rnn_decoder;
  covered.coverage = true;
  add("rnn coverage", small(rnn_encoder, covered));
  // As Marian's: a score and an output layer of widths of their own, first states from the mean of the memory.
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    for (const RnnAttention attention : {RnnAttention::additive, RnnAttention::none}) {
      const bool attends = attention != RnnAttention::none;
      add(fmt::format("rnn {} {}, deep output", enum_text(cell), enum_text(attention)),
          small(rnn_encoder, RnnDecoderConfig{.dim = 16,
                                              .cell = cell,
                                              .attention = attention,
                                              .form = attends ? RnnForm::conditional : RnnForm::bahdanau,
                                              .attention_dim = attends ? 20 : 0,
                                              .mean_start = true,
                                              .cells_start = cell == Cell::lstm,
                                              .readout_dim = 12,
                                              .readout = Activation::tanh}));
    }
  }
  // As Marian's of several layers: without residuals, or in the decoder too; first states of each layer.
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    const RnnEncoderConfig encoder{.layers = 2, .dim = 8, .cell = cell, .residual = false};
    RnnDecoderConfig decoder{.layers = 3, .dim = 16, .cell = cell, .form = RnnForm::conditional};
    add(fmt::format("rnn {}, layers above a conditional one", enum_text(cell)), small(encoder, decoder));
    decoder.residual = true;
    add(fmt::format("rnn {}, residual layers above a conditional one", enum_text(cell)), small(encoder, decoder));
    decoder.layers = 2;
    decoder.layers_start = true;
    add(fmt::format("rnn {}, conditional, layers start as the encoder's end", enum_text(cell)),
        small(encoder, decoder));
    decoder.residual = false;
    decoder.form = RnnForm::luong;
    decoder.attention = RnnAttention::general;
    decoder.input_feeding = true;
    add(fmt::format("rnn {}, luong, layers start as the encoder's end", enum_text(cell)), small(encoder, decoder));
    decoder.input_feeding = false;
    decoder.attention = RnnAttention::none;
    add(fmt::format("rnn {}, plain, layers start as the encoder's end", enum_text(cell)), small(encoder, decoder));
  }
  TransformerConfig t = small_transformer();
  t.scaled_scores = false;
  add("transformer, undivided scores", small(t, t));
  for (const DecoderSelf self : {DecoderSelf::ssru, DecoderSelf::average}) {
    for (const Norm norm : {Norm::pre, Norm::post}) {
      TransformerConfig decoder = small_transformer();
      decoder.decoder_self = self;
      decoder.norm = norm;
      add(fmt::format("transformer, {} {}", enum_text(self), enum_text(norm)), small(small_transformer(), decoder));
    }
  }
  t = small_transformer();
  t.norm = Norm::post;
  t.positions = Positions::learned;
  add("post-norm, learned positions", small(t, t));
  const auto tied = [&t](Tie tie) {
    ModelConfig c = small(t, t);
    c.generator().tie = tie;
    return c;
  };
  t.positions = Positions::rotary;
  add("rotary, tied", tied(Tie::target));
  t.positions = Positions::rotary_cross;
  add("rotary, across too", tied(Tie::target));
  t.positions = Positions::alibi;
  ModelConfig one = tied(Tie::all);
  one.shared_vocabulary = true;
  one.tokens().vocabulary = one.generator().vocabulary;
  add("alibi, all tied", one);
  return all;
}

}  // namespace fovea::test

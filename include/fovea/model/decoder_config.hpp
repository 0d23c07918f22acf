// The recurrent decoder, and encoders and decoders of any kind.
#pragma once

#include <variant>

#include "fovea/export.hpp"
#include "fovea/model/part_config.hpp"

namespace FOVEA_API fovea {

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
  bool layers_start = false;  // each layer starts with the last state, and cells, of the same layer of the RNN encoder
  bool residual = false;      // conditional: a layer above the first gives its input plus what its cells give
  int readout_dim = 0;        // width of what the output layer reads; 0: dim. Luong's is always dim
  Activation readout = Activation::none;  // of that layer; none or tanh. Luong's is always tanh

  /// Calls visit(value, field) for each field.
  template <class Self, class Visit>
  static void fields(Self& c, const Visit& visit) {
    visit(c.layers, model_fields::layers);
    visit(c.dim, model_fields::dim);
    visit(c.cell, model_fields::cell);
    visit(c.attention, {.name = "attention",
                        .group = "Model",
                        .help = "score function of the decoder's attention; a transformer has scaled-dot or dot, a CNN "
                                "scaled-dot"});
    visit(c.form, {.name = "form",
                   .group = "Recurrent models",
                   .help = "where the recurrent decoder attends: bahdanau before its cell, luong after it, conditional "
                           "between two cells, gated as bahdanau with a gate on the context"});
    visit(c.input_feeding, {.name = "input-feeding",
                            .group = "Recurrent models",
                            .help = "feed the attentional state of a luong decoder into its next step",
                            .negative = "no-input-feeding"});
    visit(c.mean_start, {.name = "mean-start", .may_be_absent = true});
    visit(c.cells_start, {.name = "cells-start", .may_be_absent = true});
    visit(c.layers_start, {.name = "layers-start", .may_be_absent = true});
    visit(c.residual, {.name = "residual", .may_be_absent = true});
    visit(c.readout_dim, {.name = "readout-dim", .range = between(0, 16384), .may_be_absent = true});
    visit(c.readout, {.name = "readout", .may_be_absent = true});
    const Uses attends{c.attention != RnnAttention::none, "an attention other than none"};
    visit(c.attention_dim,
          {.name = "attention-dim", .range = between(0, 16384), .uses = attends, .may_be_absent = true});
    visit(c.local, {.name = "local",
                    .uses = attends,
                    .group = "Recurrent models",
                    .help = "attend only to a window around a centre, which moves along or is predicted (Luong et al. "
                            "2015)"});
    visit(c.local_window, {.name = "local-window",
                           .range = between(1, 10000),
                           .uses = {attends.here && c.local != LocalKind::none, "local attention"},
                           .group = "Recurrent models",
                           .help = "tokens on each side of the centre of local attention"});
    visit(c.coverage, {.name = "coverage",
                       .uses = attends,
                       .group = "Recurrent models",
                       .help = "let additive and concat scores depend on what was attended to before"});
    visit(c.attention_kind, {.name = "attention-kind",
                             .uses = {attends.here && c.form == RnnForm::gated, "the form gated"},
                             .group = "Pictures",
                             .help = "what a gated decoder reads: the mean of all regions, or one sampled region"});
    visit(c.max_positions, model_fields::max_positions({c.attention == RnnAttention::location, "attention location"}));
  }
};

// Of any kind.
using EncoderConfig = std::variant<RnnEncoderConfig, CnnConfig, ParallelCnnConfig, TransformerConfig, NoEncoderConfig>;
using DecoderConfig = std::variant<RnnDecoderConfig, CnnConfig, TransformerConfig>;  // of any kind

}  // namespace fovea

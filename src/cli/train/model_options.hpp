// The options of `fovea train` that say what model is trained.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fovea/training_job.hpp"

namespace fovea::cli {

/// As typed; empty where nothing was, so that a preset keeps its own.
struct ModelOptions {
  std::string preset, arch, encoder, decoder, norm, positions, activation, cell, attention, form, local, tie,
      decoder_self;
  std::optional<int> layers, decoder_layers, dim, embedding, ffn, heads, kernel, local_window, max_positions;
  std::vector<int> kernels;
  bool input_feeding = false, no_input_feeding = false, coverage = false, unidirectional = false,
       unscaled_embeddings = false, copy = false;
  // classifiers
  std::string pooling, char_ngrams, separator;
  std::optional<int> word_ngrams, buckets, sentence_dim, hidden, hops;
  // conversations
  std::string turns;
  std::optional<int> max_turns;
  // pictures
  std::string picture_encoder = "small", attention_kind;
  std::optional<int> picture_size, picture_channels, picture_blocks;
};

/// Adds the options to the command; those that are the training's own go to `job`. Both must outlive the command.
void add_model_options(CLI::App& command, ModelOptions& options, TrainingJob& job);

/// How the decoder reads what it has written, as --decoder-self names it; "": as it is. Throws UsageError where the
/// decoder is no transformer.
void set_decoder_self(ModelConfig& config, const std::string& name);

/// The model that they ask for. Throws UsageError naming an option that this task, or no part of this model, has.
[[nodiscard]] ModelConfig model_config(const ModelOptions& options, Task task);

}  // namespace fovea::cli

// What a Translator holds, and its part of the generation pipeline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "fovea/model/seq2seq.hpp"
#include "fovea/translator.hpp"
#include "tasks/generation/pipeline.hpp"
#include "text/copy_table.hpp"
#include "text/shortlist.hpp"

namespace fovea {

struct Translator::Loaded final : GenerationTask {
  Tokenizers both;
  std::vector<std::unique_ptr<PackedModel<Seq2Seq>>> members;
  std::unique_ptr<const text::CopyTable> copying;    // of models that copy
  std::unique_ptr<const text::Shortlist> shortlist;  // may be null

  Loaded(std::vector<LoadedModel> models, const LoadOptions& how);
  Loaded(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);

  [[nodiscard]] const ModelConfig& config() const override { return members[0]->config; }
  [[nodiscard]] const Tokenizers& tokenizers() const override { return both; }
  [[nodiscard]] SearchRules rules() const override;
  [[nodiscard]] std::unique_ptr<const ReadBatch> read(const BatchRequest& batch) const override;
  void write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions& options,
             Generated& output) const override;

  [[nodiscard]] bool reads_end() const { return config().tokens().end_of_sequence; }
  [[nodiscard]] std::int64_t longest_input() const;                 // with the end of sequence; 0: any
  void check_length(std::int64_t length, std::int64_t line) const;  // throws Error
  /// The text of a token that the models wrote, copied or not.
  [[nodiscard]] std::string piece(const GenerationInput& input, std::int32_t id) const;
  /// A line's tokens, with the swaps of interventions made.
  [[nodiscard]] GenerationInput read_line(const std::string& line, std::size_t number,
                                          const Interventions& interventions = {}) const;

 private:
  void add(LoadedModel model, const std::filesystem::path& first, const LoadOptions& how);
  void prepare_copying();
};

}  // namespace fovea

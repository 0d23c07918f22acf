// From inputs to outputs, for every task that writes text: batches, search, outputs, attention maps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fovea/generated.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/text/tokens.hpp"
#include "tasks/generation/maps.hpp"
#include "tasks/model_copies.hpp"

namespace fovea {

/// An input on its way to a model.
struct GenerationInput {
  std::size_t number = 0;              // of the line in the call
  std::int64_t length = 0;             // tokens that count towards a batch; 0: no input, so that its outputs are empty
  std::vector<std::int32_t> ids{};     // of the source, or of the text to continue
  std::vector<std::string> pieces{};   // the tokens' text, or the names of a picture's regions
  std::vector<std::int32_t> copies{};  // of models that copy: see text::CopyTable
  std::vector<std::string> words{};    // of models that copy: words that the target's vocabulary does not have
  std::string error{};                 // why there is no input
};

/// A batch that one model, or several that write together, have read. The models belong to this thread until it goes.
class ReadBatch {
 public:
  /// One of the models.
  struct Member {
    std::shared_ptr<const void> lease;  // keeps the model
    const Generator* generator;
    std::optional<Memory> memory;  // none in a language model
  };
  PaddedTokens source;                // what the memories refer to
  std::vector<std::int64_t> regions;  // the same of pictures
  std::vector<Member> members;
  std::vector<std::vector<std::int32_t>> shortlist;  // tokens that each input's outputs may have; empty: all

  /// Takes an idle copy of a model for as long as this lives, and adds it.
  template <class Model>
  const Model& add(ModelCopies<Model>& copies) {
    const auto lease = std::make_shared<const typename ModelCopies<Model>::Lease>(copies);
    members.push_back({lease, &lease->model().generator(), std::nullopt});
    return lease->model();
  }
  /// Of a member; null in a language model.
  [[nodiscard]] const Memory* memory(const Member& of) const { return of.memory ? &*of.memory : nullptr; }
};

/// A batch as a task's read() gets it.
struct BatchRequest {
  std::span<const GenerationInput* const> inputs;
  const MapRequest& maps;              // which attention of the encoder is kept
  const Interventions* interventions;  // null: none
};

/// What a task adds to the pipeline.
class GenerationTask {
 public:
  virtual ~GenerationTask() = default;
  [[nodiscard]] virtual const ModelConfig& config() const = 0;  // of the first model
  [[nodiscard]] virtual const Tokenizers& tokenizers() const = 0;
  [[nodiscard]] virtual SearchRules rules() const;
  /// Encodes a batch.
  [[nodiscard]] virtual std::unique_ptr<const ReadBatch> read(const BatchRequest& batch) const = 0;
  /// Sets text and tokens of an output.
  virtual void write(const GenerationInput& input, const Hypothesis& h, const GenerateOptions& options,
                     Generated& output) const = 0;

 protected:
  GenerationTask() = default;
};

/// Throws UsageError naming an option that is out of range or that the task or the model cannot use.
void check_options(const GenerationTask& task, const GenerateOptions& options);

/// The outputs of each input, best first. An input's outputs do not depend on the others. `trees`, if given, gets the
/// search of the only input.
[[nodiscard]] std::vector<std::vector<Generated>> generate(const GenerationTask& task,
                                                           std::span<const GenerationInput> inputs,
                                                           const GenerateOptions& options,
                                                           const GenerateCall& call = {},
                                                           std::vector<BeamTree>* trees = nullptr);

}  // namespace fovea

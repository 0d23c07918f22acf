// The beginning of a text in; the text and what a language model goes on with out.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/generated.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model_run.hpp"

namespace FOVEA_API fovea {

/// A language model loaded for use. Threads share it: calls may overlap.
///
///     fovea::Completer gpt2("gpt2");
///     fovea::Generated one = gpt2.complete("Once upon a time", {.beam = 1, .max_length = 20});
///     one.text; one.continuation;
///
/// An output's attention is the decoder's to its own text: source and target are both the tokens of the whole text.
class Completer {
 public:
  /// Throws FileError naming what is wrong with the folder, UsageError when its model reads a source.
  explicit Completer(const std::filesystem::path& folder, const LoadOptions& how = {});
  /// The same of a model that is loaded already.
  explicit Completer(LoadedModel model, const LoadOptions& how = {});
  /// The same with weights from elsewhere; shares them. Of `tokenizers` only the target is used.
  Completer(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Completer();
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

  /// Throws UsageError naming an option that this model cannot use, or that is out of range.
  void check(const GenerateOptions& options) const;

  /// The best continuation of one text. The model is fed the text's own tokens and nothing before them.
  [[nodiscard]] Generated complete(const std::string& text, const GenerateOptions& options = {}) const;
  /// The n-best continuations of each, best first. An empty text gives as many empty ones. A text's continuation does
  /// not depend on the others. Throws Error for a text that leaves no position to write at.
  [[nodiscard]] std::vector<std::vector<Generated>> complete(std::span<const std::string> texts,
                                                             const GenerateOptions& options = {},
                                                             const GenerateCall& call = {}) const;

  /// log p of each text, natural, over its tokens and its end; the model is fed <s> first.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> texts) const;
  /// log p of each text behind its prompt, natural, over the text's tokens and its end. Behind an empty prompt as
  /// above.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> prompts,
                                          std::span<const std::string> texts) const;

  /// A text, its best continuation and every number on the way. Throws UsageError for an empty or very long text.
  [[nodiscard]] ModelRun run(const std::string& text, const GenerateOptions& options = {}) const;

  [[nodiscard]] const ModelConfig& config() const;   // of the model
  [[nodiscard]] const Tokenizer& tokenizer() const;  // of the text

 private:
  struct Loaded;

  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fovea

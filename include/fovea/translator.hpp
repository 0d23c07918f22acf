// Text in; text, tokens, scores and attention out: what the command line, the server and bindings call.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/generated.hpp"
#include "fovea/model/folder.hpp"

namespace FOVEA_API fovea {

/// A model loaded for use, or several that write each output together (EnsembleStepper). Threads share it: calls may
/// overlap.
///
///     fovea::Translator translator("build/demo/model");
///     std::string iso = translator.translate("3 March 2021").text;
class Translator {
 public:
  /// Throws FileError naming what is wrong with the folder.
  explicit Translator(const std::filesystem::path& folder, const LoadOptions& how = {});
  /// All of them as one. Throws UsageError naming the two whose tokens are not the same, or when there is none.
  explicit Translator(std::span<const std::filesystem::path> folders, const LoadOptions& how = {});
  /// The same of models that are loaded already.
  explicit Translator(std::vector<LoadedModel> models, const LoadOptions& how = {});
  /// The same with weights from elsewhere; shares them.
  Translator(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  /// Throws UsageError naming an option that this model cannot use, or that is out of range.
  void check(const GenerateOptions& options) const;

  /// The best output of one line.
  [[nodiscard]] Generated translate(const std::string& line, const GenerateOptions& options = {}) const;
  /// The n-best outputs of each line, best first. An empty line gives as many empty ones. A line's result does not
  /// depend on the others.
  [[nodiscard]] std::vector<std::vector<Generated>> translate(std::span<const std::string> lines,
                                                              const GenerateOptions& options = {},
                                                              const GenerateCall& call = {}) const;
  /// log p(target | source) of each pair, natural, over the target's tokens and its end of sequence. Of a single model
  /// only: throws UsageError otherwise.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> sources,
                                          std::span<const std::string> targets) const;
  /// The best output of one line with its beam, and of a single model with the attention maps of options.kinds, by
  /// default of cross-attention. Throws UsageError for a line without text.
  [[nodiscard]] GenerationTrace trace(const std::string& line, const GenerateOptions& options = {},
                                      const GenerateCall& call = {}) const;

  [[nodiscard]] const ModelConfig& config() const;     // of the first model
  [[nodiscard]] bool attends() const;                  // whether any of its models attends to its source
  [[nodiscard]] const Tokenizers& tokenizers() const;  // of both sides

 private:
  friend class Inspector;
  struct Loaded;

  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fovea

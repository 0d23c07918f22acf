// Text in; a label, its probability and the words that decided out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model_run.hpp"

namespace FOVEA_API fovea {

class TextClassifier;
namespace text {
class SourceReader;
}

/// What a text was classified as.
struct Classification {
  std::string label{};                           // the likeliest
  float probability = 0;                         // its own
  std::map<std::string, float> probabilities{};  // of every label
  std::vector<std::string> tokens{};             // with the end of sequence; of hierarchical pooling, of each sentence
  std::vector<float> attention{};                // a weight for each token, which sum to 1; empty without attention
  // When asked for, of the likeliest labels: for each token the gradient of the label's logit, less the mean of all
  // logits, times the token's vector. Positive values support the label, negative ones oppose it.
  std::map<std::string, std::vector<float>> saliency{};
  std::vector<AttentionMap> maps{};  // when asked for: every layer and head of the encoder, every query of the pooling

  /// The labels with their probabilities, likeliest first; at most `most` of them, 0: all.
  [[nodiscard]] std::vector<std::pair<std::string, float>> ranked(std::size_t most = 0) const;

  /// Tokens, attention, probabilities and saliency as one record: the label attends to the tokens.
  [[nodiscard]] AttentionRecord record() const;
};

/// Bytes of heap memory that a result owns.
[[nodiscard]] std::size_t heap_bytes(const Classification& result);

/// How lines are classified.
struct ClassifyOptions {
  std::int64_t batch_tokens = 4096;    // tokens classified together by one thread
  bool skip_long = false;              // a line longer than the model can read is an empty result, not an error
  bool saliency = false;               // give Classification::saliency: a forward and a backward for each label
  int saliency_labels = 10;            // of so many labels, the likeliest
  std::vector<AttentionKind> kinds{};  // give Classification::maps of these kinds; the encoder's of one sentence only

  bool operator==(const ClassifyOptions&) const = default;  // every field
};

/// A trained classifier. Threads share it: calls may overlap.
///
///     fovea::Classifier classifier("topics");
///     fovea::Classification c = classifier.classify("how far is the moon ?");  // c.label, c.probability
class Classifier {
 public:
  /// Throws FileError naming what is wrong with the folder, UsageError when its model is no classifier.
  explicit Classifier(const std::filesystem::path& folder, const LoadOptions& how = {});
  /// All of them as one: the mean of their probabilities. Attention is the mean too where all attend to the same
  /// tokens, else the first one's; saliency and maps are of one model alone. Throws UsageError naming the two whose
  /// labels are not the same, or when there is none.
  explicit Classifier(std::span<const std::filesystem::path> folders, const LoadOptions& how = {});
  /// The same of models that are loaded already.
  explicit Classifier(std::vector<LoadedModel> models, const LoadOptions& how = {});
  /// The same with weights from elsewhere; shares them.
  Classifier(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Classifier();
  Classifier(const Classifier&) = delete;
  Classifier& operator=(const Classifier&) = delete;

  /// One line.
  [[nodiscard]] Classification classify(const std::string& text, const ClassifyOptions& options = {}) const;
  /// A line's result does not depend on the others. A line without text gives an empty result.
  [[nodiscard]] std::vector<Classification> classify(std::span<const std::string> lines,
                                                     const ClassifyOptions& options = {}) const;

  /// Classifies a text and keeps every number on the way. Throws UsageError for a line without text, and for several
  /// sentences where each is encoded alone.
  [[nodiscard]] ModelRun run(const std::string& text) const;

  [[nodiscard]] const ModelConfig& config() const;                                  // what the (first) model is made of
  [[nodiscard]] const Tokenizers& tokenizers() const { return tokenizers_; }        // of texts and labels
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }  // all there are

 private:
  struct Loaded;
  struct Line;
  struct Batch;
  void read_labels();
  [[nodiscard]] std::vector<Classification> classify_alone(std::span<const std::string> lines,
                                                           const ClassifyOptions& options) const;
  void classify(const Batch& batch, const TextClassifier& model, const ClassifyOptions& options,
                std::vector<Classification>& results) const;
  void add_saliency(const Batch& batch, const TextClassifier& model, int most,
                    std::vector<Classification>& results) const;

  Tokenizers tokenizers_;
  std::vector<std::string> labels_;
  std::unique_ptr<Loaded> loaded_;
  std::unique_ptr<const text::SourceReader> reader_;
  std::vector<std::unique_ptr<const Classifier>> others_;  // of an ensemble, all but this one
};

}  // namespace fovea

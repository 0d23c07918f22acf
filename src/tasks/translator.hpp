// Text in; text, tokens, scores and attention out. What the command line, the server and bindings all call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/search.hpp"
#include "model/folder.hpp"
#include "tasks/reading.hpp"

namespace fovea {

struct TranslateOptions {
  SearchOptions search;
  AttentionChoice attention;         // which layer and head is told
  bool replace_unknown = false;      // <unk> becomes the source token it looked at most
  bool merge_words = false;          // attention between words instead of tokens
  std::int64_t batch_tokens = 2048;  // source tokens decoded together by one thread; fewer for beams wider than 5
  std::int64_t first_line = 0;       // number of the first line, for sampling
  bool skip_long = false;            // a line longer than the model can read gives an empty output, not an error
};

/// One output for one line.
struct Translation {
  std::string text;
  float score = 0;            // what it was ranked by
  float log_probability = 0;  // natural, of its tokens and the end
  int tokens_read = 0;        // without the ends
  int tokens_written = 0;
  // When attention was asked for: the tokens, the end included, and weights[t][s], each row summing to 1.
  std::vector<std::string> source_tokens, target_tokens;
  std::vector<std::vector<float>> weights;
};

/// An output and all that can be seen of how it was made.
struct Look {
  Translation translation;  // with the mean over layers and heads as its weights
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  // weights[(layer * heads + head)][target token][source token]; rows sum to 1. Empty for a model without attention,
  // and for several models.
  std::vector<std::vector<std::vector<float>>> weights;
  BeamTree beam;
  std::vector<std::string> beam_tokens;  // of beam.nodes, as they are shown; the root's is empty
};

/// A model loaded for use, or several that write each output together (EnsembleStepper). Threads share it: calls may
/// overlap.
class Translator {
 public:
  /// Throws FileError naming what is wrong with the folder.
  explicit Translator(const std::filesystem::path& folder);
  /// All of them as one. Throws UsageError naming the two whose tokens are not the same, or when there is none.
  explicit Translator(std::span<const std::filesystem::path> folders);
  /// The same with weights from elsewhere; shares them.
  Translator(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  /// Throws UsageError naming an option that cannot be, for this model or at all.
  void check(const TranslateOptions& options) const;

  /// The n-best outputs of each line, best first. An empty line gives as many empty ones. A line's result does not
  /// depend on the others.
  [[nodiscard]] std::vector<std::vector<Translation>> translate(std::span<const std::string> lines,
                                                                const TranslateOptions& options) const;
  /// log p(target | source) of each pair, natural, over the target's tokens and its end. Of a single model only:
  /// throws UsageError otherwise.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> sources,
                                          std::span<const std::string> targets) const;

  /// Of the first model.
  [[nodiscard]] const ModelConfig& config() const { return members_[0]->config; }
  /// Whether any of its models has attention to show.
  [[nodiscard]] bool attends() const;
  [[nodiscard]] const Tokenizers& tokenizers() const { return tokenizers_; }

  /// How the best output of one line came about: every layer and head of the decoder's attention (of a single model),
  /// and the beam. Throws UsageError for a line without text.
  [[nodiscard]] Look look(const std::string& line, const TranslateOptions& options) const;

 private:
  struct Line {
    std::size_t number = 0;
    std::vector<std::int32_t> ids;
    std::vector<std::string> pieces;
  };
  [[nodiscard]] std::int64_t longest_input() const;                 // with the end; 0: any
  [[nodiscard]] std::int64_t longest_output() const;                // 0: any
  void check_length(std::int64_t length, std::int64_t line) const;  // throws Error
  void decode(std::span<const Line* const> lines, const TranslateOptions& options,
              std::vector<std::vector<Translation>>& results) const;
  [[nodiscard]] Translation finish(const Line& line, const Hypothesis& hypothesis,
                                   const TranslateOptions& options) const;

  Tokenizers tokenizers_;
  std::vector<std::unique_ptr<Member>> members_;
};

/// Pairs i-j, "target word j looked most at source word i", in the order of the target (the format of Pharaoh).
[[nodiscard]] std::string alignment_text(const Translation& translation);

}  // namespace fovea

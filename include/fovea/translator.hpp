// Text in; text, tokens, scores and attention out: what the command line, the server and bindings call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention/interventions.hpp"
#include "fovea/attention_record.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/model/folder.hpp"

namespace FOVEA_API fovea {

namespace text {
class CopyTable;
class Shortlist;
}  // namespace text

/// How lines are translated, and what is given beside the text.
struct TranslateOptions {
  int beam = 5;                  // 1: greedy
  float length_penalty = 1;      // a hypothesis of n tokens, its end included, is ranked by log-probability / n^penalty
  float coverage_penalty = 0;    // Wu et al. 2016: punishes source tokens that got little attention
  int n_best = 1;                // outputs of each line
  int min_length = 0;            // tokens before the end of sequence may come
  int max_length = 0;            // 0: twice the source's length and 20 more
  int no_repeat_ngram = 0;       // n > 0: no n tokens in a row occur twice
  float repetition_penalty = 1;  // more: tokens of the output so far are less probable; see SearchOptions
  bool sample = false;           // sample each token instead of taking the best
  float temperature = 1;         // of the sampling
  int top_k = 0;                 // sample among the k likeliest; 0: all
  float top_p = 1;               // sample among the likeliest that together have this probability
  std::uint64_t seed = 1;        // of the sampling

  bool scores = true;                // give Translation::score and log_probability; greedy search is faster without
  bool attention = false;            // give Translation::attention
  int layer = -1;                    // of this decoder layer only; -1: the mean over all
  int head = -1;                     // of this head only; -1: the mean over all
  bool replace_unknown = false;      // <unk> becomes the source token it attended to most
  bool merge_words = false;          // attention between words instead of tokens
  std::int64_t batch_tokens = 1024;  // source tokens decoded together by one thread, at most
  std::int64_t first_line = 0;       // number of the first line, for sampling
  bool skip_long = false;            // a line longer than the model can read gives an empty output, not an error

  std::vector<AttentionKind> kinds{};  // give Translation::maps of these kinds, of the best output; of one model only
  std::int64_t top_weights = 0;   // in maps only the N largest of each query; 0: all, of lines over 1,024 tokens 32
  Interventions interventions{};  // what is changed in every line; a position that a line does not have changes nothing
  // Asked before each batch of lines, by any thread: once it is true, lines that are left get no outputs. Empty: never
  std::function<bool()> stop{};
  // Called before the maps of a batch are made, with how many weights they hold; what it throws ends the call.
  std::function<void(std::int64_t weights)> before_maps{};

  /// As search() takes them.
  [[nodiscard]] SearchOptions search() const;
};

/// One output for one line.
struct Translation {
  std::string text{};                                         // of the output
  float score = 0;                                            // what it was ranked by
  float log_probability = 0;                                  // natural, of its tokens and the end of sequence
  std::vector<std::string> source_tokens{}, target_tokens{};  // each with the end of sequence that the model has
  std::vector<std::int32_t> target_ids{};                     // of the model's own tokens, without the end of sequence
  std::vector<std::vector<float>> attention{};                // when asked for: [target][source], each row sums to 1
  LargestWeights largest{};          // in its place where TranslateOptions::top_weights says so
  std::vector<AttentionMap> maps{};  // when asked for: every layer and head
  // With the attention, of a model that copies: how much of each target token's probability is due to copying.
  std::vector<float> copied{};

  /// Tokens and attention as one record.
  [[nodiscard]] AttentionRecord record() const;
};

/// An output and how it came about.
struct TranslationTrace {
  Translation translation{};               // with the mean over layers and heads as its attention
  AttentionRecord attention{};             // the same, and the maps of each layer and head that was asked for
  BeamTree beam{};                         // what the search kept at each step
  std::vector<std::string> beam_tokens{};  // of beam.nodes, as they are shown; the root's is empty
};

/// Bytes of heap memory that an output owns.
[[nodiscard]] std::size_t heap_bytes(const Translation& output);
/// Bytes of heap memory that a trace owns.
[[nodiscard]] std::size_t heap_bytes(const TranslationTrace& trace);

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
  /// The same with weights from elsewhere; shares them.
  Translator(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Translator();
  Translator(const Translator&) = delete;
  Translator& operator=(const Translator&) = delete;

  /// Throws UsageError naming an option that cannot be, for this model or at all.
  void check(const TranslateOptions& options) const;

  /// The best output of one line.
  [[nodiscard]] Translation translate(const std::string& line, const TranslateOptions& options = {}) const;
  /// The n-best outputs of each line, best first. An empty line gives as many empty ones. A line's result does not
  /// depend on the others.
  [[nodiscard]] std::vector<std::vector<Translation>> translate(std::span<const std::string> lines,
                                                                const TranslateOptions& options = {}) const;
  /// log p(target | source) of each pair, natural, over the target's tokens and its end of sequence. Of a single model
  /// only: throws UsageError otherwise.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> sources,
                                          std::span<const std::string> targets) const;
  /// How the best output of one line came about: the beam, and of a single model the attention maps of options.kinds,
  /// or where there are none, of cross-attention. Throws UsageError for a line without text.
  [[nodiscard]] TranslationTrace trace(const std::string& line, const TranslateOptions& options = {}) const;

  /// Of the first model.
  [[nodiscard]] const ModelConfig& config() const;
  /// Whether any of its models attends to its source.
  [[nodiscard]] bool attends() const;
  /// Of both sides.
  [[nodiscard]] const Tokenizers& tokenizers() const { return tokenizers_; }

 private:
  friend class Inspector;
  struct Member;
  struct Line;
  class EncodedBatch;
  [[nodiscard]] std::int64_t longest_input() const;                 // with the end of sequence; 0: any
  [[nodiscard]] std::int64_t longest_output() const;                // 0: any
  [[nodiscard]] std::int64_t read_length(const Line& line) const;   // of what the encoder reads of it
  void check_length(std::int64_t length, std::int64_t line) const;  // throws Error
  [[nodiscard]] SearchOptions search_options(const TranslateOptions& options) const;
  void decode(std::span<const Line* const> lines, const TranslateOptions& options,
              std::vector<std::vector<Translation>>& results, std::vector<BeamTree>* trees = nullptr) const;
  [[nodiscard]] Line read_line(const std::string& line, std::size_t number, const TranslateOptions& options) const;
  // `copied` as in Translation, or empty.
  [[nodiscard]] Translation finish(const Line& line, const Hypothesis& hypothesis, const TranslateOptions& options,
                                   std::vector<float> copied) const;
  void prepare_copying();
  [[nodiscard]] std::string piece(const Line& line, std::int32_t id) const;  // of an output, copied or not

  Tokenizers tokenizers_;
  std::unique_ptr<const text::CopyTable> copying_;  // of models that copy
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<const text::Shortlist> shortlist_;  // what may be written; may be empty
};

/// Pairs i-j, "target word j attended most to source word i", in the order of the target (the format of Pharaoh).
[[nodiscard]] std::string alignment_text(const Translation& translation);

}  // namespace fovea

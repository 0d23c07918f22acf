// The beginning of a text in; the text and what a language model goes on with out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model_run.hpp"

namespace FOVEA_API fovea {

/// How texts are continued, and what is given beside the text.
struct CompleteOptions {
  int beam = 5;              // 1: greedy
  float length_penalty = 1;  // a continuation of n tokens, its end included, is ranked by log-probability / n^penalty
  int n_best = 1;            // continuations of each text
  int min_length = 0;        // tokens before the end of the text may come
  int max_length = 50;       // most tokens; the text is cut off there
  int no_repeat_ngram = 0;   // n > 0: no n tokens in a row occur twice in a continuation
  float repetition_penalty = 1;  // more: tokens of the continuation so far are less probable; see SearchOptions
  bool sample = false;           // sample each token instead of taking the best
  float temperature = 1;         // of the sampling
  int top_k = 0;                 // sample among the k likeliest; 0: all
  float top_p = 1;               // sample among the likeliest that together have this probability
  std::uint64_t seed = 1;        // of the sampling

  bool attention = false;            // give Completion::maps, of the best continuation
  std::int64_t top_weights = 0;      // in maps only the N largest of each query; 0: all, of texts over 1,024 tokens 32
  std::int64_t batch_tokens = 1024;  // tokens of texts continued together by one thread, at most
  std::int64_t first_line = 0;       // number of the first text, for sampling

  /// As search() takes them.
  [[nodiscard]] SearchOptions search() const;
};

/// One continuation of a text.
struct Completion {
  std::string text{};                        // the whole: what was given and what follows
  std::string continuation{};                // what follows alone
  float score = 0;                           // what it was ranked by
  float log_probability = 0;                 // natural, of what follows, with its end where it has one
  std::vector<std::string> prompt_tokens{};  // what was given
  std::vector<std::string> tokens{};         // what follows, with </s> where the text ends
  std::vector<std::int32_t> ids{};           // of what follows, without the end
  std::vector<AttentionMap> maps{};          // when asked for: of every layer and head, each token to those before

  /// The maps and their mean as one record.
  [[nodiscard]] AttentionRecord record() const;
};

/// A language model loaded for use. Threads share it: calls may overlap.
///
///     fovea::Completer gpt2("gpt2");
///     fovea::Completion one = gpt2.complete("Once upon a time", {.beam = 1, .max_length = 20});
///     one.text;
class Completer {
 public:
  /// Throws FileError naming what is wrong with the folder, UsageError when its model reads a source.
  explicit Completer(const std::filesystem::path& folder, const LoadOptions& how = {});
  /// The same with weights from elsewhere; shares them. Of `tokenizers` only the target is used.
  Completer(const ModelConfig& config, Tokenizers tokenizers, const Parameters& parameters);
  ~Completer();
  Completer(const Completer&) = delete;
  Completer& operator=(const Completer&) = delete;

  /// Throws UsageError naming an option that cannot be, for this model or at all.
  void check(const CompleteOptions& options) const;

  /// The best continuation of one text. The model is fed the text's own tokens and nothing before them.
  [[nodiscard]] Completion complete(const std::string& text, const CompleteOptions& options = {}) const;
  /// The n-best continuations of each, best first. An empty text gives as many empty ones. What follows a text does not
  /// depend on the others. Throws Error for a text that leaves no position to write at.
  [[nodiscard]] std::vector<std::vector<Completion>> complete(std::span<const std::string> texts,
                                                              const CompleteOptions& options = {}) const;

  /// log p of each text, natural, over its tokens and its end; the model is fed <s> first.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> texts) const;
  /// log p of each text behind its prompt, natural, over the text's tokens and its end. Behind an empty prompt as
  /// above.
  [[nodiscard]] std::vector<double> score(std::span<const std::string> prompts,
                                          std::span<const std::string> texts) const;

  /// A text, its best continuation and every number on the way. Throws UsageError for an empty or very long text.
  [[nodiscard]] ModelRun run(const std::string& text, const CompleteOptions& options = {}) const;

  /// What the model is made of.
  [[nodiscard]] const ModelConfig& config() const;
  /// Of the text.
  [[nodiscard]] const Tokenizer& tokenizer() const { return *tokenizers_.target; }

 private:
  struct Loaded;
  struct Prompt;
  [[nodiscard]] SearchOptions search_options(const CompleteOptions& options) const;
  void decode(std::span<const Prompt* const> prompts, const CompleteOptions& options,
              std::vector<std::vector<Completion>>& results) const;

  Tokenizers tokenizers_;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fovea

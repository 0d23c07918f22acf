// Inside a translator: the numbers of a run, what removing a part of it does, and how faithful explanations are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/model_run.hpp"
#include "fovea/translator.hpp"

namespace FOVEA_API fovea {

/// What is removed, one after the other, and from which output.
struct ProbeOptions {
  GenerateOptions decoding{};  // how the output is found
  std::string target{};        // this output instead; empty: the model's own
  bool heads = true;           // silence each head
  bool edges = true;           // cut each edge, in all layers and heads of its kind
};

/// A part of a model, and what its removal does.
struct Removal {
  AttentionEdit edit{};        // what was removed: a silenced head or a cut edge
  std::string query{}, key{};  // of an edge, its tokens
  double change = 0;           // of the output's log-probability; below 0: the part helped
};

/// What removing each part does, the largest change first.
struct Probe {
  std::string output{};             // whose probability it is
  double log_probability = 0;       // of it, with nothing removed
  std::vector<Removal> removals{};  // by the size of the change
};

/// Which source tokens mattered, by one way of finding out.
struct Explanation {
  std::string method{};       // "attention", "rollout", "gradient" or "random"
  AttentionMatrix weights{};  // [target, source]: how much each source token mattered to each target token
  /// By how much the output's log-probability per token falls, on average over k, when the k tokens that mattered most
  /// are removed from the source: the higher, the more faithful.
  double deletion = 0;
};

/// Looks inside a translator of one model. The translator must outlive it; threads may share it.
///
///     const Inspector inspector(translator);
///     const ModelRun run = inspector.run("3 March 2021");
///     run.trace.at("encoder.0.self.scores");
class Inspector {
 public:
  /// Throws UsageError for an ensemble.
  explicit Inspector(const Translator& translator);

  /// Translates a line and runs the result through the model once more, keeping every number. Throws UsageError for a
  /// line without text.
  [[nodiscard]] ModelRun run(const std::string& line, const GenerateOptions& options = {}) const;

  /// The same of a given output instead of the model's own.
  [[nodiscard]] ModelRun run_given(const std::string& line, const std::string& target,
                                   const Interventions& interventions = {}) const;

  /// log p(target | line), natural, with its end of sequence, while the interventions are made.
  [[nodiscard]] double score(const std::string& line, const std::string& target,
                             const Interventions& interventions = {}) const;

  /// Removes every head and every edge in turn. `progress`, if any, is called from one thread at a time.
  [[nodiscard]] Probe probe(const std::string& line, const ProbeOptions& options = {},
                            const std::function<void(std::int64_t done, std::int64_t all)>& progress = {}) const;

  /// Attention (the mean of cross-attention), attention rollout (Abnar and Zuidema 2020: the encoder's self-attention
  /// multiplied through its layers, half of each for the residual, below the cross-attention), gradient times input
  /// (Shrikumar et al. 2016, absolute), and tokens at random to compare with, each with its deletion score.
  [[nodiscard]] std::vector<Explanation> explanations(const std::string& line,
                                                      const GenerateOptions& options = {}) const;

 private:
  [[nodiscard]] bool reads_end() const;  // whether the source ends with an end of sequence
  [[nodiscard]] ModelRun numbers(const std::string& line, const std::vector<std::int32_t>& target,
                                 const Interventions& interventions) const;
  [[nodiscard]] double score(const std::vector<std::int32_t>& source, const std::vector<std::int32_t>& target,
                             const Interventions& interventions) const;
  [[nodiscard]] AttentionMatrix gradient_times_input(const std::vector<std::int32_t>& source,
                                                     const std::vector<std::int32_t>& target) const;
  [[nodiscard]] double deletion(const std::vector<std::int32_t>& source, const std::vector<std::int32_t>& target,
                                const AttentionMatrix& weights) const;

  const Translator& translator_;
};

}  // namespace fovea

// A memory of pairs of lines: how likely it is that one line becomes another.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/joint_ngram/monotone_aligner.hpp"
#include "text/joint_ngram/ngrams.hpp"

namespace fovea::text {

struct JointNgramOptions {
  std::size_t order = 8;  // units on end that are remembered, at most 12
  std::size_t beam = 16;  // ways to read a pair that are followed at a time
};

/// Remembers pairs that run in the same order on both sides, as letters and sounds do: a joint-sequence model (Bisani
/// and Ney 2008). Each source token is aligned with the none, one or two target tokens it stands for; the runs of such
/// units are counted. Long runs that were seen are likely as a whole, which a network has to learn by heart.
class JointNgramModel {
 public:
  /// Throws UsageError when the numbers of lines differ, an option is out of range, or there are too many different
  /// tokens. Pairs that cannot be aligned are left out (both MonotoneAligner).
  JointNgramModel(std::span<const std::string> sources, std::span<const std::string> targets,
                  const JointNgramOptions& how = {});

  /// log P(source, target), natural, over the likeliest ways to read the one as the other; -infinity when there is
  /// none: a side has no tokens (what stands between white space), or the target has more than two for each of the
  /// source's.
  [[nodiscard]] double log_probability(std::string_view source, std::string_view target) const;

  /// How many pairs could be aligned.
  [[nodiscard]] std::size_t aligned() const { return remembered_; }

 private:
  using Numbers = std::unordered_map<std::string, std::int32_t>;
  struct Unit {
    std::int32_t source = 0;
    Ids target;
  };

  JointNgramOptions how_;
  Ngrams ngrams_;
  Numbers sources_, targets_;
  std::vector<Unit> units_;    // the first two are the beginning and the end
  std::vector<Ids> units_of_;  // by source token
  std::size_t remembered_ = 0;
};

}  // namespace fovea::text

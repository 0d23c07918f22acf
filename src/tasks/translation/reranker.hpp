// Outputs reranked by a model and a joint n-gram model together.
#pragma once

#include <string>
#include <vector>

#include "fovea/translator.hpp"
#include "text/joint_ngram/joint_ngram_model.hpp"

namespace fovea {

/// A network and a joint n-gram model are mistaken about different lines, so both are asked:
///
///     score = (1 - weight) log P_model(target | source) + weight log P_ngram(source, target)
///
/// (letters and sounds: Rao et al. 2015). Threads may share it.
class Reranker {
 public:
  /// `weight`: the n-gram model's share, from 0 to 1; both throw UsageError outside.
  Reranker(text::JointNgramModel ngrams, double weight);
  static void check_weight(double weight);

  /// Sorts the outputs of a line by their score, best first, and sets it. Outputs that the n-gram model cannot align at
  /// all come after those it can, unless its weight is 0, and have the model's part of the score alone. A line without
  /// tokens stays as it is.
  void rank(const std::string& line, std::vector<Translation>& outputs) const;

 private:
  text::JointNgramModel ngrams_;
  double weight_;
};

}  // namespace fovea

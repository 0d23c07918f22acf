// How good the captions of pictures are, as the evaluation of COCO captions (Chen et al. 2015) computes it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/metrics/lines.hpp"

namespace FOVEA_API fovea {

/// The figures of the COCO caption evaluation.
struct CaptionFigures {
  std::array<double, 4> bleu{};  // BLEU-1 to BLEU-4 of the corpus
  double rouge_l = 0;            // the mean over pictures
  double cider = 0;              // CIDEr-D, the mean over pictures; can be above 100
};

/// Scores one caption per line against one or more references per line; of several references, an empty line says that
/// there are fewer for this picture. All in percent, so CIDEr-D is 100 times what COCO's program prints.
///   BLEU-n   (Papineni et al. 2002): closest reference length, no smoothing
///   ROUGE-L  (Lin 2004): the best precision and the best recall over the references, beta = 1.2
///   CIDEr-D  (Vedantam et al. 2015): n = 1 to 4, sigma = 6, document frequencies from these references
/// Without a tokenizer words are caption_words; with one, its words after lower-casing, without those that are all
/// punctuation. Throws UsageError naming the line when it has no reference.
[[nodiscard]] CaptionFigures caption_figures(const Lines& captions, const References& references,
                                             std::optional<MetricTokenizer> tokenize = {});

/// The words of an English caption after lower-casing, close to the Penn Treebank's: n't, 's, 're, 've, 'll, 'd and 'm
/// are words, and cannot, gonna, gotta, wanna, gimme and lemme are two each; hyphens inside a word stay, and so do
/// full stops, commas and colons between digits and the full stops of letters as in u.s.; quotation marks, brackets
/// and . , : ; ? ! - … are dropped; any other symbol is a word.
[[nodiscard]] std::vector<std::string> caption_words(std::string_view caption);

/// The references of each line, separated by tabs, as sets of lines; lines with fewer are filled up with
/// empty ones. Throws UsageError naming the line when it has more than 100.
[[nodiscard]] References split_references(const Lines& lines);

}  // namespace fovea

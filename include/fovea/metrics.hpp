// How good an output is: BLEU, chrF, TER, ROUGE, accuracy and word error rate of lines against reference lines, and in
// headers of their own the figures of classification, captioning and dialogue. All scores are percentages. BLEU, chrF
// and TER follow sacreBLEU 2 and carry its signature.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fovea/metrics/caption.hpp"
#include "fovea/metrics/chat.hpp"
#include "fovea/metrics/classification.hpp"
#include "fovea/metrics/lines.hpp"

namespace FOVEA_API fovea {

/// As sacreBLEU's options.
struct BleuOptions {
  /// What is done about n-grams without a match.
  enum class Smoothing { none, exponential, floor, add_k };

  MetricTokenizer tokenize = MetricTokenizer::mteval_13a;  // how words are found
  bool lowercase = false;                                  // of both sides, before anything else
  Smoothing smoothing = Smoothing::exponential;            // of the precisions
  std::optional<double> smoothing_value = {};              // of floor (0.1 if not given) and add_k (1)
  bool effective_order = false;  // leave out orders the hypothesis is too short for: for single sentences
};

/// A BLEU score and its parts.
struct Bleu {
  double score = 0;                       // 0 to 100
  std::array<double, 4> precisions{};     // per n-gram order, in percent, smoothed
  std::array<std::int64_t, 4> matches{};  // before smoothing
  std::array<std::int64_t, 4> totals{};   // n-grams of the hypotheses
  double brevity_penalty = 1;             // 1: not too short
  std::int64_t hypothesis_words = 0;      // all tokens of the hypotheses
  std::int64_t reference_words = 0;       // of the reference closest in length, line by line
  std::string signature;                  // as sacreBLEU writes it

  /// "73.1/48.0/33.1/23.0 (BP = 1.000 ratio = 1.003 hyp_len = 301 ref_len = 300)"
  [[nodiscard]] std::string details() const;
};

/// BLEU (Papineni et al. 2002) of a corpus.
///
///     const Bleu result = bleu({"the cat sat on the mat"}, {{"the cat sat on a mat"}});
[[nodiscard]] Bleu bleu(const Lines& hypotheses, const References& references, const BleuOptions& how = {});

/// As sacreBLEU's options.
struct ChrfOptions {
  int character_order = 6;         // longest character n-gram
  int word_order = 0;              // 2 gives chrF++
  int beta = 2;                    // recall counts beta times as much as precision
  bool lowercase = false;          // of both sides, before anything else
  bool whitespace = false;         // count spaces as characters
  bool epsilon_smoothing = false;  // as chrF++.py does, instead of leaving out orders nothing was seen of
};

/// A chrF score.
struct Chrf {
  double score = 0;       // 0 to 100
  std::string name;       // chrF2, chrF2++
  std::string signature;  // as sacreBLEU writes it
};

/// chrF (Popović 2015) and chrF++ (2017) of a corpus; of several references the best one counts, line by line.
[[nodiscard]] Chrf chrf(const Lines& hypotheses, const References& references, const ChrfOptions& how = {});

/// A translation edit rate.
struct Ter {
  double score = 0;            // edits per 100 reference words
  std::int64_t edits = 0;      // insertions, deletions, substitutions and shifts
  double reference_words = 0;  // the mean over the references, summed over lines
  std::string signature;       // as sacreBLEU writes it
};

/// Translation edit rate (Snover et al. 2006) with Tercom's shifts, on words between white space; of several references
/// the one with fewest edits counts.
[[nodiscard]] Ter ter(const Lines& hypotheses, const References& references, bool case_sensitive = false);

/// ROUGE of unigrams, of bigrams and of the longest common subsequence.
struct Rouge {
  /// One of the three.
  struct Figure {
    double precision = 0, recall = 0, f1 = 0;  // means over the lines, in percent
  };
  Figure rouge_1, rouge_2, rouge_l;  // of words, of pairs of words, of the longest common subsequence
};

/// As rouge-score's options.
struct RougeOptions {
  std::optional<MetricTokenizer> tokenize = {};  // without one, words are runs of a-z and 0-9 after lower-casing
  bool stem = false;                             // compare words of more than three characters by porter_stem
};

/// ROUGE (Lin 2004): overlap of words, of word pairs, and the longest common subsequence, as the rouge-score package
/// computes them. Of several references the one with the best F1 counts, for each figure.
[[nodiscard]] Rouge rouge(const Lines& hypotheses, const References& references, const RougeOptions& how = {});

/// The stem of a lower-case English word: Porter's algorithm (1980) with the later changes of its author and of NLTK,
/// which rouge-score uses. Any other word is handled by the same rules: what is not a, e, i, o, u or y is a consonant.
///
///     porter_stem("relational") == "relat"
[[nodiscard]] std::string porter_stem(std::string_view word);

/// How many lines equal their reference (or one of them), white space at the ends aside, in percent.
[[nodiscard]] double exact_match(const Lines& hypotheses, const References& references, bool lowercase = false);

/// A word error rate.
struct WordErrors {
  double score = 0;                  // 100 * edits / reference_words; can be above 100
  std::int64_t edits = 0;            // substitutions, insertions and deletions
  std::int64_t reference_words = 0;  // what they are divided by
};

/// Word error rate: the least insertions, deletions and substitutions over the words of the reference. Of several
/// references the one with fewest edits counts, line by line, the first of equals. Phonemes between spaces give the
/// phoneme error rate, the tokenizer `character` the character error rate.
[[nodiscard]] WordErrors word_errors(const Lines& hypotheses, const References& references,
                                     MetricTokenizer tokenize = MetricTokenizer::none, bool lowercase = false);

}  // namespace fovea

// Exact matches and word errors.
#include "fovea/metrics.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {

double exact_match(const Lines& hypotheses, const References& references, bool lowercase) {
  metrics::check_lines("accuracy", hypotheses, references);
  const auto form = [lowercase](const std::string& line) {
    const std::string_view inside = text::trim(line);
    return lowercase ? text::to_lower(inside) : std::string(inside);
  };
  std::size_t right = 0;
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    const std::string hypothesis = form(hypotheses[line]);
    for (const Lines& reference : references) {
      if (form(reference[line]) != hypothesis) continue;
      ++right;
      break;
    }
  }
  return 100 * static_cast<double>(right) / static_cast<double>(hypotheses.size());
}

WordErrors word_errors(const Lines& hypotheses, const References& references, MetricTokenizer tokenize,
                       bool lowercase) {
  metrics::check_lines("wer", hypotheses, references);
  WordErrors result;
  const auto words_of = [&](const std::string& line) {
    return metric_words(lowercase ? text::to_lower(line) : line, tokenize);
  };
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    metrics::WordNumbers numbers;
    const std::u32string hypothesis = numbers.of(words_of(hypotheses[line]));
    std::int64_t fewest = -1;
    std::size_t length = 0;
    for (const Lines& lines : references) {
      const std::u32string reference = numbers.of(words_of(lines[line]));
      const std::int64_t edits = metrics::edit_distance(hypothesis, reference);
      if (fewest >= 0 && edits >= fewest) continue;
      fewest = edits;
      length = reference.size();
    }
    result.edits += fewest;
    result.reference_words += static_cast<std::int64_t>(length);
  }
  if (result.reference_words > 0) {
    result.score = 100 * static_cast<double>(result.edits) / static_cast<double>(result.reference_words);
  } else {
    result.score = result.edits > 0 ? 100 : 0;  // nothing was wanted and something came
  }
  return result;
}

}  // namespace fovea

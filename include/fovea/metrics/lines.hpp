// Lines to score, and how they are cut into words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// The lines of a file.
using Lines = std::vector<std::string>;

/// One or more sets of reference lines, each as long as the hypotheses. The metrics throw UsageError when one
/// is not, or when there are no lines at all. Lines are UTF-8.
using References = std::vector<Lines>;

/// How a line is cut into words before they are counted; as sacreBLEU's --tokenize.
enum class MetricTokenizer {
  mteval_13a,  // "13a": punctuation apart from words, as mteval-v13a does
  zh,          // each Chinese character apart, the rest as 13a
  character,   // "char": each character apart
  none,        // words between white space
};

/// The tokenizer named 13a, zh, char or none. Throws UsageError for another name.
[[nodiscard]] MetricTokenizer metric_tokenizer(std::string_view name);

/// The words of a line.
[[nodiscard]] std::vector<std::string> metric_words(std::string_view line, MetricTokenizer how);

}  // namespace fovea

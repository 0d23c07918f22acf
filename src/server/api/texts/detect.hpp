// Which language a text is in, among those the models read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/api/models/models.hpp"

namespace fovea::server {

struct Detection {
  std::string language;
  double confidence = 0;  // 0 to 100
};

/// A guess from the script and from small, common words and letters; no model of language. It tells scripts apart
/// surely, the larger European languages in whole sentences mostly, and single words hardly: the confidence says so. A
/// language without evidence of its own is never guessed above 0. Among `candidates`; the first of them when nothing
/// speaks for any.
[[nodiscard]] Detection detect_language(std::span<const std::string> texts, std::span<const std::string> candidates);

/// Among the models' source languages. A model whose source is no language ("dates") stands for all that are known.
[[nodiscard]] Detection detect_language(const std::vector<std::string>& texts, const Models& models);

}  // namespace fovea::server

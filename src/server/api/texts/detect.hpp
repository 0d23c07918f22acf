// Language detection among the source languages of the models.
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

/// A guess among `candidates` from the script, common words and letters. Reliable for scripts, mostly right for whole
/// sentences of the larger European languages, and weak for single words; the confidence reflects that. Without any
/// evidence it is the first candidate with confidence 0.
[[nodiscard]] Detection detect_language(std::span<const std::string> texts, std::span<const std::string> candidates);

/// Among the source languages of the models. A source that is not a language ("dates") matches all known languages.
[[nodiscard]] Detection detect_language(const std::vector<std::string>& texts, const Models& models);

}  // namespace fovea::server

// Language codes: what clients call languages.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace fovea::text {

/// The English name of a code such as "en" or "zh-Hans"; the code itself when it names no language ("iso").
[[nodiscard]] std::string language_name(std::string_view code);
/// Whether it is a code of ISO 639-1, with or without a script or region behind it.
[[nodiscard]] bool is_language(std::string_view code);
/// "en-de" as en and de, "zh-Hans-en" as zh-Hans and en. Nothing when it is no pair.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> language_pair(std::string_view text);

}  // namespace fovea::text

// Checks of the questions that the course receives, and numbers for its answers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "fovea/attention_record.hpp"
#include "fovea/tensor.hpp"

namespace fovea::learning {

constexpr std::size_t kMostBytes = 200;  // of a text
constexpr std::int64_t kMostWords = 24;  // of a text

/// The field `name`, a non-empty text. Throws UsageError.
[[nodiscard]] std::string text_of(const nlohmann::json& question, const char* name = "text");
/// Throws UsageError for a text of more than kMostWords words.
void check_words(std::int64_t words);
/// Rounded to five decimals, as many as a page shows.
[[nodiscard]] double rounded(double value);
/// The rows of a tensor whose other axes have size 1.
[[nodiscard]] nlohmann::json rows_of(const Tensor& values);
[[nodiscard]] nlohmann::json rows_of(const AttentionMatrix& values);

}  // namespace fovea::learning

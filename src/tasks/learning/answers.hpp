// What questions of the course hold, checked, and numbers for its answers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "fovea/attention_record.hpp"
#include "fovea/tensor.hpp"

namespace fovea::learning {

constexpr std::size_t kMostBytes = 200;  // of a text
constexpr std::int64_t kMostWords = 24;  // of a text

/// The field `name`, a text that is not empty. Throws UsageError.
[[nodiscard]] std::string text_of(const nlohmann::json& question, const char* name = "text");
/// Throws UsageError for a text of more than kMostWords words.
void check_words(std::int64_t words);
/// To five decimals: what a page shows, and no more bytes than that needs.
[[nodiscard]] double rounded(double value);
/// The last two axes of a tensor whose others are 1, as rows.
[[nodiscard]] nlohmann::json rows_of(const Tensor& values);
[[nodiscard]] nlohmann::json rows_of(const AttentionMatrix& values);

}  // namespace fovea::learning

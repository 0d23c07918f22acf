#include "tasks/learning/answers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "fovea/error.hpp"

namespace fovea::learning {

std::string text_of(const nlohmann::json& question, const char* name) {
  const auto found = question.is_object() ? question.find(name) : question.end();
  if (!question.is_object() || found == question.end() || !found->is_string()) {
    throw UsageError(fmt::format("{}: is required and must be a text", name));
  }
  auto text = found->get<std::string>();
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw UsageError(fmt::format("{}: must not be empty", name));
  if (text.size() > kMostBytes) {
    throw UsageError(fmt::format("{}: must have at most {} bytes, has {}", name, kMostBytes, text.size()));
  }
  return text;
}

void check_words(std::int64_t words) {
  if (words == 0) throw UsageError("text: has no words");
  if (words > kMostWords) throw UsageError(fmt::format("text: must have at most {} words, has {}", kMostWords, words));
}

double rounded(double value) {
  return std::round(value * 1e5) / 1e5;
}

nlohmann::json rows_of(const Tensor& values) {
  const Tensor all = values.contiguous();
  const int rank = all.rank();
  const std::int64_t columns = all.dim(rank - 1);
  const std::int64_t rows = all.size() / columns;
  return rows_of(AttentionMatrix{rows, columns, {all.data(), all.data() + all.size()}});
}

nlohmann::json rows_of(const AttentionMatrix& values) {
  auto out = nlohmann::json::array();
  for (std::int64_t r = 0; r < values.rows; ++r) {
    auto row = nlohmann::json::array();
    for (std::int64_t c = 0; c < values.columns; ++c) row.push_back(rounded(values.at(r, c)));
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace fovea::learning

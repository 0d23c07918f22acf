#include "view/token_names.hpp"

#include <algorithm>
#include <string_view>

namespace fovea::view {
namespace {

constexpr std::string_view kBoundary = "▁";

bool is_mark(const std::string& token) {
  return token == "</s>" || token == "<s>" || token == "<pad>";
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

// Whether a piece begins with a letter or a digit and so can continue a word; punctuation does not.
bool continues_word(std::string_view piece) {
  const auto first = static_cast<unsigned char>(piece[0]);
  return first >= 0x80 || (first >= '0' && first <= '9') || (first >= 'A' && first <= 'Z') ||
         (first >= 'a' && first <= 'z');
}

}  // namespace

std::vector<std::string> token_names(const std::vector<std::string>& tokens) {
  const bool pieces =
      std::any_of(tokens.begin(), tokens.end(), [](const std::string& t) { return t.starts_with(kBoundary); });
  const bool single =
      std::all_of(tokens.begin(), tokens.end(), [](const std::string& t) { return is_mark(t) || characters(t) <= 1; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    if (token == "</s>") {
      names.emplace_back("‹end›");
    } else if (token == "<s>") {
      names.emplace_back(i > 0 ? "‹turn›" : "‹start›");
    } else if (token == "<unk>") {
      names.emplace_back("‹unknown›");
    } else if (token.starts_with(kBoundary)) {
      const std::string plain = token.substr(kBoundary.size());
      names.push_back(plain.empty() ? "␣" : plain);
    } else {
      names.push_back(pieces && !single && i > 0 && !token.empty() && continues_word(token) ? "·" + token : token);
    }
  }
  return names;
}

}  // namespace fovea::view

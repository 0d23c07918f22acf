// Porter's stemmer (M. Porter, An algorithm for suffix stripping, Program 14(3), 1980), with the changes that he and
// NLTK made later; rouge-score takes that form, and each change is marked below.
//   A word is [C](VC){m}[V]: runs of consonants C and of vowels V. m is its measure. y is a vowel after a consonant.
#include <algorithm>
#include <array>
#include <utility>

#include "fovea/metrics.hpp"

namespace fovea {
namespace {

bool is_vowel(char c) {
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u';
}

// Whether `c` is a consonant; a y is one at the start of a word and after a vowel.
bool is_consonant_after(char c, bool after_consonant) {
  return c == 'y' ? !after_consonant : !is_vowel(c);
}

bool is_consonant(std::string_view word, std::size_t i) {
  std::size_t first = i;  // of a run of y
  while (first > 0 && word[first - 1] == 'y') --first;
  bool consonant = first > 0 && !is_vowel(word[first - 1]);
  for (std::size_t at = first; at <= i; ++at) consonant = is_consonant_after(word[at], consonant);
  return consonant;
}

int measure(std::string_view stem) {
  int pairs = 0;
  bool consonant = false;
  for (std::size_t i = 0; i < stem.size(); ++i) {
    const bool before = consonant;
    consonant = is_consonant_after(stem[i], before);
    if (i > 0 && consonant && !before) ++pairs;
  }
  return pairs;
}

bool has_vowel(std::string_view stem) {
  bool consonant = false;
  for (const char c : stem) {
    consonant = is_consonant_after(c, consonant);
    if (!consonant) return true;
  }
  return false;
}

bool ends_in_double_consonant(std::string_view word) {
  const std::size_t n = word.size();
  return n >= 2 && word[n - 1] == word[n - 2] && is_consonant(word, n - 1);
}

// Consonant, vowel, consonant at the end, the last not w, x or y; NLTK: or the whole word is vowel, consonant ("us").
bool ends_short(std::string_view word) {
  const std::size_t n = word.size();
  if (n == 2) return !is_consonant(word, 0) && is_consonant(word, 1);
  return n > 2 && is_consonant(word, n - 3) && !is_consonant(word, n - 2) && is_consonant(word, n - 1) &&
         std::string_view("wxy").find(word.back()) == std::string_view::npos;
}

using Rule = std::pair<std::string_view, std::string_view>;

// The first rule whose suffix fits decides: it applies when the stem before it has a measure above `least`.
template <std::size_t N>
void apply(std::string& word, const std::array<Rule, N>& rules, int least) {
  for (const auto& [suffix, replacement] : rules) {
    if (!word.ends_with(suffix)) continue;
    const std::string_view stem = std::string_view(word).substr(0, word.size() - suffix.size());
    if (measure(stem) > least) word.replace(stem.size(), suffix.size(), replacement);
    return;
  }
}

void plurals(std::string& word) {  // step 1a
  if (word.ends_with("ies")) {
    word.erase(word.size() - (word.size() == 4 ? 1 : 2));  // NLTK: dies, die; ponies, poni
  } else if (word.ends_with("sses")) {
    word.erase(word.size() - 2);
  } else if (word.ends_with('s') && !word.ends_with("ss")) {
    word.pop_back();
  }
}

void past_and_progressive(std::string& word) {  // step 1b
  if (word.ends_with("ied")) {
    word.erase(word.size() - (word.size() == 4 ? 1 : 2));  // NLTK: died, die; denied, deni
    return;
  }
  const std::string_view all = word;
  if (word.ends_with("eed")) {
    if (measure(all.substr(0, all.size() - 3)) > 0) word.pop_back();
    return;
  }
  const std::size_t cut = word.ends_with("ed") ? 2 : word.ends_with("ing") ? 3 : 0;
  if (cut == 0 || !has_vowel(all.substr(0, all.size() - cut))) return;
  word.erase(word.size() - cut);
  if (word.ends_with("at") || word.ends_with("bl") || word.ends_with("iz")) {
    word += 'e';
  } else if (ends_in_double_consonant(word)) {
    if (std::string_view("lsz").find(word.back()) == std::string_view::npos) word.pop_back();
  } else if (measure(word) == 1 && ends_short(word)) {
    word += 'e';
  }
}

void double_suffixes(std::string& word) {  // step 2
  static constexpr std::array<Rule, 20> rules{
      {{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"},
       {"bli", "ble"},     {"alli", "al"},     {"entli", "ent"}, {"eli", "e"},     {"ousli", "ous"},
       {"ization", "ize"}, {"ation", "ate"},   {"ator", "ate"},  {"alism", "al"},  {"iveness", "ive"},
       {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},  {"iviti", "ive"}, {"biliti", "ble"}}};
  static constexpr std::array<Rule, 1> fully{{{"fulli", "ful"}}};
  const std::string_view all = word;
  if (word.ends_with("alli") && measure(all.substr(0, all.size() - 4)) > 0) {
    word.erase(word.size() - 2);  // NLTK: what is left goes through the step again (nationally)
    double_suffixes(word);
  } else if (word.ends_with("logi")) {
    if (measure(all.substr(0, all.size() - 3)) > 0) word.pop_back();  // NLTK: the l belongs to the stem (geology)
  } else if (word.ends_with("fulli")) {
    apply(word, fully, 0);  // NLTK
  } else {
    apply(word, rules, 0);
  }
}

void single_suffixes(std::string& word) {  // steps 3 and 4
  static constexpr std::array<Rule, 7> third{
      {{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}};
  apply(word, third, 0);
  static constexpr std::array<Rule, 18> fourth{{{"al", ""},
                                                {"ance", ""},
                                                {"ence", ""},
                                                {"er", ""},
                                                {"ic", ""},
                                                {"able", ""},
                                                {"ible", ""},
                                                {"ant", ""},
                                                {"ement", ""},
                                                {"ment", ""},
                                                {"ent", ""},
                                                {"ou", ""},
                                                {"ism", ""},
                                                {"ate", ""},
                                                {"iti", ""},
                                                {"ous", ""},
                                                {"ive", ""},
                                                {"ize", ""}}};
  if (word.ends_with("sion") || word.ends_with("tion")) {  // the s or t counts as part of the stem
    if (measure(std::string_view(word).substr(0, word.size() - 3)) > 1) word.erase(word.size() - 3);
    return;
  }
  apply(word, fourth, 1);
}

void last_letters(std::string& word) {  // step 5
  if (word.ends_with('e')) {
    const std::string_view stem = std::string_view(word).substr(0, word.size() - 1);
    const int m = measure(stem);
    if (m > 1 || (m == 1 && !ends_short(stem))) word.pop_back();
  }
  if (word.ends_with("ll") && measure(std::string_view(word).substr(0, word.size() - 1)) > 1) word.pop_back();
}

}  // namespace

std::string porter_stem(std::string_view given) {
  // Porter's own list of words that the rules get wrong.
  static constexpr std::array<Rule, 16> irregular{{{"sky", "sky"},
                                                   {"skies", "sky"},
                                                   {"dying", "die"},
                                                   {"lying", "lie"},
                                                   {"tying", "tie"},
                                                   {"news", "news"},
                                                   {"innings", "inning"},
                                                   {"inning", "inning"},
                                                   {"outings", "outing"},
                                                   {"outing", "outing"},
                                                   {"cannings", "canning"},
                                                   {"canning", "canning"},
                                                   {"howe", "howe"},
                                                   {"proceed", "proceed"},
                                                   {"exceed", "exceed"},
                                                   {"succeed", "succeed"}}};
  std::string word(given);
  const auto known = std::find_if(irregular.begin(), irregular.end(), [&](const Rule& r) { return r.first == given; });
  if (known != irregular.end()) return std::string(known->second);
  if (word.size() <= 2) return word;
  plurals(word);
  past_and_progressive(word);
  // Step 1c; NLTK: y after a consonant that is not the first letter (happy, fly; not enjoy, by).
  if (word.size() > 2 && word.ends_with('y') && is_consonant(word, word.size() - 2)) word.back() = 'i';
  double_suffixes(word);
  single_suffixes(word);
  last_letters(word);
  return word;
}

}  // namespace fovea

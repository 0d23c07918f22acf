#include "tasks/learning/toy_texts.hpp"

#include <span>

namespace fovea::learning {
namespace {

struct Noun {
  const char *english, *french;
  bool feminine;
};
constexpr Noun kNouns[] = {{"cat", "chat", false},     {"dog", "chien", false},  {"book", "livre", false},
                           {"fish", "poisson", false}, {"car", "voiture", true}, {"house", "maison", true},
                           {"flower", "fleur", true},  {"table", "table", true}};
struct Adjective {
  const char *english, *masculine, *feminine;
};
constexpr Adjective kAdjectives[] = {
    {"black", "noir", "noire"}, {"white", "blanc", "blanche"}, {"green", "vert", "verte"}, {"red", "rouge", "rouge"}};
constexpr std::pair<const char*, const char*> kVerbs[] = {
    {"sees", "voit"}, {"finds", "trouve"}, {"loves", "aime"}, {"draws", "dessine"}};

// Animals, furniture and fruit, and the adjectives of each.
constexpr const char* kThings[][4] = {
    {"小猫", "小狗", "鸭子", "兔子"}, {"桌子", "椅子", "箱子", "沙发"}, {"苹果", "香蕉", "西瓜", "葡萄"}};
constexpr const char* kAdjectivesOf[][3] = {
    {"可爱", "聪明", "调皮"}, {"结实", "宽大", "舒服"}, {"新鲜", "香甜", "美味"}};
constexpr std::size_t kSorts = std::size(kThings);

template <class T, std::size_t N>
const T& one_of(Rng& random, const T (&list)[N]) {
  return list[random.below(N)];
}

LinePair noun_phrase(Rng& random) {
  const Noun& noun = one_of(random, kNouns);
  const bool definite = random.below(2) == 0;
  LinePair phrase{definite ? "the" : "a", definite ? (noun.feminine ? "la" : "le") : (noun.feminine ? "une" : "un")};
  const bool described = random.below(3) != 0;
  const Adjective& adjective = one_of(random, kAdjectives);
  if (described) phrase.first += std::string(" ") + adjective.english;
  phrase.first += std::string(" ") + noun.english;
  phrase.second += std::string(" ") + noun.french;
  if (described) phrase.second += std::string(" ") + (noun.feminine ? adjective.feminine : adjective.masculine);
  return phrase;
}

}  // namespace

std::string letters(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) {
    if (i > 0) all += ' ';
    all += static_cast<char>('a' + i);
  }
  return all;
}

std::string random_letters(Rng& random, int count, int length) {
  std::string line;
  for (int i = 0; i < length; ++i) {
    if (i > 0) line += ' ';
    line += static_cast<char>('a' + random.below(static_cast<std::uint64_t>(count)));
  }
  return line;
}

LinePair random_phrase(Rng& random) {
  LinePair line = noun_phrase(random);
  const auto& verb = one_of(random, kVerbs);
  const LinePair object = noun_phrase(random);
  line.first += std::string(" ") + verb.first + " " + object.first;
  line.second += std::string(" ") + verb.second + " " + object.second;
  return line;
}

LinePair all_phrase_words() {
  LinePair all{"the a", "le la un une"};
  for (const Noun& noun : kNouns) {
    all.first += std::string(" ") + noun.english;
    all.second += std::string(" ") + noun.french;
  }
  for (const Adjective& adjective : kAdjectives) {
    all.first += std::string(" ") + adjective.english;
    all.second += std::string(" ") + adjective.masculine + " " + adjective.feminine;
  }
  for (const auto& [english, french] : kVerbs) {
    all.first += std::string(" ") + english;
    all.second += std::string(" ") + french;
  }
  return all;
}

PronounSentence random_pronoun_sentence(Rng& random) {
  const std::size_t sort = random.below(kSorts);
  const std::size_t other = (sort + 1 + random.below(kSorts - 1)) % kSorts;
  const std::string meant = one_of(random, kThings[sort]);
  const std::string neighbour = one_of(random, kThings[other]);
  const std::string end = std::string("，它好") + one_of(random, kAdjectivesOf[sort]);
  switch (random.below(3)) {
    case 0:
      return {"看" + meant + end, meant};
    case 1:
      return {meant + "在" + neighbour + "旁边" + end, meant};
    default:
      return {neighbour + "在" + meant + "旁边" + end, meant};
  }
}

std::vector<std::string> all_pronoun_sentences() {
  std::vector<std::string> all;
  for (std::size_t sort = 0; sort < kSorts; ++sort) {
    for (std::size_t i = 0; i < std::size(kThings[sort]); ++i) {
      for (const char* said : kAdjectivesOf[sort]) {
        const std::string end = std::string("，它好") + said;
        all.push_back(std::string("看") + kThings[sort][i] + end);
        all.push_back(std::string(kThings[sort][i]) + "在" + kThings[(sort + 1) % kSorts][i] + "旁边" + end);
      }
    }
  }
  return all;
}

}  // namespace fovea::learning

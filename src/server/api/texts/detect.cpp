#include "server/api/texts/detect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "text/languages.hpp"
#include "text/unicode.hpp"

namespace fovea::server {
namespace {

enum class Script {
  other,
  latin,
  cyrillic,
  greek,
  arabic,
  hebrew,
  devanagari,
  bengali,
  tamil,
  thai,
  kana,
  hangul,
  han,
  georgian,
  armenian
};

Script script_of(char32_t c) {
  if (c < 0x80) return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ? Script::latin : Script::other;
  if (c >= 0xC0 && c < 0x250 && c != 0xD7 && c != 0xF7) return Script::latin;
  if (c >= 0x1E00 && c < 0x1F00) return Script::latin;
  if (c >= 0x370 && c < 0x400) return Script::greek;
  if (c >= 0x400 && c < 0x530) return Script::cyrillic;
  if (c >= 0x530 && c < 0x590) return Script::armenian;
  if (c >= 0x590 && c < 0x600) return Script::hebrew;
  if (c >= 0x600 && c < 0x780) return Script::arabic;
  if (c >= 0x900 && c < 0x980) return Script::devanagari;
  if (c >= 0x980 && c < 0xA00) return Script::bengali;
  if (c >= 0xB80 && c < 0xC00) return Script::tamil;
  if (c >= 0xE00 && c < 0xE80) return Script::thai;
  if (c >= 0x10A0 && c < 0x1100) return Script::georgian;
  if (c >= 0x3040 && c < 0x3100) return Script::kana;
  if ((c >= 0xAC00 && c < 0xD7B0) || (c >= 0x1100 && c < 0x1200)) return Script::hangul;
  if ((c >= 0x3400 && c < 0xA000) || c == 0x3007 || (c >= 0x20000 && c < 0x32000)) return Script::han;
  return Script::other;
}

// A language: its script, its most frequent words, and letters that few other languages use.
struct Profile {
  std::string_view code;
  Script script;
  std::string_view words;
  std::string_view letters{};
};

constexpr std::array<Profile, 36> kProfiles = {{
    {"en", Script::latin,
     "the of and to in is that it for was with on as are this be at have from you not by which they "
     "he she his her were an will has had but what there we i my your do"},
    {"de", Script::latin,
     "der die das und ist nicht ein eine zu den mit auf für im dem des sich von auch es ich sie wir "
     "er wie einen einer einem wird sind war bei aus nach noch zwei hat",
     "ßäöü"},
    {"fr", Script::latin,
     "le la les de des et est un une dans que qui pour pas sur au avec ce il elle je vous nous du se "
     "sont plus par en ne à été mais cette",
     "çèêœùâîô"},
    {"es", Script::latin,
     "el la los las de que y en un una es por con no se del para su al lo como más está son pero sus "
     "le ya este muy hombre mujer",
     "ñ¿¡áéíóú"},
    {"it", Script::latin,
     "il la le di che e un una è per con non si del della in sono gli dei nel alla al come più ha "
     "anche ma lo da questo",
     "èàòù"},
    {"pt", Script::latin,
     "o a os as de que e em um uma é por com não se do da para no na mais como dos das ao está são "
     "seu sua foi",
     "ãõçáê"},
    {"nl", Script::latin,
     "de het een en van is dat niet in op te zijn met voor aan er die maar ook ik je we hij ze naar "
     "wordt bij uit om heeft"},
    {"sv", Script::latin, "och att det som en är på för av med den till inte har i om ett han hon vi jag de från var",
     "åäö"},
    {"da", Script::latin, "og at det er en på til af for den som med ikke der de et i har han hun vi jeg fra var om",
     "æøå"},
    {"nb", Script::latin, "og at det er en på til av for den som med ikke de et i har han hun vi jeg fra var om seg",
     "æøå"},
    {"fi", Script::latin, "ja on ei että se hän oli ovat mutta kun myös tämä joka ovat minä sinä kuin niin", "äö"},
    {"pl", Script::latin, "i w nie na się że jest do to z jak za po co ale od tak są dla przez był który", "ąęłńśźżó"},
    {"cs", Script::latin, "a je se v na že to s do si o jsem jako ale za by pro jsou který byl není", "ěščřžůý"},
    {"sk", Script::latin, "a je sa v na že to s do si som ako ale za by pre sú ktorý bol nie", "ľĺŕôťďň"},
    {"hu", Script::latin, "a az és hogy nem is egy ez van volt csak mint de meg el vagy kell már", "őűáéö"},
    {"ro", Script::latin, "și de la în a nu pe cu este o un că din care mai sunt pentru să se au fost", "șțăâî"},
    {"tr", Script::latin, "ve bir bu da de için ile çok ne ama o gibi var daha ben sen mi olarak kadar", "ğışçöü"},
    {"vi", Script::latin, "là và của có không một cho được trong người này đã với các những", "đơưạảấầậếềệốồộớờợ"},
    {"id", Script::latin, "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke adalah ada"},
    {"ca", Script::latin, "el la els les de que i en un una és per amb no es del al com més són però aquest", "ç·èò"},
    {"eo", Script::latin, "la kaj de en estas al ne mi vi li ŝi ni ĝi ili por kun sed tio oni", "ĉĝĥĵŝŭ"},
    {"ru", Script::cyrillic, "и в не на что он с как это по но из у за от к так же она они мы был я ты", "ыэёъ"},
    {"uk", Script::cyrillic, "і в не на що він з як це та до але за від у так вони ми був я ти", "іїєґ"},
    {"bg", Script::cyrillic, "и в не на че той с как това по но от за се са да ще е съм", "ъщ"},
    {"sr", Script::cyrillic, "и у не на да он са као то је за од се су али из", "љњћђџј"},
    {"el", Script::greek, ""},
    {"ar", Script::arabic, "في من على أن إلى هذا التي ما لا كان", "ةىأإ"},
    {"fa", Script::arabic, "و در به از که این را با است برای", "پچژگک"},
    {"ur", Script::arabic, "کے میں ہے کی اور سے کا کو", "ٹڈڑےہ"},
    {"he", Script::hebrew, ""},
    {"hi", Script::devanagari, ""},
    {"bn", Script::bengali, ""},
    {"th", Script::thai, ""},
    {"ko", Script::hangul, ""},
    {"ja", Script::kana, ""},
    {"zh", Script::han, ""},
}};

struct Evidence {
  std::map<Script, int> letters;
  std::map<std::string, int, std::less<>> words;  // counts
  std::size_t word_count = 0;
  std::u32string marks;  // letters beyond ASCII
};

Evidence gather(std::span<const std::string> texts) {
  Evidence e;
  std::size_t wanted = 5000;  // bytes that are examined
  for (const std::string& whole : texts) {
    std::string word;
    const std::string_view sample = std::string_view(whole).substr(0, wanted);
    wanted -= sample.size();
    const std::string lower = text::to_lower(sample);
    for (std::size_t at = 0; at <= lower.size();) {
      const char32_t c = at < lower.size() ? text::next_code_point(lower, at) : (++at, U' ');
      const Script script = script_of(c);
      if (script == Script::other && c != 0xBF && c != 0xA1) {
        if (!word.empty()) {
          ++e.words[word];
          ++e.word_count;
        }
        word.clear();
        continue;
      }
      if (script != Script::other) ++e.letters[script];
      if (c >= 0x80) e.marks.push_back(c);
      text::append_utf8(word, c);
    }
  }
  return e;
}

double score(const Profile& p, const Evidence& e) {
  const auto found = e.letters.find(p.script);
  double here = found == e.letters.end() ? 0 : found->second;
  if (p.code == "ja" && here > 0) {  // kana among Chinese characters is Japanese
    const auto han = e.letters.find(Script::han);
    here += han == e.letters.end() ? 0 : han->second;
  }
  double all = 0;
  for (const auto& [script, count] : e.letters) all += count;
  if (p.code == "zh" && e.letters.contains(Script::kana)) here *= 0.2;
  if (all == 0 || here == 0) return 0;
  const double share = here / all;
  if (p.words.empty()) return share * 4;
  double hits = 0;
  for (const auto& word : text::split_words(p.words)) {
    const auto there = e.words.find(word);
    if (there != e.words.end()) hits += there->second * (word.size() > 1 ? 1 : 0.4);
  }
  const std::u32string letters = text::to_code_points(p.letters);
  double marks = 0;
  for (const char32_t c : e.marks) marks += letters.find(c) == std::u32string::npos ? -0.05 : 0.35;
  const double words = static_cast<double>(std::max<std::size_t>(1, e.word_count));
  return share * (0.05 + 4 * std::max(0.0, hits + std::min(marks, words * 0.4)) / std::sqrt(words) / std::sqrt(words));
}

// The code of the profile of a candidate: zh for "zh-Hans".
std::string_view base_of(std::string_view code) {
  const std::string_view base = code.substr(0, code.find('-'));
  return base == "no" ? "nb" : base;
}

}  // namespace

Detection detect_language(std::span<const std::string> texts, std::span<const std::string> candidates) {
  const Evidence evidence = gather(texts);
  Detection best{candidates.empty() ? "en" : candidates.front(), 0};
  double top = 0;
  double second = 0;
  for (const std::string& candidate : candidates) {
    for (const Profile& p : kProfiles) {
      if (p.code != base_of(candidate)) continue;
      const double s = score(p, evidence);
      if (s > top) {
        second = std::exchange(top, s);
        best.language = candidate;
      } else {
        second = std::max(second, s);
      }
    }
  }
  // High with much evidence, and with more than for any other language.
  const double strength = 1 - std::exp(-2 * top);
  const double margin = top > 0 ? (top - second) / top : 0;
  best.confidence = std::round(100 * strength * (0.4 + 0.6 * margin));
  return best;
}

Detection detect_language(const std::vector<std::string>& texts, const Models& models) {
  std::vector<std::string> candidates = models.sources();
  const bool all = candidates.empty() || std::any_of(candidates.begin(), candidates.end(),
                                                     [](const auto& c) { return !text::is_language(c); });
  if (all) {
    for (const Profile& p : kProfiles) {
      if (std::find(candidates.begin(), candidates.end(), p.code) == candidates.end()) candidates.emplace_back(p.code);
    }
  }
  return detect_language(texts, candidates);
}

}  // namespace fovea::server

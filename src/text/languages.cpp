#include "text/languages.hpp"

#include <algorithm>
#include <array>

namespace fovea::text {
namespace {

struct Language {
  std::string_view code, name;
};

// ISO 639-1.
constexpr std::array<Language, 183> kLanguages = {{
    {"aa", "Afar"},
    {"ab", "Abkhazian"},
    {"ae", "Avestan"},
    {"af", "Afrikaans"},
    {"ak", "Akan"},
    {"am", "Amharic"},
    {"an", "Aragonese"},
    {"ar", "Arabic"},
    {"as", "Assamese"},
    {"av", "Avaric"},
    {"ay", "Aymara"},
    {"az", "Azerbaijani"},
    {"ba", "Bashkir"},
    {"be", "Belarusian"},
    {"bg", "Bulgarian"},
    {"bi", "Bislama"},
    {"bm", "Bambara"},
    {"bn", "Bengali"},
    {"bo", "Tibetan"},
    {"br", "Breton"},
    {"bs", "Bosnian"},
    {"ca", "Catalan"},
    {"ce", "Chechen"},
    {"ch", "Chamorro"},
    {"co", "Corsican"},
    {"cr", "Cree"},
    {"cs", "Czech"},
    {"cu", "Church Slavonic"},
    {"cv", "Chuvash"},
    {"cy", "Welsh"},
    {"da", "Danish"},
    {"de", "German"},
    {"dv", "Divehi"},
    {"dz", "Dzongkha"},
    {"ee", "Ewe"},
    {"el", "Greek"},
    {"en", "English"},
    {"eo", "Esperanto"},
    {"es", "Spanish"},
    {"et", "Estonian"},
    {"eu", "Basque"},
    {"fa", "Persian"},
    {"ff", "Fulah"},
    {"fi", "Finnish"},
    {"fj", "Fijian"},
    {"fo", "Faroese"},
    {"fr", "French"},
    {"fy", "Western Frisian"},
    {"ga", "Irish"},
    {"gd", "Scottish Gaelic"},
    {"gl", "Galician"},
    {"gn", "Guarani"},
    {"gu", "Gujarati"},
    {"gv", "Manx"},
    {"ha", "Hausa"},
    {"he", "Hebrew"},
    {"hi", "Hindi"},
    {"ho", "Hiri Motu"},
    {"hr", "Croatian"},
    {"ht", "Haitian Creole"},
    {"hu", "Hungarian"},
    {"hy", "Armenian"},
    {"hz", "Herero"},
    {"ia", "Interlingua"},
    {"id", "Indonesian"},
    {"ie", "Interlingue"},
    {"ig", "Igbo"},
    {"ii", "Sichuan Yi"},
    {"ik", "Inupiaq"},
    {"io", "Ido"},
    {"is", "Icelandic"},
    {"it", "Italian"},
    {"iu", "Inuktitut"},
    {"ja", "Japanese"},
    {"jv", "Javanese"},
    {"ka", "Georgian"},
    {"kg", "Kongo"},
    {"ki", "Kikuyu"},
    {"kj", "Kuanyama"},
    {"kk", "Kazakh"},
    {"kl", "Kalaallisut"},
    {"km", "Khmer"},
    {"kn", "Kannada"},
    {"ko", "Korean"},
    {"kr", "Kanuri"},
    {"ks", "Kashmiri"},
    {"ku", "Kurdish"},
    {"kv", "Komi"},
    {"kw", "Cornish"},
    {"ky", "Kyrgyz"},
    {"la", "Latin"},
    {"lb", "Luxembourgish"},
    {"lg", "Ganda"},
    {"li", "Limburgish"},
    {"ln", "Lingala"},
    {"lo", "Lao"},
    {"lt", "Lithuanian"},
    {"lu", "Luba-Katanga"},
    {"lv", "Latvian"},
    {"mg", "Malagasy"},
    {"mh", "Marshallese"},
    {"mi", "Maori"},
    {"mk", "Macedonian"},
    {"ml", "Malayalam"},
    {"mn", "Mongolian"},
    {"mr", "Marathi"},
    {"ms", "Malay"},
    {"mt", "Maltese"},
    {"my", "Burmese"},
    {"na", "Nauru"},
    {"nb", "Norwegian Bokmål"},
    {"nd", "North Ndebele"},
    {"ne", "Nepali"},
    {"ng", "Ndonga"},
    {"nl", "Dutch"},
    {"nn", "Norwegian Nynorsk"},
    {"no", "Norwegian"},
    {"nr", "South Ndebele"},
    {"nv", "Navajo"},
    {"ny", "Chichewa"},
    {"oc", "Occitan"},
    {"oj", "Ojibwa"},
    {"om", "Oromo"},
    {"or", "Odia"},
    {"os", "Ossetian"},
    {"pa", "Punjabi"},
    {"pi", "Pali"},
    {"pl", "Polish"},
    {"ps", "Pashto"},
    {"pt", "Portuguese"},
    {"qu", "Quechua"},
    {"rm", "Romansh"},
    {"rn", "Rundi"},
    {"ro", "Romanian"},
    {"ru", "Russian"},
    {"rw", "Kinyarwanda"},
    {"sa", "Sanskrit"},
    {"sc", "Sardinian"},
    {"sd", "Sindhi"},
    {"se", "Northern Sami"},
    {"sg", "Sango"},
    {"si", "Sinhala"},
    {"sk", "Slovak"},
    {"sl", "Slovenian"},
    {"sm", "Samoan"},
    {"sn", "Shona"},
    {"so", "Somali"},
    {"sq", "Albanian"},
    {"sr", "Serbian"},
    {"ss", "Swati"},
    {"st", "Southern Sotho"},
    {"su", "Sundanese"},
    {"sv", "Swedish"},
    {"sw", "Swahili"},
    {"ta", "Tamil"},
    {"te", "Telugu"},
    {"tg", "Tajik"},
    {"th", "Thai"},
    {"ti", "Tigrinya"},
    {"tk", "Turkmen"},
    {"tl", "Tagalog"},
    {"tn", "Tswana"},
    {"to", "Tonga"},
    {"tr", "Turkish"},
    {"ts", "Tsonga"},
    {"tt", "Tatar"},
    {"tw", "Twi"},
    {"ty", "Tahitian"},
    {"ug", "Uyghur"},
    {"uk", "Ukrainian"},
    {"ur", "Urdu"},
    {"uz", "Uzbek"},
    {"ve", "Venda"},
    {"vi", "Vietnamese"},
    {"vo", "Volapük"},
    {"wa", "Walloon"},
    {"wo", "Wolof"},
    {"xh", "Xhosa"},
    {"yi", "Yiddish"},
    {"yo", "Yoruba"},
    {"za", "Zhuang"},
    {"zh", "Chinese"},
    {"zu", "Zulu"},
}};

struct Variant {
  std::string_view tag, name;
};
constexpr std::array<Variant, 8> kVariants = {{{"Hans", "simplified"},
                                               {"Hant", "traditional"},
                                               {"Latn", "Latin"},
                                               {"Cyrl", "Cyrillic"},
                                               {"BR", "Brazil"},
                                               {"PT", "Portugal"},
                                               {"TW", "Taiwan"},
                                               {"CN", "China"}}};

const Language* find(std::string_view code) {
  const std::string_view first = code.substr(0, code.find('-'));
  const auto* found = std::find_if(kLanguages.begin(), kLanguages.end(),
                                   [first](const Language& language) { return language.code == first; });
  return found == kLanguages.end() ? nullptr : found;
}

}  // namespace

std::string language_name(std::string_view code) {
  const Language* language = find(code);
  if (language == nullptr) return std::string(code);
  std::string name(language->name);
  if (const std::size_t dash = code.find('-'); dash != std::string_view::npos) {
    std::string_view variant = code.substr(dash + 1);
    for (const Variant& v : kVariants) {
      if (v.tag == variant) variant = v.name;
    }
    name += " (" + std::string(variant) + ")";
  }
  return name;
}

bool is_language(std::string_view code) {
  return find(code) != nullptr;
}

// A pair is cut where a small letter follows the dash: scripts and regions begin with a capital or a digit.
std::optional<std::pair<std::string, std::string>> language_pair(std::string_view text) {
  std::size_t cut = std::string_view::npos;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && c != '-' && c != '_') return {};
    const bool small = i + 1 < text.size() && text[i + 1] >= 'a' && text[i + 1] <= 'z';
    if (c != '-' || !small) continue;
    if (cut != std::string_view::npos) return {};
    cut = i;
  }
  if (cut == std::string_view::npos || cut == 0) return {};
  return std::pair{std::string(text.substr(0, cut)), std::string(text.substr(cut + 1))};
}

}  // namespace fovea::text

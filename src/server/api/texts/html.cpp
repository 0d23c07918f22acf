#include "server/api/texts/html.hpp"

#include <array>
#include <charconv>

#include "text/unicode.hpp"

namespace fovea::server {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool letter(char c) {
  return lower(c) >= 'a' && lower(c) <= 'z';
}

// Elements whose content is not translated.
constexpr std::array<std::string_view, 8> kKept = {"script", "style", "code", "pre", "kbd", "samp", "textarea", "svg"};

// Where the tag that begins at `at` ends (one past >), or npos. Quoted values may hold >.
std::size_t tag_end(std::string_view html, std::size_t at) {
  char quote = 0;
  char before = 0;  // the last character that is not white space
  for (std::size_t i = at + 1; i < html.size(); ++i) {
    const char c = html[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if ((c == '"' || c == '\'') && before == '=') {
      quote = c;
    } else if (c == '>') {
      return i + 1;
    }
    if (static_cast<unsigned char>(c) > ' ') before = c;
  }
  return std::string_view::npos;
}

struct Tag {
  std::string name;  // in lower case
  bool closing = false;
  bool empty = false;  // <br/>
  bool kept = false;   // translate="no" or class notranslate
};

Tag read_tag(std::string_view tag) {
  Tag out;
  std::size_t i = 1;
  out.closing = i < tag.size() && tag[i] == '/';
  if (out.closing) ++i;
  while (i < tag.size() && (letter(tag[i]) || (tag[i] >= '0' && tag[i] <= '9') || tag[i] == '-')) {
    out.name += lower(tag[i++]);
  }
  out.empty = tag.size() >= 2 && tag[tag.size() - 2] == '/';
  std::string rest;
  for (const char c : tag.substr(i)) rest += lower(c);
  out.kept = rest.find("translate=\"no\"") != std::string::npos || rest.find("translate='no'") != std::string::npos ||
             rest.find("translate=no") != std::string::npos || rest.find("notranslate") != std::string::npos;
  return out;
}

bool is_void(std::string_view name) {
  for (const std::string_view v :
       {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}) {
    if (name == v) return true;
  }
  return false;
}

// One past the comment that begins at `at`, or 0 when none does.
std::size_t comment_end(std::string_view html, std::size_t at) {
  if (!html.substr(at).starts_with("<!--")) return 0;
  const std::size_t end = html.find("-->", at + 4);
  return end == std::string_view::npos ? html.size() : end + 3;
}

// Any other < is text.
bool begins_tag(std::string_view html, std::size_t at) {
  const char next = at + 1 < html.size() ? html[at + 1] : ' ';
  return letter(next) || next == '/' || next == '!' || next == '?';
}

// One past the closing tag of the element that was opened just before `at`; elements of the same name may be nested.
std::size_t element_end(std::string_view html, std::size_t at, const std::string& name) {
  if (name == "script" || name == "style" || name == "textarea") {  // no tags inside, only the end
    for (; (at = html.find("</", at)) != std::string_view::npos; at += 2) {
      std::size_t same = 0;
      while (same < name.size() && at + 2 + same < html.size() && lower(html[at + 2 + same]) == name[same]) ++same;
      if (same < name.size()) continue;
      const std::size_t end = html.find('>', at);
      return end == std::string_view::npos ? html.size() : end + 1;
    }
    return html.size();
  }
  int depth = 1;
  while ((at = html.find('<', at)) != std::string_view::npos) {
    if (const std::size_t end = comment_end(html, at); end != 0) {
      at = end;
      continue;
    }
    if (!begins_tag(html, at)) {
      ++at;
      continue;
    }
    const std::size_t end = tag_end(html, at);
    if (end == std::string_view::npos) break;
    const Tag tag = read_tag(html.substr(at, end - at));
    if (tag.name == name && !tag.empty) depth += tag.closing ? -1 : 1;
    if (depth == 0) return end;
    at = end;
  }
  return html.size();
}

struct Entity {
  std::string_view name;
  char32_t point;
};
constexpr std::array<Entity, 27> kEntities = {
    {{"amp", '&'},       {"lt", '<'},       {"gt", '>'},       {"quot", '"'},     {"apos", '\''},
     {"hellip", 0x2026}, {"ndash", 0x2013}, {"mdash", 0x2014}, {"lsquo", 0x2018}, {"rsquo", 0x2019},
     {"ldquo", 0x201C},  {"rdquo", 0x201D}, {"sbquo", 0x201A}, {"bdquo", 0x201E}, {"lsaquo", 0x2039},
     {"rsaquo", 0x203A}, {"euro", 0x20AC},  {"bull", 0x2022},  {"trade", 0x2122}, {"thinsp", 0x2009},
     {"ensp", 0x2002},   {"emsp", 0x2003},  {"OElig", 0x152},  {"oelig", 0x153},  {"Scaron", 0x160},
     {"scaron", 0x161},  {"Yuml", 0x178}}};
// Starting at U+00A0.
constexpr std::array<std::string_view, 96> kLatin1 = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",   "ordf",
    "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",   "acute",  "micro",
    "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",
    "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",
    "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute",
    "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave",
    "iacute", "icirc",  "iuml",   "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide",
    "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

// The character of the entity named between & and ;, or 0.
char32_t entity(std::string_view name) {
  if (name.starts_with('#')) {
    const bool hex = name.size() > 1 && lower(name[1]) == 'x';
    const std::string_view digits = name.substr(hex ? 2 : 1);
    std::uint32_t point = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), point, hex ? 16 : 10);
    const bool whole = error == std::errc() && end == digits.data() + digits.size() && !digits.empty();
    const bool real = point > 0 && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    return whole && real ? static_cast<char32_t>(point) : 0;
  }
  for (const Entity& e : kEntities) {
    if (e.name == name) return e.point;
  }
  for (std::size_t i = 0; i < kLatin1.size(); ++i) {
    if (kLatin1[i] == name) return static_cast<char32_t>(0xA0 + i);
  }
  return 0;
}

}  // namespace

std::vector<HtmlPart> html_parts(std::string_view html) {
  std::vector<HtmlPart> parts;
  std::size_t text = 0;  // start of the text that has not been added
  const auto kept = [&](std::size_t from, std::size_t to) {
    if (from > text) parts.push_back({html.substr(text, from - text), true});
    parts.push_back({html.substr(from, to - from), false});
    text = to;
  };
  for (std::size_t at = 0; (at = html.find('<', at)) != std::string_view::npos;) {
    if (const std::size_t end = comment_end(html, at); end != 0) {
      kept(at, end);
      at = text;
      continue;
    }
    if (!begins_tag(html, at)) {
      ++at;
      continue;
    }
    const std::size_t end = tag_end(html, at);
    if (end == std::string_view::npos) break;  // a tag without an end: the rest is text
    const Tag tag = read_tag(html.substr(at, end - at));
    bool whole = tag.kept;
    for (const std::string_view name : kKept) whole = whole || tag.name == name;
    whole = whole && !tag.closing && !tag.empty && !is_void(tag.name) && !tag.name.empty();
    kept(at, whole ? element_end(html, end, tag.name) : end);
    at = text;
  }
  if (text < html.size()) parts.push_back({html.substr(text), true});
  return parts;
}

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '\xC2' && i + 1 < text.size() && text[i + 1] == '\xA0') {
      out += "&nbsp;";
      ++i;
    } else {
      out += c;
    }
  }
  return out;
}

std::string html_unescape(std::string_view html) {
  std::string out;
  out.reserve(html.size());
  constexpr std::size_t longest = 10;
  for (std::size_t i = 0; i < html.size();) {
    const std::size_t end = html[i] == '&' ? html.substr(0, i + longest).find(';', i) : std::string_view::npos;
    const char32_t point = end == std::string_view::npos ? 0 : entity(html.substr(i + 1, end - i - 1));
    if (point != 0) {
      text::append_utf8(out, point);
      i = end + 1;
    } else {
      out += html[i++];
    }
  }
  return out;
}

}  // namespace fovea::server

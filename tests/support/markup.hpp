// A small checker of XML: enough to hold every SVG that Fovea draws to well-formedness.
#pragma once

#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::test {

/// What is wrong with the XML text, or nothing when it is well-formed: one root, tags that close in order, quoted and
/// unique attributes, known entities, no raw '<' or '&', no control characters.
inline std::string malformed(std::string_view xml) {
  std::vector<std::string> open;
  bool had_root = false;
  std::size_t at = 0;
  const auto problem = [&](const std::string& what) { return what + " before: " + std::string(xml.substr(at, 60)); };
  const auto check_text = [](std::string_view text) -> std::string {
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 && c != '\n' && c != '\t' && c != '\r') return "control character";
      if (text[i] == '<') return "raw <";
      if (text[i] != '&') continue;
      const std::string_view entity = text.substr(i, text.find(';', i) - i + 1);
      if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;" && entity != "&#39;") {
        return "unknown entity";
      }
    }
    return {};
  };
  while (at < xml.size()) {
    const std::size_t begin = xml.find('<', at);
    const std::string_view text = xml.substr(at, begin == xml.npos ? begin : begin - at);
    if (const std::string what = check_text(text); !what.empty()) return problem(what);
    if (open.empty() && text.find_first_not_of(" \n") != text.npos) return problem("text outside of the root");
    if (begin == xml.npos) break;
    at = begin + 1;
    const std::size_t end = xml.find('>', at);
    if (end == xml.npos) return problem("a tag without end");
    std::string_view tag = xml.substr(at, end - at);
    if (tag.starts_with('/')) {
      if (open.empty() || open.back() != tag.substr(1)) return problem("a closing tag that nothing opened");
      open.pop_back();
      at = end + 1;
      continue;
    }
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    const std::size_t name_end = std::min(tag.find_first_of(" \n"), tag.size());
    const std::string name(tag.substr(0, name_end));
    if (name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0) return problem("no tag name");
    if (open.empty() && had_root) return problem("a second root");
    had_root = true;
    std::string_view rest = tag.substr(name_end);
    std::vector<std::string> seen;
    while (rest.find_first_not_of(" \n") != rest.npos) {
      rest.remove_prefix(rest.find_first_not_of(" \n"));
      const std::size_t equals = rest.find("=\"");
      if (equals == rest.npos) return problem("an attribute without a quoted value");
      const std::string key(rest.substr(0, equals));
      for (const std::string& other : seen) {
        if (other == key) return problem("attribute " + key + " twice");
      }
      seen.push_back(key);
      const std::size_t close = rest.find('"', equals + 2);
      if (close == rest.npos) return problem("an attribute without an end");
      if (!check_text(rest.substr(equals + 2, close - equals - 2)).empty()) return problem("a bad attribute value");
      rest.remove_prefix(close + 1);
    }
    if (!empty) open.push_back(name);
    at = end + 1;
  }
  if (!open.empty()) return "unclosed " + open.back();
  return had_root ? "" : "no root";
}

inline std::size_t count(std::string_view text, std::string_view what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

}  // namespace fovea::test

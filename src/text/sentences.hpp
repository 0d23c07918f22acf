// A text cut into sentences, for models that were trained on sentences.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace fovea::text {

/// A part of a text; the parts together, white space included, are the text.
struct Part {
  std::string_view text;
  bool sentence = false;  // false: white space between sentences, and line ends
};

/// Cuts at line ends, after the marks that end a sentence (. ! ? … and their Chinese, Japanese and Indian kin) and, in
/// what is longer than `longest` characters, at the last comma or space before. A full stop ends a sentence only before
/// a space and a word that may begin one, and not after an initial or one of a few abbreviations: "Dr. Smith" and
/// "3 Mar. 2021" stay whole. The views are into `utf8`, which must be UTF-8.
[[nodiscard]] std::vector<Part> split_sentences(std::string_view utf8, std::size_t longest);

}  // namespace fovea::text

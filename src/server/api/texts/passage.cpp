#include "server/api/texts/passage.hpp"

#include <algorithm>
#include <iterator>

#include "server/api/texts/html.hpp"
#include "text/sentences.hpp"
#include "text/unicode.hpp"

namespace fovea::server {
namespace {

bool starts_unspaced(std::string_view text) {
  std::size_t at = 0;
  return !text.empty() && text::is_unspaced(text::next_code_point(text, at));
}

bool ends_unspaced(std::string_view text) {
  if (text.empty()) return false;
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) --at;
  return text::is_unspaced(text::next_code_point(text, at));
}

}  // namespace

void Passage::keep(std::string_view text) {
  if (!text.empty()) pieces_.push_back({std::string(text)});
}

void Passage::add_text(std::string_view text, std::size_t longest, const LineLimit& limit, bool html) {
  for (const text::Part& part : text::split_sentences(text, longest)) {
    if (part.sentence && longest > 1 && limit.fits && !limit.fits(part.text)) {
      add_text(part.text, std::max<std::size_t>(1, longest / 2), limit, html);
    } else if (part.sentence) {
      pieces_.push_back({{}, true, html});
      lines_.emplace_back(part.text);
    } else {
      pieces_.push_back({html ? html_escape(part.text) : std::string(part.text)});
    }
  }
}

Passage Passage::of_text(std::string_view text, const LineLimit& limit) {
  Passage passage;
  passage.add_text(text, limit.characters, limit, false);
  return passage;
}

Passage Passage::of_html(std::string_view html, const LineLimit& limit) {
  Passage passage;
  for (const HtmlPart& part : html_parts(html)) {
    if (part.text) {
      // A line break inside a paragraph becomes a space; white space around the paragraph stays.
      std::string text = html_unescape(part.bytes);
      const auto blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
      const auto first = std::find_if_not(text.begin(), text.end(), blank);
      const auto last = std::find_if_not(text.rbegin(), std::make_reverse_iterator(first), blank).base();
      std::replace_if(first, last, blank, ' ');
      passage.add_text(text, limit.characters, limit, true);
    } else {
      passage.keep(part.bytes);
    }
  }
  return passage;
}

std::string Passage::with(const std::function<const std::string&(std::size_t)>& output) const {
  std::string out;
  std::size_t line = 0;
  bool after_line = false;
  for (const Piece& piece : pieces_) {
    if (!piece.line) {
      // A single space after a sentence is dropped in scripts without spaces.
      if (!(after_line && piece.kept == " " && ends_unspaced(out) && line < lines_.size())) out += piece.kept;
      after_line = false;
      continue;
    }
    const std::string& text = output(line++);
    if (after_line && !text.empty() && !ends_unspaced(out) && !starts_unspaced(text)) out += ' ';
    out += piece.escaped ? html_escape(text) : text;
    after_line = true;
  }
  return out;
}

}  // namespace fovea::server

// A text or a piece of HTML: what of it goes through a model, and what stays as it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::server {

class Passage {
 public:
  /// Sentences go through the model; line ends and white space stay. `longest`: characters a model reads at once.
  [[nodiscard]] static Passage of_text(std::string_view text, std::size_t longest);
  /// Text between tags goes through the model, with its entities decoded before and encoded after. Tags, comments, what
  /// stands in script, style, code, pre and textarea, and elements with translate="no" stay, byte for byte.
  [[nodiscard]] static Passage of_html(std::string_view html, std::size_t longest);

  /// What a model shall read, in order.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// The whole with output(i) in the place of line i. Where the source had no space between two sentences and the
  /// outputs' script needs one, it is put there.
  [[nodiscard]] std::string with(const std::function<const std::string&(std::size_t)>& output) const;

 private:
  struct Piece {
    std::string kept;  // unless it is a line
    bool line = false;
    bool escaped = false;  // its output stands in HTML
  };
  void add_text(std::string_view text, std::size_t longest, bool html);
  void keep(std::string_view text);

  std::vector<Piece> pieces_;
  std::vector<std::string> lines_;
};

}  // namespace fovea::server

// A text or a piece of HTML: what of it goes through a model, and what stays as it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::server {

/// What a model reads at once.
struct LineLimit {
  // NOLINTNEXTLINE(google-explicit-constructor): a number of characters is a limit
  LineLimit(std::size_t most, std::function<bool(std::string_view)> short_enough = {})
      : characters(most), fits(std::move(short_enough)) {}

  std::size_t characters;
  std::function<bool(std::string_view)> fits;  // whether a line is short enough otherwise too; may be empty
};

class Passage {
 public:
  /// Sentences go through the model; line ends and white space stay. What is longer than the limit is cut.
  [[nodiscard]] static Passage of_text(std::string_view text, const LineLimit& limit);
  /// Text between tags goes through the model, with its entities decoded before and encoded after. Tags, comments, what
  /// stands in script, style, code, pre and textarea, and elements with translate="no" stay, byte for byte.
  [[nodiscard]] static Passage of_html(std::string_view html, const LineLimit& limit);

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
  void add_text(std::string_view text, std::size_t longest, const LineLimit& limit, bool html);
  void keep(std::string_view text);

  std::vector<Piece> pieces_;
  std::vector<std::string> lines_;
};

}  // namespace fovea::server

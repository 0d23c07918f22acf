// Splits a text or HTML into lines for a model and the parts that stay.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::server {

/// The longest line that a model reads.
struct LineLimit {
  // NOLINTNEXTLINE(google-explicit-constructor): a number of characters converts to a limit
  LineLimit(std::size_t most, std::function<bool(std::string_view)> short_enough = {})
      : characters(most), fits(std::move(short_enough)) {}

  std::size_t characters;
  std::function<bool(std::string_view)> fits;  // a further condition, such as a number of tokens; may be empty
};

class Passage {
 public:
  /// Sentences become lines; line ends and white space stay. A sentence above the limit is split.
  [[nodiscard]] static Passage of_text(std::string_view text, const LineLimit& limit);
  /// Text between tags becomes lines, with entities decoded; with() encodes them again. Tags, comments, the content of
  /// script, style, code, pre and textarea, and elements with translate="no" stay byte for byte.
  [[nodiscard]] static Passage of_html(std::string_view html, const LineLimit& limit);

  /// The lines for the model, in order.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  /// The whole with output(i) instead of line i. A space is added between two sentences where the script of the outputs
  /// needs one and the source has none.
  [[nodiscard]] std::string with(const std::function<const std::string&(std::size_t)>& output) const;

 private:
  struct Piece {
    std::string kept;  // empty for a line
    bool line = false;
    bool escaped = false;  // its output is encoded for HTML
  };
  void add_text(std::string_view text, std::size_t longest, const LineLimit& limit, bool html);
  void keep(std::string_view text);

  std::vector<Piece> pieces_;
  std::vector<std::string> lines_;
};

}  // namespace fovea::server

// Attention to a picture: the weights of each word over it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/picture.hpp"
#include "view/svg/svg.hpp"
#include "view/terminal/terminal.hpp"

namespace fovea::view {

/// The square of a picture that its regions cover, as a data: URL of a small JPEG. Throws FileError naming the picture.
[[nodiscard]] std::string picture_address(const PictureFiles& files, const std::string& place);
/// The same of pixels.
[[nodiscard]] std::string picture_address(const Picture& picture);

/// A filmstrip: the picture, then once for each word, darkened where the word did not attend, with the exact weights in
/// tooltips. `address` is the picture's.
[[nodiscard]] SvgPiece svg_filmstrip(const AttentionRecord& record, const AttentionMatrix& weights,
                                     const std::string& address);

/// The weights as a small grid of shades for each word, side by side as far as they fit.
[[nodiscard]] std::string draw_picture_grids(const AttentionRecord& record, const AttentionMatrix& weights,
                                             const TerminalStyle& style);

/// The page of `fovea view --html` for pictures: pointing at a word shows what it attended to. Each record with its
/// picture's address.
[[nodiscard]] std::string picture_page(const std::vector<std::pair<AttentionRecord, std::string>>& pictures,
                                       const std::string& title);

}  // namespace fovea::view

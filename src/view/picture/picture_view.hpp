// Attention to a picture: the weights of each word laid over it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/picture.hpp"
#include "view/svg.hpp"
#include "view/terminal.hpp"

namespace fovea::view {

/// The square of a picture that its regions cover, as a data: address of a small JPEG. Throws FileError naming it.
[[nodiscard]] std::string picture_address(const PictureFiles& files, const std::string& place);
/// The same of pixels.
[[nodiscard]] std::string picture_address(const Picture& picture);

/// A filmstrip: the picture, then once more for each word with what it did not attend to in the dark; the exact weights
/// in tooltips. `address` is the picture's.
[[nodiscard]] SvgPiece svg_filmstrip(const AttentionRecord& record, const AttentionMatrix& weights,
                                     const std::string& address);

/// The weights as a small grid of shades for each word, as many beside each other as the terminal has room for.
[[nodiscard]] std::string draw_picture_grids(const AttentionRecord& record, const AttentionMatrix& weights,
                                             const TerminalStyle& style);

/// The page of `fovea view --html` for pictures: pointing at a word shows what it attended to. Each record with its
/// picture's address.
[[nodiscard]] std::string picture_page(const std::vector<std::pair<AttentionRecord, std::string>>& pictures,
                                       const std::string& title);

}  // namespace fovea::view

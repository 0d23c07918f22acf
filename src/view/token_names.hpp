// Display names of tokens, the same as on the page (web/attention/weights.js).
#pragma once

#include <string>
#include <vector>

namespace fovea::view {

/// Pieces that continue a word are marked, word boundaries are not: ▁ver st ehen as ver ·st ·ehen. </s>, <s> and <unk>
/// are ‹end›, ‹start› (between the turns of a conversation ‹turn›) and ‹unknown›.
[[nodiscard]] std::vector<std::string> token_names(const std::vector<std::string>& tokens);

}  // namespace fovea::view

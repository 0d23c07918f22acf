// What tokens are called in pictures, as the page calls them.
#pragma once

#include <string>
#include <vector>

namespace fovea::view {

/// A piece's word boundary is not shown, its going on is: ▁ver st ehen as ver ·st ·ehen. </s>, <s> and <unk> are ‹end›,
/// ‹start› (between the turns of a conversation ‹turn›) and ‹unknown›.
[[nodiscard]] std::vector<std::string> token_names(const std::vector<std::string>& tokens);

}  // namespace fovea::view

// CIDEr-D over captions whose words are numbers already.
#pragma once

#include <string>
#include <vector>

namespace fovea::metrics {

/// CIDEr-D (Vedantam et al. 2015, eq. 2 to 4), the mean over the captions, 1 being 10 times a perfect cosine. Captions
/// and references share one numbering of words.
[[nodiscard]] double cider_d(const std::vector<std::u32string>& captions,
                             const std::vector<std::vector<std::u32string>>& references);

}  // namespace fovea::metrics

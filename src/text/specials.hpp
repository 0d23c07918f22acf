// The ids that mean the same in every vocabulary.
#pragma once

#include "fovea/text.hpp"

namespace fovea {

inline constexpr std::int32_t kPad = pad_id;
inline constexpr std::int32_t kUnknown = unk_id;
inline constexpr std::int32_t kBegin = bos_id;  // <s>
inline constexpr std::int32_t kEnd = eos_id;    // </s>
inline constexpr std::int32_t kSpecials = special_ids;

}  // namespace fovea

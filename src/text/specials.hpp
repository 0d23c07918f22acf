// The ids that mean the same in every vocabulary.
#pragma once

#include <cstdint>

namespace fovea {

inline constexpr std::int32_t kPad = 0;
inline constexpr std::int32_t kUnknown = 1;
inline constexpr std::int32_t kBegin = 2;  // <s>
inline constexpr std::int32_t kEnd = 3;    // </s>
inline constexpr std::int32_t kSpecials = 4;

}  // namespace fovea

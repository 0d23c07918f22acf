// What every Highway kernel source includes first. FOVEA_ISA (avx2, avx512) is set by the build.
// Kernel sources use no std:: templates: a weak symbol compiled here could be picked by the linker for generic code.
#pragma once

#include <hwy/highway.h>

#if defined(FOVEA_ISA_avx512)
static_assert(HWY_STATIC_TARGET == HWY_AVX3 || HWY_STATIC_TARGET == HWY_AVX3_DL, "Highway fell to a lower target");
#elif defined(FOVEA_ISA_avx2)
static_assert(HWY_STATIC_TARGET == HWY_AVX2, "Highway fell to a lower target");
#endif

namespace fovea::kernels {
namespace hn = hwy::HWY_NAMESPACE;
}

// What every Highway kernel source includes first. FOVEA_ISA (avx2, avx512, neon) is set by the build.
// Kernel sources use no std:: templates: a weak symbol compiled here could be picked by the linker for generic code.
#pragma once

#include <hwy/highway.h>

#if defined(FOVEA_ISA_avx512)
static_assert(HWY_STATIC_TARGET == HWY_AVX3 || HWY_STATIC_TARGET == HWY_AVX3_DL, "Highway fell to a lower target");
#elif defined(FOVEA_ISA_avx2)
static_assert(HWY_STATIC_TARGET == HWY_AVX2, "Highway fell to a lower target");
#elif defined(FOVEA_ISA_neon)
static_assert(HWY_STATIC_TARGET == HWY_NEON, "Highway fell to a lower target");
#endif

// AVX-512 and NEON have 32 vector registers, AVX2 has 16.
#if defined(FOVEA_ISA_avx2)
#define FOVEA_REGISTERS 16
#else
#define FOVEA_REGISTERS 32
#endif

namespace fovea::kernels {
namespace hn = hwy::HWY_NAMESPACE;

namespace FOVEA_ISA {

/// The lanes of p that `mask`, some first lanes, has; 0 in the others. Nothing else is read: NEON has no such load, and
/// Highway's MaskedLoad reads the whole vector there.
template <class D, class M>
HWY_INLINE hn::Vec<D> load_first(M mask, D d, const float* p) {
#if defined(FOVEA_ISA_neon)
  const uint32x4_t lanes = mask.raw;
  if (vgetq_lane_u32(lanes, 3) != 0) return hn::LoadU(d, p);
  if (vgetq_lane_u32(lanes, 1) != 0) {
    const float32x4_t two = vcombine_f32(vld1_f32(p), vdup_n_f32(0));
    return hn::Vec<D>(vgetq_lane_u32(lanes, 2) != 0 ? vld1q_lane_f32(p + 2, two, 2) : two);
  }
  if (vgetq_lane_u32(lanes, 0) != 0) return hn::Vec<D>(vld1q_lane_f32(p, vdupq_n_f32(0), 0));
  return hn::Zero(d);
#else
  return hn::MaskedLoad(mask, d, p);
#endif
}

/// Stores those lanes, and touches nothing else.
template <class V, class M, class D>
HWY_INLINE void store_first(V v, M mask, D d, float* p) {
#if defined(FOVEA_ISA_neon)
  const uint32x4_t lanes = mask.raw;
  if (vgetq_lane_u32(lanes, 3) != 0) {
    hn::StoreU(v, d, p);
  } else if (vgetq_lane_u32(lanes, 1) != 0) {
    vst1_f32(p, vget_low_f32(v.raw));
    if (vgetq_lane_u32(lanes, 2) != 0) vst1q_lane_f32(p + 2, v.raw, 2);
  } else if (vgetq_lane_u32(lanes, 0) != 0) {
    vst1q_lane_f32(p, v.raw, 0);
  }
#else
  hn::BlendedStore(v, mask, d, p);
#endif
}

}  // namespace FOVEA_ISA
}  // namespace fovea::kernels

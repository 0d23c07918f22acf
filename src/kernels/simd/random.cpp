#include "kernels/random.hpp"

#include "kernels/simd/map-inl.hpp"
#include "kernels/simd/random-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

template <bool kAdd>
HWY_INLINE Floats scaled(hn::Mask<F> dropped, Floats scale, Floats x, const float* y) {
  const Floats v = hn::IfThenZeroElse(dropped, hn::Mul(x, scale));
  if constexpr (kAdd) return hn::Add(v, hn::LoadU(F(), y));
  return v;
}

// Up to 32 values one vector at a time, whatever their counter.
template <bool kAdd>
HWY_INLINE void few(const DropoutMask& mask, std::int64_t number, const float* x, float* y, std::int64_t n) {
  const F f;
  const Floats scale = hn::Set(f, mask.scale());
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const auto inside = hn::FirstN(f, static_cast<std::size_t>(n - i));
    Floats v = hn::IfThenZeroElse(mask.dropped(f, number + i), hn::Mul(load_first(inside, f, x + i), scale));
    if constexpr (kAdd) v = hn::Add(v, load_first(inside, f, y + i));
    store_first(v, inside, f, y + i);
  }
}

template <bool kAdd>
void run(const Dropout& how, const float* x, float* y, std::int64_t n) {
  const F f;
  const DropoutMask mask(how);
  const Floats scale = hn::Set(f, mask.scale());
  const auto unaligned = static_cast<std::int64_t>((0 - how.counter) & 31U);
  std::int64_t i = unaligned < n ? unaligned : n;
  few<kAdd>(mask, 0, x, y, i);
  std::uint64_t counter = how.counter + static_cast<std::uint64_t>(i);
  while (i + 32 <= n) {
    // As far as the key goes.
    const std::uint64_t left = (((counter >> 32) + 1) << 32) - counter;
    const std::int64_t whole = (n - i) / 32 * 32;
    const std::int64_t end = i + (left < static_cast<std::uint64_t>(whole) ? static_cast<std::int64_t>(left) : whole);
    counter += static_cast<std::uint64_t>(end - i);
    const DropoutKey key = mask.key_of(counter - 1);
    auto place = mask.place(f, key, counter - static_cast<std::uint64_t>(end - i));
    const auto step = hn::Set(hn::RebindToUnsigned<F>(), static_cast<std::uint32_t>(kLanes));
    for (; i < end; i += 32) {
      for (std::int64_t a = i; a < i + 16; a += kLanes) {
        const auto word = mask.words(f, key, place);
        place = hn::Add(place, step);
        const std::int64_t b = a + 16;
        hn::StoreU(scaled<kAdd>(mask.first_dropped(f, word), scale, hn::LoadU(f, x + a), y + a), f, y + a);
        hn::StoreU(scaled<kAdd>(mask.second_dropped(f, word), scale, hn::LoadU(f, x + b), y + b), f, y + b);
      }
    }
  }
  few<kAdd>(mask, i, x + i, y + i, n - i);
}

void dropout(const Dropout& how, const float* x, float* y, std::int64_t n, bool add) {
  if (add) {
    run<true>(how, x, y, n);
  } else {
    run<false>(how, x, y, n);
  }
}

}  // namespace

extern const RandomKernels random;
const RandomKernels random = {.dropout = dropout};

}  // namespace fovea::kernels::FOVEA_ISA

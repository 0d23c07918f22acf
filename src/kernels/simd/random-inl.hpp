// Dropout masks on vectors, bit for bit those of random.hpp, for every Highway kernel source that drops values inside
// its own loop.
#pragma once

#include "kernels/random.hpp"
#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {

/// The state of one array's dropout, made once per kernel call.
class DropoutMask {
 public:
  explicit HWY_INLINE DropoutMask(const Dropout& how)
      : seed_(how.seed),
        counter_(how.counter),
        high_(how.counter >> 32),
        key_(dropout_key(how.seed, high_)),
        threshold_(dropout_threshold(how.rate)),
        scale_(1 / (1 - how.rate)) {}

  /// What kept values are multiplied with.
  [[nodiscard]] HWY_INLINE float scale() const { return scale_; }
  [[nodiscard]] HWY_INLINE std::uint64_t counter() const { return counter_; }

  /// Which lanes are dropped, when lane l holds value number `number` + l of the array.
  template <class D>
  [[nodiscard]] HWY_INLINE hn::Mask<D> dropped(D d, std::int64_t number) const {
    const hn::RebindToUnsigned<D> du;
    return dropped_at(d, number, hn::Iota(du, 0), static_cast<std::uint32_t>(hn::Lanes(d)));
  }

  /// The same when lane l holds value number `number` + offset[l], all offsets being less than `reach` <= 2^31.
  template <class D>
  [[nodiscard]] HWY_INLINE hn::Mask<D> dropped_at(D d, std::int64_t number, hn::Vec<hn::RebindToUnsigned<D>> offset,
                                                  std::uint32_t reach) const {
    const hn::RebindToUnsigned<D> du;
    const std::uint64_t first = counter_ + static_cast<std::uint64_t>(number);
    const auto first_low = static_cast<std::uint32_t>(first);
    const auto low = hn::Add(hn::Set(du, first_low), offset);
    const DropoutKey key = HWY_LIKELY(first >> 32 == high_) ? key_ : dropout_key(seed_, first >> 32);
    auto test = tests(du, key, low);
    if (HWY_UNLIKELY(first_low > 0xFFFFFFFFU - reach)) {  // some lanes' counters are in the next 2^32
      const auto next = tests(du, dropout_key(seed_, (first >> 32) + 1), low);
      test = hn::IfThenElse(hn::Lt(low, hn::Set(du, first_low)), next, test);
    }
    return drops(d, test);
  }

  /// For 32 values whose first counter is a multiple of 32: the words that decide for values l and 16 + l, given
  /// their place, which starts at place(counter) and grows by 16 every 32 values until the counter reaches the next
  /// 2^32. Lane l is value l, or 8 + l when 8 was added to the place.
  template <class D>
  [[nodiscard]] HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> place(D, DropoutKey key, std::uint64_t counter) const {
    return hn::Iota(hn::RebindToUnsigned<D>(), (static_cast<std::uint32_t>(counter) >> 1) + key.first);
  }
  template <class D, class V>
  [[nodiscard]] HWY_INLINE V words(D, DropoutKey key, V place) const {
    return hashed(hn::RebindToUnsigned<D>(), key, place);
  }
  /// Which of the first, or of the second 16 values are dropped.
  template <class D, class V>
  [[nodiscard]] HWY_INLINE hn::Mask<D> first_dropped(D d, V word) const {
    return drops(d, hn::Xor(word, hn::ShiftLeft<16>(word)));
  }
  template <class D, class V>
  [[nodiscard]] HWY_INLINE hn::Mask<D> second_dropped(D d, V word) const {
    return drops(d, word);
  }
  [[nodiscard]] HWY_INLINE DropoutKey key_of(std::uint64_t counter) const { return dropout_key(seed_, counter >> 32); }

 private:
  template <class DU, class V>
  static HWY_INLINE V hashed(DU du, DropoutKey key, V x) {
    x = hn::Xor(x, hn::ShiftRight<16>(x));
    x = hn::Xor(hn::Mul(x, hn::Set(du, 0x85EBCA6BU)), hn::Set(du, key.second));
    x = hn::Xor(x, hn::ShiftRight<13>(x));
    return hn::Mul(x, hn::Set(du, 0xC2B2AE35U));
  }
  template <class DU, class V>
  static HWY_INLINE V tests(DU du, DropoutKey key, V low) {
    const V w = hn::Or(hn::AndNot(hn::Set(du, 15U), hn::ShiftRight<1>(low)), hn::And(low, hn::Set(du, 15U)));
    const V word = hashed(du, key, hn::Add(w, hn::Set(du, key.first)));
    const auto second = hn::TestBit(low, hn::Set(du, 16U));
    return hn::Xor(word, hn::IfThenZeroElse(second, hn::ShiftLeft<16>(word)));
  }
  template <class D, class V>
  [[nodiscard]] HWY_INLINE hn::Mask<D> drops(D d, V test) const {
    const hn::RebindToSigned<D> di;
    return hn::RebindMask(d, hn::Lt(hn::BitCast(di, test), hn::Set(di, threshold_)));
  }

  std::uint64_t seed_;
  std::uint64_t counter_;
  std::uint64_t high_;
  DropoutKey key_;
  std::int32_t threshold_;
  float scale_;
};

}  // namespace fovea::kernels::FOVEA_ISA

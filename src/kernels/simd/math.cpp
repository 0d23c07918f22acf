#include "kernels/math.hpp"

#include "kernels/simd/map-inl.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

// The functions on vectors as objects that the loops can take.
#define FOVEA_FUNCTION(Name)                                              \
  struct Name##Function {                                                 \
    HWY_INLINE Floats operator()(Floats x) const { return Name(F(), x); } \
  };                                                                      \
  void Map##Name(const float* x, float* y, std::size_t n) {               \
    MapArray(x, y, n, Name##Function());                                  \
  }
FOVEA_FUNCTION(Exp2)
FOVEA_FUNCTION(ExpNeg)
FOVEA_FUNCTION(Exp2Neg)
FOVEA_FUNCTION(Tanh)
FOVEA_FUNCTION(Sigmoid)
FOVEA_FUNCTION(Relu)
FOVEA_FUNCTION(LeakyRelu)
FOVEA_FUNCTION(Gelu)
FOVEA_FUNCTION(GeluTanh)
FOVEA_FUNCTION(Swish)
FOVEA_FUNCTION(Log)

#if defined(FOVEA_ISA_avx512)
FOVEA_FUNCTION(Exp)
#else
// Without a scaling instruction the full range costs half as much again as ordinary results do, so four vectors at a
// time are checked first.
void MapExp(const float* x, float* y, std::size_t n) {
  const F f;
  const hn::RebindToSigned<F> di;
  const auto magnitude = hn::Set(di, 0x7fffffff);
  const auto limit = hn::BitCast(di, hn::Set(f, 87.33F));  // as integers NaN and infinity are larger
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Floats a = hn::LoadU(f, x + i);
    const Floats b = hn::LoadU(f, x + i + kLanes);
    const Floats c = hn::LoadU(f, x + i + 2 * kLanes);
    const Floats e = hn::LoadU(f, x + i + 3 * kLanes);
    const auto largest =
        hn::Max(hn::Max(hn::And(hn::BitCast(di, a), magnitude), hn::And(hn::BitCast(di, b), magnitude)),
                hn::Max(hn::And(hn::BitCast(di, c), magnitude), hn::And(hn::BitCast(di, e), magnitude)));
    if (HWY_LIKELY(hn::AllTrue(di, hn::Lt(largest, limit)))) {
      hn::StoreU(ExpOrdinary(f, a), f, y + i);
      hn::StoreU(ExpOrdinary(f, b), f, y + i + kLanes);
      hn::StoreU(ExpOrdinary(f, c), f, y + i + 2 * kLanes);
      hn::StoreU(ExpOrdinary(f, e), f, y + i + 3 * kLanes);
    } else {
      hn::StoreU(Exp(f, a), f, y + i);
      hn::StoreU(Exp(f, b), f, y + i + kLanes);
      hn::StoreU(Exp(f, c), f, y + i + 2 * kLanes);
      hn::StoreU(Exp(f, e), f, y + i + 3 * kLanes);
    }
  }
  MapArray(x + i, y + i, n - i, [](Floats v) HWY_ATTR { return Exp(F(), v); });
}
#endif
#undef FOVEA_FUNCTION

// dx = Name##Grad(v, dy), or dx +=.
#define FOVEA_GRADIENT(Name)                                                                                   \
  struct Name##Gradient {                                                                                      \
    HWY_INLINE Floats operator()(Floats v, Floats dy) const { return Name##Grad(F(), v, dy); }                 \
    HWY_INLINE Floats operator()(Floats v, Floats dy, Floats dx) const { return hn::Add(dx, (*this)(v, dy)); } \
  };                                                                                                           \
  void Map##Name##Gradient(const float* v, const float* dy, float* dx, std::size_t n, bool add) {              \
    if (add) {                                                                                                 \
      UpdateArray(v, dy, dx, n, Name##Gradient());                                                             \
    } else {                                                                                                   \
      MapArrays(v, dy, dx, n, Name##Gradient());                                                               \
    }                                                                                                          \
  }
FOVEA_GRADIENT(Exp)
FOVEA_GRADIENT(Log)
FOVEA_GRADIENT(Tanh)
FOVEA_GRADIENT(Sigmoid)
FOVEA_GRADIENT(Relu)
FOVEA_GRADIENT(LeakyRelu)
FOVEA_GRADIENT(Gelu)
FOVEA_GRADIENT(GeluTanh)
FOVEA_GRADIENT(Swish)
#undef FOVEA_GRADIENT

struct Sum {
  HWY_INLINE Floats operator()(Floats a, Floats b) const { return hn::Add(a, b); }
};
struct Difference {
  HWY_INLINE Floats operator()(Floats a, Floats b) const { return hn::Sub(a, b); }
};
struct Product {
  HWY_INLINE Floats operator()(Floats a, Floats b) const { return hn::Mul(a, b); }
  HWY_INLINE Floats operator()(Floats a, Floats b, Floats y) const { return hn::MulAdd(a, b, y); }
};
struct Scaled {
  Floats s;
  HWY_INLINE Floats operator()(Floats x) const { return hn::Mul(s, x); }
  HWY_INLINE Floats operator()(Floats x, Floats y) const { return hn::MulAdd(s, x, y); }
};

void add(const float* a, const float* b, float* y, std::size_t n) {
  MapArrays(a, b, y, n, Sum());
}
void sub(const float* a, const float* b, float* y, std::size_t n) {
  MapArrays(a, b, y, n, Difference());
}
void mul(const float* a, const float* b, float* y, std::size_t n) {
  MapArrays(a, b, y, n, Product());
}
void mul_add(const float* a, const float* b, float* y, std::size_t n) {
  UpdateArray(a, b, y, n, Product());
}
void add_in_place(const float* x, float* y, std::size_t n) {
  MapArrays(x, y, y, n, Sum());
}
void scale(float s, const float* x, float* y, std::size_t n) {
  MapArray(x, y, n, Scaled{hn::Set(F(), s)});
}
void axpy(float s, const float* x, float* y, std::size_t n) {
  MapArrays(x, y, y, n, Scaled{hn::Set(F(), s)});
}

}  // namespace

extern const MathKernels math;
const MathKernels math = {
    .exp = MapExp,
    .exp2 = MapExp2,
    .exp_neg = MapExpNeg,
    .exp2_neg = MapExp2Neg,
    .tanh = MapTanh,
    .sigmoid = MapSigmoid,
    .relu = MapRelu,
    .leaky_relu = MapLeakyRelu,
    .gelu = MapGelu,
    .gelu_tanh = MapGeluTanh,
    .swish = MapSwish,
    .log = MapLog,
    .exp_backward = MapExpGradient,
    .log_backward = MapLogGradient,
    .tanh_backward = MapTanhGradient,
    .sigmoid_backward = MapSigmoidGradient,
    .relu_backward = MapReluGradient,
    .leaky_relu_backward = MapLeakyReluGradient,
    .gelu_backward = MapGeluGradient,
    .gelu_tanh_backward = MapGeluTanhGradient,
    .swish_backward = MapSwishGradient,
    .add = add,
    .sub = sub,
    .mul = mul,
    .mul_add = mul_add,
    .add_in_place = add_in_place,
    .scale = scale,
    .axpy = axpy,
};

}  // namespace fovea::kernels::FOVEA_ISA

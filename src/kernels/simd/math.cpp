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
FOVEA_FUNCTION(Exp)
FOVEA_FUNCTION(Exp2)
FOVEA_FUNCTION(ExpNeg)
FOVEA_FUNCTION(Exp2Neg)
FOVEA_FUNCTION(Tanh)
FOVEA_FUNCTION(Sigmoid)
FOVEA_FUNCTION(Relu)
FOVEA_FUNCTION(Gelu)
FOVEA_FUNCTION(Log)
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
FOVEA_GRADIENT(Tanh)
FOVEA_GRADIENT(Sigmoid)
FOVEA_GRADIENT(Relu)
FOVEA_GRADIENT(Gelu)
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
    .gelu = MapGelu,
    .log = MapLog,
    .tanh_backward = MapTanhGradient,
    .sigmoid_backward = MapSigmoidGradient,
    .relu_backward = MapReluGradient,
    .gelu_backward = MapGeluGradient,
    .add = add,
    .sub = sub,
    .mul = mul,
    .mul_add = mul_add,
    .add_in_place = add_in_place,
    .scale = scale,
    .axpy = axpy,
};

}  // namespace fovea::kernels::FOVEA_ISA

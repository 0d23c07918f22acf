// How exactly the matrix products of layers are computed.
#pragma once

#include "fovea/export.hpp"

namespace FOVEA_API fovea {

/// What the factors of a product are rounded to; sums are always fp32, and so is all that is stored.
enum class Precision {
  fp32,  // not rounded
  bf16,  // to 8 bits, the exponent kept (bfloat16): an error of up to 0.4% in each factor
};

/// How the numbers of a matrix are stored for inference. Sums are fp32, or exact.
enum class Storage {
  f32,   // as they were trained
  f16,   // in half precision: half as large; multiplied in fp32
  int8,  // whole numbers within +-127 times a scale per output: a quarter as large. What is multiplied with them is
         // rounded so too, row by row
};

/// "fp32", "f16" or "int8".
[[nodiscard]] const char* name_of(Storage storage);

/// The precision of matmul(), linear layers, recurrent cells, convolutions and projections, for the whole process. At
/// first: fp32. Attention's own products, softmax and the output layer are fp32 whatever it is.
[[nodiscard]] Precision precision();

/// Changes it. bf16 is a permission: kernels without it stay fp32, and so do small products. The generic kernels have
/// it, slowly, to compare with: ask has_bf16() first. Not while other threads compute.
void set_precision(Precision wanted);

/// Whether this CPU multiplies bf16 much faster than fp32, which takes the tiles of Intel's AMX, and the system lets
/// this process use them.
[[nodiscard]] bool has_bf16();

/// Another precision while it lives.
///
///     const ScopedPrecision exact(Precision::fp32);
class ScopedPrecision {
 public:
  /// Sets the precision until it is destroyed.
  explicit ScopedPrecision(Precision wanted) : before_(precision()) { set_precision(wanted); }
  ~ScopedPrecision() { set_precision(before_); }
  ScopedPrecision(const ScopedPrecision&) = delete;
  ScopedPrecision& operator=(const ScopedPrecision&) = delete;

 private:
  Precision before_;
};

}  // namespace fovea

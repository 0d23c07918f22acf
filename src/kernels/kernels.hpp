// The kernel tables: plain loops on pointers, one table per instruction set, chosen once at run time.
//
// Each family of kernels is a struct of function pointers declared in its own header (math.hpp, gemm.hpp, …).
// src/kernels/generic/FAMILY.cpp holds the plain version, which is the truth; src/kernels/simd/FAMILY.cpp is written
// once with Highway and compiled per instruction set. Kernels are serial: callers split the work.
#pragma once

#include <span>
#include <string_view>

namespace fovea::kernels {

struct AttentionKernels;
struct AttentionStepKernels;
struct Bf16Kernels;
struct CrossEntropyKernels;
struct GemmKernels;
struct HalfKernels;
struct Int8Kernels;
struct MathKernels;
struct OptimKernels;
struct RowKernels;
struct RandomKernels;
struct RnnKernels;
struct ConvKernels;

/// One instruction set's kernels.
struct Table {
  const char* name;  // "generic", "avx2", "avx512", "neon"
  const AttentionKernels* attention;
  const AttentionStepKernels* attention_step;
  const Bf16Kernels* bf16;  // null without tiles for it; generic's are there to compare with. See permitted_bf16()
  const CrossEntropyKernels* cross_entropy;
  const GemmKernels* gemm;
  const HalfKernels* half;
  const Int8Kernels* int8;
  const MathKernels* math;
  const OptimKernels* optim;
  const RowKernels* rows;
  const RandomKernels* random;
  const RnnKernels* rnn;
  const ConvKernels* conv;
};

/// The table in use: the best this CPU runs, or the one FOVEA_KERNELS names. Throws UsageError for an unknown or
/// unsupported name.
[[nodiscard]] const Table& active();

/// The active table's products in bf16, null if it has none or the system refuses: tile registers are so large that
/// Linux must be asked before their first use (since 5.16), and a process that may use them needs larger signal stacks.
/// So it is asked at the first use, and not before.
[[nodiscard]] const Bf16Kernels* permitted_bf16();

/// Every table this CPU can run, generic first.
[[nodiscard]] std::span<const Table* const> available();

/// Uses another table while it lives; for tests and benchmarks, one thread at a time.
class ScopedKernels {
 public:
  explicit ScopedKernels(const Table& table);
  ~ScopedKernels();
  ScopedKernels(const ScopedKernels&) = delete;
  ScopedKernels& operator=(const ScopedKernels&) = delete;

 private:
  const Table* before_;
};

}  // namespace fovea::kernels

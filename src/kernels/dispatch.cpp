#include <fmt/format.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "fovea/error.hpp"
#include "kernels/attention.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/bf16.hpp"
#include "kernels/conv.hpp"
#include "kernels/cross_entropy.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/half.hpp"
#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/optim.hpp"
#include "kernels/random.hpp"
#include "kernels/rnn.hpp"
#include "kernels/rows.hpp"

namespace fovea::kernels {

// The tables that each instruction set's objects export.
// clang-format off
#define FOVEA_DECLARE_TABLES(isa) namespace isa { \
  extern const AttentionKernels attention; \
  extern const AttentionStepKernels attention_step; \
  extern const CrossEntropyKernels cross_entropy; \
  extern const GemmKernels gemm; \
  extern const HalfKernels half; \
  extern const MathKernels math; \
  extern const OptimKernels optim; \
  extern const RowKernels rows; \
  extern const RandomKernels random; \
  extern const RnnKernels rnn; \
  extern const ConvKernels conv; \
  }
// clang-format on
FOVEA_DECLARE_TABLES(generic)
FOVEA_DECLARE_TABLES(avx2)
FOVEA_DECLARE_TABLES(avx512)
FOVEA_DECLARE_TABLES(neon)
#undef FOVEA_DECLARE_TABLES
namespace generic {
extern const Bf16Kernels bf16;
extern const Int8Kernels int8;
}  // namespace generic
namespace amx {
extern const Bf16Kernels bf16;
}
namespace avx2 {
extern const Int8Kernels int8;
}
namespace dotprod {
extern const Int8Kernels int8;
}
namespace vnni {
extern const Int8Kernels int8;
}

namespace {

// clang-format off
#define FOVEA_TABLE(isa, bf16_kernels, int8_kernels) { \
    .name = #isa, \
    .attention = &isa::attention, \
    .attention_step = &isa::attention_step, \
    .bf16 = (bf16_kernels), \
    .cross_entropy = &isa::cross_entropy, \
    .gemm = &isa::gemm, \
    .half = &isa::half, \
    .int8 = (int8_kernels), \
    .math = &isa::math, \
    .optim = &isa::optim, \
    .rows = &isa::rows, \
    .random = &isa::random, \
    .rnn = &isa::rnn, \
    .conv = &isa::conv, \
  }
// clang-format on
#ifdef FOVEA_HAVE_AMX
// Null unless the CPU has tiles of bf16.
const Bf16Kernels* find_bf16() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return nullptr;
  const bool tiles = (d >> 22U & 1U) != 0 && (d >> 24U & 1U) != 0;  // AMX-BF16, AMX-TILE
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) == 0) return nullptr;
  const bool rounds = (a >> 5U & 1U) != 0;  // AVX512_BF16
  return tiles && rounds ? &amx::bf16 : nullptr;
}
#endif

#ifdef FOVEA_HAVE_AVX512
// AVX-512 alone multiplies bytes no better than AVX2.
const Int8Kernels* find_int8() {
#ifdef FOVEA_HAVE_VNNI
  if (__builtin_cpu_supports("avx512vnni")) return &vnni::int8;
#endif
  return &avx2::int8;
}
#endif

#ifdef FOVEA_HAVE_NEON
const Int8Kernels* find_int8() {
#ifdef FOVEA_HAVE_DOTPROD
  constexpr unsigned long kDotProducts = 1UL << 20U;  // HWCAP_ASIMDDP
  if ((getauxval(AT_HWCAP) & kDotProducts) != 0) return &dotprod::int8;
#endif
  return &generic::int8;
}
#endif

const Table generic_table = FOVEA_TABLE(generic, &generic::bf16, &generic::int8);
#ifdef FOVEA_HAVE_AVX2
const Table avx2_table = FOVEA_TABLE(avx2, nullptr, &avx2::int8);
#endif
#ifdef FOVEA_HAVE_AVX512
const Table& avx512_table() {
  static const Table table = FOVEA_TABLE(avx512, find_bf16(), find_int8());
  return table;
}
#endif
#ifdef FOVEA_HAVE_NEON
const Table& neon_table() {
  static const Table table = FOVEA_TABLE(neon, nullptr, find_int8());
  return table;
}
#endif
#undef FOVEA_TABLE

std::vector<const Table*> find_available() {
  std::vector<const Table*> tables{&generic_table};
#ifdef FOVEA_HAVE_AVX2
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  if (avx2) tables.push_back(&avx2_table);
#ifdef FOVEA_HAVE_AVX512
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vl")) {
    tables.push_back(&avx512_table());
  }
#endif
#endif
#ifdef FOVEA_HAVE_NEON
  tables.push_back(&neon_table());  // every 64-bit ARM has it
#endif
  return tables;
}

const Table* choose() {
  const auto tables = available();
  const char* wanted = std::getenv("FOVEA_KERNELS");
  if (wanted == nullptr || *wanted == '\0') return tables.back();
  std::string names;
  for (const Table* table : tables) {
    if (std::string_view(wanted) == table->name) return table;
    names += (names.empty() ? "" : ", ") + std::string(table->name);
  }
  throw UsageError(fmt::format("FOVEA_KERNELS: \"{}\" is not one of what this machine runs: {}", wanted, names));
}

std::atomic<const Table*> current{nullptr};

}  // namespace

std::span<const Table* const> available() {
  static const std::vector<const Table*> tables = find_available();
  return tables;
}

const Table& active() {
  const Table* table = current.load(std::memory_order_acquire);
  if (table == nullptr) {
    table = choose();
    current.store(table, std::memory_order_release);
  }
  return *table;
}

const Bf16Kernels* permitted_bf16() {
  const Bf16Kernels* kernels = active().bf16;
#ifdef FOVEA_HAVE_AMX
  if (kernels == &amx::bf16) {
    constexpr long kRequestPermission = 0x1023;  // of arch_prctl
    constexpr long kTileData = 18;
    static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
    if (!granted) return nullptr;
  }
#endif
  return kernels;
}

ScopedKernels::ScopedKernels(const Table& table) : before_(&active()) {
  current.store(&table);
}
ScopedKernels::~ScopedKernels() {
  current.store(before_);
}

}  // namespace fovea::kernels

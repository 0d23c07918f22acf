// After the second step of a training loop of fixed shapes no call reaches malloc. The sanitizers bring a malloc of
// their own, so that with them there is nothing to count.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "fovea/precision.hpp"
#include "fovea/threads.hpp"
#include "fovea/train/adam.hpp"
#include "support/copy_task.hpp"
#include "tasks/pair_learner.hpp"
#include "train/workers.hpp"

namespace {

std::atomic<long> calls{0};

}  // namespace

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): glibc's own names
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t align, std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

void* malloc(std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t align, std::size_t bytes) {
  calls.fetch_add(1, std::memory_order_relaxed);
  return __libc_memalign(align, bytes);
}
}

namespace fovea {
namespace {

template <class Part>
void shrink(Part& part, int dim) {
  part.dim = dim;
  if constexpr (requires { part.layers = 1; }) part.layers = std::min(part.layers, 2);
  if constexpr (std::is_same_v<Part, TransformerConfig>) {
    part.ffn = 32;
    part.heads = 2;
  }
}

TEST(SteadyMemory, TheCounterCounts) {
  const long before = calls.load();
  std::vector<int> v(1000);
  v[0] = 1;
  EXPECT_GT(calls.load() + v[0], before + 1);
}

TEST(SteadyMemory, NoCallReachesMallocAfterTheSecondStep) {
  const int threads_before = threads();
  set_threads(1);  // when a second thread first takes a share of the work is a matter of timing
  struct How {
    float r_drop;
    Precision precision;
  };
  for (const auto& [r_drop, precision] :
       {How{0.0F, Precision::fp32}, How{3.0F, Precision::fp32}, How{0.0F, Precision::bf16}}) {
    const ScopedPrecision products(precision);
    for (const char* name : {"transformer-tiny", "rnn-bahdanau", "rnn-luong", "rnn-plain", "conditional", "cnn"}) {
      const bool bf16 = precision == Precision::bf16;
      SCOPED_TRACE(testing::Message() << name << ", R-Drop " << r_drop << (bf16 ? ", bf16" : ""));
      const bool conditional = std::string_view(name) == "conditional";
      ModelConfig config = preset(conditional ? "rnn-bahdanau" : name);
      DecoderConfig& decoder = config.generator().decoder;
      if (conditional) std::get<RnnDecoderConfig>(decoder).form = RnnForm::conditional;
      const int dim = bf16 ? 96 : 16;  // smaller products stay fp32
      std::visit([dim](auto& part) { shrink(part, dim); }, config.encoder);
      std::visit([dim](auto& part) { shrink(part, dim); }, decoder);
      config.tokens().embedding = config.generator().embedding = dim;
      config.tokens().vocabulary = config.generator().vocabulary = 20;
      Parameters parameters(1);
      const test::BackwardsTask task(32, 12, 9, 3);
      const LearnerFactory learners = pair_learners(config, task);
      const PairExamples examples(task);
      Workers workers(learners, parameters, threads(), processes());
      Adam adam(parameters, {.clip = 1});
      const auto all = task.all();
      std::vector<std::int64_t> batch = all;
      const auto step = [&](std::int64_t number) {
        std::copy(all.begin(), all.end(), batch.begin());
        const BatchTotals totals = workers.run(examples, batch, 64, 0.1F, {.label_smoothing = 0.1F, .r_drop = r_drop},
                                               static_cast<std::uint64_t>(number));
        adam.step(1e-3, 1.0 / static_cast<double>(totals.outputs));
      };
      const std::int64_t warm = 2;
      for (std::int64_t s = 1; s <= warm; ++s) step(s);
      const long before = calls.load();
      for (std::int64_t s = warm + 1; s <= warm + 3; ++s) step(s);
      EXPECT_EQ(calls.load() - before, 0);
    }
  }
  set_threads(threads_before);
}

}  // namespace
}  // namespace fovea
#endif

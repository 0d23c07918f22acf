#include "attention/tiled/fused.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "fovea/tensor.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "support/gradcheck.hpp"

namespace fovea::test {
namespace {

class ScopedThreads {
 public:
  explicit ScopedThreads(int count) : before_(threads()) { set_threads(count); }
  ~ScopedThreads() { set_threads(before_); }
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int before_;
};

template <class T>
HeadArray<T> heads_of(const Tensor& t) {
  return {t.data(), t.stride(0), t.stride(1), t.stride(2)};
}

// A batch of heads with its gradients, all contiguous.
struct Batch {
  Batch(const FusedShape& shape, bool additive, unsigned seed)
      : s(shape),
        q(random_tensor({s.batch, s.heads, s.queries, s.dim}, seed)),
        k(random_tensor({s.batch, s.key_heads, s.keys, s.dim}, seed + 1)),
        v(random_tensor({s.batch, s.key_heads, s.keys, s.value_dim}, seed + 2)),
        w(random_tensor({s.heads, s.dim}, seed + 3)),
        dout(random_tensor({s.batch, s.heads, s.queries, s.value_dim}, seed + 4)),
        out(Tensor::full(dout.shape(), 77)),
        stats(Tensor::full({s.batch, s.heads, 2, s.queries}, 77)),
        dq(Tensor::full(q.shape(), 77)),
        dk(Tensor::full(k.shape(), 77)),
        dv(Tensor::full(v.shape(), 77)),
        dw(Tensor::zeros(w.shape())) {
    a.shape = s;
    a.visibility.offset = s.keys - s.queries;
    a.scale = 0.3F;
    if (additive) {
      a.w = w.data();
      a.w_head = s.dim;
    }
  }
  void run() {
    a.q = heads_of<const float>(q);
    a.k = heads_of<const float>(k);
    a.v = heads_of<const float>(v);
    a.out = heads_of<float>(out);
    a.stats = stats.data();
    g.dout = heads_of<const float>(dout);
    g.dq = heads_of<float>(dq);
    g.dk = heads_of<float>(dk);
    g.dv = heads_of<float>(dv);
    if (a.w != nullptr) g.dw = dw.data();
    fused_forward(a);
    fused_backward(a, g);
  }
  FusedShape s;
  Tensor q, k, v, w, dout, out, stats, dq, dk, dv, dw;
  FusedAttention a;
  FusedGrads g;
};

void expect_same_bytes(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  ASSERT_EQ(std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<std::size_t>(a.size())), 0) << what;
}

void expect_near(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(a.shape(), b.shape()) << what;
  for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], 3e-5F) << what << " " << i;
}

class Fused : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Families, Fused, testing::Bool(),
                         [](const auto& info) { return info.param ? "Additive" : "Dot"; });

TEST_P(Fused, TheNumberOfThreadsDoesNotChangeAByte) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    for (const FusedShape& shape : {FusedShape{1, 1, 1, 300, 1100, 8, 8}, FusedShape{3, 4, 2, 20, 30, 8, 8},
                                    FusedShape{1, 2, 1, 140, 600, 5, 3}}) {
      for (const bool biased : {false, true}) {
        // Pair by pair in double precision: the smallest shape must do.
        if (std::string_view(table->name) == "generic" && (shape.keys > 1000 || (GetParam() && shape.keys > 100)))
          continue;
        const Tensor bias = random_tensor({shape.queries, shape.keys}, 9);
        std::vector<Batch> runs;
        std::vector<Tensor> dbias;
        for (const int count : {1, 2, 3}) {
          const ScopedThreads scoped(count);
          Batch batch(shape, GetParam(), 10);
          batch.a.visibility.causal = true;
          batch.a.dropout = {.rate = 0.2F, .seed = 5, .counter = 7};
          dbias.push_back(Tensor::zeros(bias.shape()));
          if (biased) {
            batch.a.visibility.bias = {.data = bias.data(), .i = shape.keys, .j = 1};
            batch.g.dbias = dbias.back().data();
          }
          batch.run();
          runs.push_back(std::move(batch));
        }
        for (std::size_t i = 1; i < runs.size(); ++i) {
          expect_same_bytes(runs[i].out, runs[0].out, "out");
          expect_same_bytes(runs[i].stats, runs[0].stats, "stats");
          expect_same_bytes(runs[i].dq, runs[0].dq, "dq");
          expect_same_bytes(runs[i].dk, runs[0].dk, "dk");
          expect_same_bytes(runs[i].dv, runs[0].dv, "dv");
          expect_same_bytes(runs[i].dw, runs[0].dw, "dw");
          expect_same_bytes(dbias[i], dbias[0], "dbias");
        }
      }
    }
  }
}

TEST_P(Fused, ASequenceGivesTheSameBytesAloneAndInABatch) {
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    SCOPED_TRACE(table->name);
    Batch batch({.batch = 5, .heads = 2, .key_heads = 2, .queries = 70, .keys = 600, .dim = 8, .value_dim = 8},
                GetParam(), 20);
    const std::vector<std::int64_t> lengths{600, 3, 0, 599, 64};
    batch.a.visibility.lengths = lengths.data();
    batch.run();
    for (std::int64_t b = 0; b < 5; ++b) {
      FusedShape one = batch.s;
      one.batch = 1;
      Batch alone(one, GetParam(), 20);
      alone.q = batch.q.slice(0, b, b + 1);
      alone.k = batch.k.slice(0, b, b + 1);
      alone.v = batch.v.slice(0, b, b + 1);
      alone.dout = batch.dout.slice(0, b, b + 1);
      alone.a.visibility.lengths = lengths.data() + b;
      alone.run();
      expect_same_bytes(alone.out, batch.out.slice(0, b, b + 1), "out");
      expect_same_bytes(alone.dq, batch.dq.slice(0, b, b + 1), "dq");
      expect_same_bytes(alone.dk, batch.dk.slice(0, b, b + 1), "dk");
      expect_same_bytes(alone.dv, batch.dv.slice(0, b, b + 1), "dv");
    }
  }
}

TEST_P(Fused, GroupedHeadsShareKeysAndSumTheirGradients) {
  const FusedShape grouped{.batch = 2, .heads = 6, .key_heads = 2, .queries = 10, .keys = 14, .dim = 8, .value_dim = 4};
  FusedShape full = grouped;
  full.key_heads = 6;
  Batch a(grouped, GetParam(), 30);
  Batch b(full, GetParam(), 30);
  for (std::int64_t h = 0; h < 6; ++h) {
    b.k.slice(1, h, h + 1).copy_from(a.k.slice(1, h / 3, h / 3 + 1));
    b.v.slice(1, h, h + 1).copy_from(a.v.slice(1, h / 3, h / 3 + 1));
  }
  b.q.copy_from(a.q);
  b.w.copy_from(a.w);
  b.dout.copy_from(a.dout);
  a.run();
  b.run();
  expect_near(a.out, b.out, "out");
  expect_near(a.dq, b.dq, "dq");
  const auto summed = [](const Tensor& x) {
    Tensor y = Tensor::zeros({x.dim(0), 2, x.dim(2), x.dim(3)});
    for (std::int64_t n = 0; n < x.dim(0); ++n) {
      for (std::int64_t h = 0; h < 6; ++h) {
        const Tensor from = x.select(0, n).select(0, h);
        const Tensor to = y.select(0, n).select(0, h / 3);
        for (std::int64_t i = 0; i < from.size(); ++i) to.data()[i] += from.data()[i];
      }
    }
    return y;
  };
  expect_near(a.dk, summed(b.dk), "dk");
  expect_near(a.dv, summed(b.dv), "dv");
}

// A decoder's step with grouped queries takes the heads of a group together.
TEST_P(Fused, AStepOfGroupedHeadsGivesTheBytesOfEachHeadAlone) {
  for (const bool causal : {false, true}) {
    Batch batch({.batch = 3, .heads = 6, .key_heads = 2, .queries = 1, .keys = 150, .dim = 12, .value_dim = 20},
                GetParam(), 35);
    const std::vector<std::int64_t> lengths{150, 0, 70};
    batch.a.visibility.lengths = lengths.data();
    batch.a.visibility.causal = causal;
    batch.a.visibility.offset = 100;
    batch.run();
    for (std::int64_t h = 0; h < 6; ++h) {
      Batch alone({.batch = 3, .heads = 1, .key_heads = 1, .queries = 1, .keys = 150, .dim = 12, .value_dim = 20},
                  GetParam(), 36);
      alone.q = batch.q.slice(1, h, h + 1);
      alone.k = batch.k.slice(1, h / 3, h / 3 + 1);
      alone.v = batch.v.slice(1, h / 3, h / 3 + 1);
      alone.a.w = alone.a.w == nullptr ? nullptr : batch.w.data() + h * 12;
      alone.a.visibility = batch.a.visibility;
      alone.run();
      expect_same_bytes(alone.out, batch.out.slice(1, h, h + 1).contiguous(), "out");
      expect_same_bytes(alone.stats, batch.stats.slice(1, h, h + 1).contiguous(), "stats");
    }
  }
}

TEST_P(Fused, ABiasThatBatchAndHeadsShareSumsTheirGradients) {
  const FusedShape shape{.batch = 3, .heads = 2, .key_heads = 1, .queries = 5, .keys = 9, .dim = 4, .value_dim = 4};
  const Tensor bias = Tensor::empty({3, 2, 5, 9});  // the same for every batch and head
  const Tensor one = random_tensor({5, 9}, 40);
  for (std::int64_t i = 0; i < bias.size(); ++i) bias.data()[i] = one.data()[i % one.size()];
  const auto run = [&](const Tensor& dbias, std::int64_t batch, std::int64_t head) {
    Batch all(shape, GetParam(), 41);
    all.a.visibility.bias = {.data = bias.data(), .b = batch, .h = head, .i = 9, .j = 1};
    all.g.dbias = dbias.data();
    all.run();
  };
  const Tensor apart = Tensor::zeros({3, 2, 5, 9});
  const Tensor by_head = Tensor::zeros({2, 5, 9});
  const Tensor together = Tensor::zeros({5, 9});
  run(apart, 90, 45);
  run(by_head, 0, 45);
  run(together, 0, 0);
  for (std::int64_t i = 0; i < 45; ++i) {
    float total = 0;
    for (std::int64_t h = 0; h < 2; ++h) {
      float sum = 0;
      for (std::int64_t b = 0; b < 3; ++b) sum += apart.data()[b * 90 + h * 45 + i];
      ASSERT_NEAR(by_head.data()[h * 45 + i], sum, 1e-5F);
      total += sum;
    }
    ASSERT_NEAR(together.data()[i], total, 1e-5F);
  }
}

TEST_P(Fused, GradientsAreAddedWhenAsked) {
  for (const int count : {1, 4}) {  // whole heads, and chunk by chunk
    const ScopedThreads scoped(count);
    Batch once({.batch = 1, .heads = 2, .key_heads = 1, .queries = 40, .keys = 700, .dim = 8, .value_dim = 8},
               GetParam(), 50);
    Batch twice = once;
    twice.dq = Tensor::full(once.q.shape(), 1);
    twice.dk = Tensor::full(once.k.shape(), 2);
    twice.dv = Tensor::full(once.v.shape(), 3);
    twice.dw = once.dw.clone();
    once.run();
    twice.a.q = heads_of<const float>(twice.q);
    twice.run();  // writes over
    expect_same_bytes(twice.dq, once.dq, "dq");
    twice.g.dq.add = twice.g.dk.add = twice.g.dv.add = true;
    fused_backward(twice.a, twice.g);
    for (std::int64_t i = 0; i < once.dq.size(); ++i) ASSERT_NEAR(twice.dq.data()[i], 2 * once.dq.data()[i], 1e-5F);
    for (std::int64_t i = 0; i < once.dk.size(); ++i) ASSERT_NEAR(twice.dk.data()[i], 2 * once.dk.data()[i], 1e-5F);
    for (std::int64_t i = 0; i < once.dv.size(); ++i) ASSERT_NEAR(twice.dv.data()[i], 2 * once.dv.data()[i], 1e-5F);
  }
}

TEST_P(Fused, WeightsOfChosenRowsAreThoseOfAllRows) {
  Batch batch({.batch = 2, .heads = 2, .key_heads = 2, .queries = 300, .keys = 90, .dim = 8, .value_dim = 8},
              GetParam(), 60);
  batch.run();
  const auto report = [&](kernels::Range rows, int count) {
    const ScopedThreads scoped(count);
    const std::int64_t n = rows.end - rows.begin;
    std::vector<Tensor> reported{Tensor::empty({2, 2, n, 90}), Tensor::empty({2, 2, n, 3}), Tensor::empty({2, 2, 90}),
                                 Tensor::empty({2, 2, n})};
    std::vector<std::int64_t> index(static_cast<std::size_t>(4 * n * 3));
    FusedWeights wanted;
    wanted.rows = rows;
    wanted.weights = reported[0].data();
    wanted.top = 3;
    wanted.top_index = index.data();
    wanted.top_weight = reported[1].data();
    wanted.column_sums = reported[2].data();
    wanted.entropy = reported[3].data();
    fused_weights(batch.a, wanted);
    return reported;
  };
  const auto all = report({0, 300}, 1);
  const auto again = report({0, 300}, 2);
  for (std::size_t i = 0; i < all.size(); ++i) expect_same_bytes(again[i], all[i], "two threads");
  const auto some = report({130, 170}, 2);
  for (std::int64_t head = 0; head < 4; ++head) {
    for (std::int64_t r = 0; r < 40; ++r) {
      ASSERT_EQ(some[3].data()[head * 40 + r], all[3].data()[head * 300 + 130 + r]);
      for (std::int64_t j = 0; j < 90; ++j) {
        ASSERT_EQ(some[0].data()[(head * 40 + r) * 90 + j], all[0].data()[(head * 300 + 130 + r) * 90 + j]);
      }
    }
    double total = 0;
    for (std::int64_t j = 0; j < 90; ++j) total += all[2].data()[head * 90 + j];
    EXPECT_NEAR(total, 300, 1e-3);
  }
}

}  // namespace
}  // namespace fovea::test

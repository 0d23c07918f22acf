// Models whose matrices are stored in fewer bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/model/folder.hpp"
#include "fovea/model/seq2seq.hpp"
#include "model/kinds.hpp"
#include "support/copy_task.hpp"
#include "tasks/pair_learner.hpp"

namespace fovea {
namespace {

// The logits of every step of the teacher-forced target, of all rows together or of one alone.
std::vector<float> logits(const Seq2Seq& model, const PairBatch& batch) {
  const NoGrad quiet;
  Pass pass;
  const Tokens target = batch.target.view();
  const Memory memory = model.encode(batch.source.view(), pass);
  const auto stepper = model.start(memory, false);
  std::vector<float> all;
  for (std::int64_t t = 0; t < target.length; ++t) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t r = 0; r < target.batch; ++r) {
      tokens.push_back(target.ids[static_cast<std::size_t>(r * target.length + t)]);
    }
    const Tensor step = stepper->step(tokens);
    all.insert(all.end(), step.values().begin(), step.values().end());
  }
  return all;
}

double log_probability(const Seq2Seq& model, const PairBatch& batch) {
  std::vector<double> all(static_cast<std::size_t>(batch.target.view().batch));
  model.score(batch.source.view(), batch.target.view(), batch.wanted.view().ids, all);
  double sum = 0;
  for (const double v : all) sum += v;
  return sum;
}

TEST(Quantized, EveryKindStepsAsItScoresAndNearWhatItWas) {
  for (const auto& [name, config] : test::kinds()) {
    Parameters exact(3);
    const Seq2Seq model(config, exact);
    const test::BackwardsTask task(4, 7, 6, 1);
    PairBatch batch;
    batch.fill(task, task.all());
    const double expected = log_probability(model, batch);
    for (const Storage storage : {Storage::f16, Storage::int8}) {
      SCOPED_TRACE(name + " " + name_of(storage));
      Parameters p = exact.replica();
      pack_weights(config, p, {.type = storage});
      EXPECT_EQ(p.packed(), storage);
      Parameters copy = p.replica();
      const Seq2Seq rounded(config, copy);
      const double scored = log_probability(rounded, batch);
      EXPECT_NEAR(scored, expected, storage == Storage::f16 ? 0.05 : 1.5);
      EXPECT_NE(scored, expected);
      const auto steps = logits(rounded, batch);
      const Tokens wanted = batch.wanted.view();
      double total = 0;
      const std::size_t vocabulary = steps.size() / static_cast<std::size_t>(wanted.batch * wanted.length);
      for (std::int64_t t = 0; t < wanted.length; ++t) {
        for (std::int64_t r = 0; r < wanted.batch; ++r) {
          const float* row = steps.data() + static_cast<std::size_t>(t * wanted.batch + r) * vocabulary;
          const std::int32_t token = wanted.ids[static_cast<std::size_t>(r * wanted.length + t)];
          if (token == pad_id) continue;
          double sum = 0;
          for (std::size_t v = 0; v < vocabulary; ++v) sum += std::exp(static_cast<double>(row[v]));
          total += row[token] - std::log(sum);
        }
      }
      EXPECT_NEAR(total, scored, storage == Storage::f16 ? 2e-3 : 0.15);
    }
  }
}

TEST(Quantized, ARowGivesTheSameBytesAloneAndAmongOthers) {
  for (const auto& [name, config] : test::kinds()) {
    for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
      SCOPED_TRACE(name + " " + name_of(storage));
      Parameters p(5);
      pack_weights(config, p, {.type = storage});
      const Seq2Seq model(config, p);
      const test::BackwardsTask task(6, 7, 6, 1);
      PairBatch all;
      all.fill(task, task.all());
      const auto together = logits(model, all);
      const Tokens target = all.target.view();
      const std::size_t width = together.size() / static_cast<std::size_t>(target.batch * target.length);
      for (const std::int64_t r : {std::int64_t{0}, std::int64_t{4}}) {
        PairBatch one;
        const std::vector<std::int64_t> row{r};
        one.fill(task, row);
        const auto alone = logits(model, one);
        for (std::int64_t t = 0; t < one.target.view().length; ++t) {
          const auto a = alone.begin() + t * static_cast<std::int64_t>(width);
          const auto b = together.begin() + (t * target.batch + r) * static_cast<std::int64_t>(width);
          EXPECT_TRUE(std::equal(a, a + static_cast<std::int64_t>(width), b)) << "row " << r << " step " << t;
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea

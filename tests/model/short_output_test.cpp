// Steps of some tokens only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "fovea/decode/search.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model/seq2seq.hpp"
#include "model/kinds.hpp"
#include "support/copy_task.hpp"
#include "tasks/pair_learner.hpp"

namespace fovea {
namespace {

using Sets = std::vector<std::vector<std::int32_t>>;

class ShortOutput : public ::testing::Test {
 protected:
  ShortOutput() : config_(test::small(test::small_transformer(), test::small_transformer())), task_(3, 7, 6, 1) {
    batch_.fill(task_, task_.all());
  }
  [[nodiscard]] std::unique_ptr<Stepper> start(const Seq2Seq& model) {
    Pass pass;
    const NoGrad quiet;
    return model.start(model.encode(batch_.source.view(), pass));
  }
  ModelConfig config_;
  test::BackwardsTask task_;
  PairBatch batch_;
};

TEST_F(ShortOutput, GivesTheLogitsOfEachSentencesOwnTokens) {
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
    Parameters p(3);
    pack_weights(config_, p, {.type = storage});
    for (float& v : p.find("output.bias")->value().values())
      v = 0.1F * static_cast<float>(&v - p.find("output.bias")->value().data());
    const Seq2Seq model(config_, p);
    const auto all = start(model);
    const auto few = start(model);
    const Sets sets{{1, 3, 5, 11}, {3}, {2, 3, 4, 7, 8}};
    few->restrict_to(sets);
    std::vector<std::int32_t> rows{0, 1, 2};
    std::vector<std::int32_t> sentence{0, 1, 2};
    for (int step = 0; step < 3; ++step) {
      const std::vector<std::int32_t> tokens(rows.size(), step == 0 ? bos_id : 5);
      const Tensor whole = all->step(tokens);
      const Tensor some = few->step(tokens);
      ASSERT_EQ(some.dim(1), 5);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto& own = sets[static_cast<std::size_t>(sentence[r])];
        const auto given = few->candidates(static_cast<std::int64_t>(r));
        ASSERT_TRUE(std::equal(given.begin(), given.end(), own.begin(), own.end()));
        const auto at = static_cast<std::int64_t>(r);
        for (std::size_t c = 0; c < 5; ++c) {
          const float value = some.data()[at * 5 + static_cast<std::int64_t>(c)];
          if (c < own.size()) {
            EXPECT_EQ(value, whole.data()[at * whole.dim(1) + own[c]]);
          } else {
            EXPECT_EQ(value, -INFINITY);
          }
        }
      }
      if (step == 2) break;
      rows = step == 0 ? std::vector<std::int32_t>{2, 0, 2, 1} : std::vector<std::int32_t>{0, 3};
      all->keep(rows);
      few->keep(rows);
      std::vector<std::int32_t> next;
      for (const std::int32_t r : rows) next.push_back(sentence[static_cast<std::size_t>(r)]);
      sentence = next;
    }
  }
}

TEST_F(ShortOutput, SearchWritesOnlyThemAndTheSameAloneAndInABatch) {
  Parameters p(3);
  const Seq2Seq model(config_, p);
  const Sets sets{{3, 5, 6, 11}, {1, 3, 9}, {3, 4, 7, 8}};
  std::vector<SearchInput> inputs(3, {7, 0, {}});
  for (const int beam : {1, 3}) {
    const auto stepper = start(model);
    stepper->restrict_to(sets);
    const auto together = search(*stepper, inputs, {.beam = beam, .n_best = beam, .max_length = 6});
    for (std::size_t s = 0; s < 3; ++s) {
      for (const Hypothesis& h : together[s]) {
        for (const std::int32_t token : h.tokens) EXPECT_TRUE(std::ranges::binary_search(sets[s], token)) << token;
      }
      PairBatch one;
      const std::vector<std::int64_t> row{static_cast<std::int64_t>(s)};
      one.fill(task_, row);
      Pass pass;
      const NoGrad quiet;
      const auto alone = model.start(model.encode(one.source.view(), pass));
      alone->restrict_to({sets[s]});
      const auto found = search(*alone, std::span(inputs).first(1), {.beam = beam, .n_best = beam, .max_length = 6});
      ASSERT_EQ(found[0].size(), together[s].size());
      for (std::size_t i = 0; i < found[0].size(); ++i) {
        EXPECT_EQ(found[0][i].tokens, together[s][i].tokens);
        EXPECT_EQ(found[0][i].log_probability, together[s][i].log_probability);
      }
    }
  }
}

TEST_F(ShortOutput, WhatIsNotSortedOrNotThereIsRefused) {
  Parameters p(3);
  const Seq2Seq model(config_, p);
  for (const Sets& sets : {Sets{{3, 2}}, Sets{{3, 12}}, Sets{{-1, 3}}, Sets{{3, 3}}}) {
    EXPECT_THROW(start(model)->restrict_to(sets), UsageError);
  }
}

}  // namespace
}  // namespace fovea

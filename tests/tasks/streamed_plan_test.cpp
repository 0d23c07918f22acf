#include "tasks/training/text/streamed_plan.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

constexpr int kLines = 9000;

// Lines of 1 to 900 characters, two of them left out, in windows of 1 MiB: about 8 MB of ids.
struct Streamed {
  Streamed() {
    std::ofstream source(folder / "source"), target(folder / "target");
    for (int i = 1; i <= kLines; ++i) {
      source << (i == 77 ? "" : std::string(static_cast<std::size_t>(1 + i * 7 % 400), 'a')) << '\n';
      target << std::string(static_cast<std::size_t>(i == 99 ? 900 : 1 + i * 3 % 50), 'b') << '\n';
    }
    source.close();
    target.close();
    job.source = (folder / "source").string();
    job.target = (folder / "target").string();
    job.task = TextTraining{.stream = folder / "shards", .stream_memory = 1};
    job.max_length = 500;
    job.options.batch_tokens = 2000;
    text.emplace(job);
    std::vector<std::string> notes;
    const text::ParallelText sample = text->sample(notes);
    sampled = sample.source.size();
    tokenizer = train_tokenizer(sample.source, {.kind = TokenizerKind::character}).tokenizer;
    text->encode(text::SourceReader(tokenizer), *tokenizer, nullptr, false);
  }

  test::Scratch folder;
  TrainingJob job;
  std::optional<StreamedText> text;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::size_t sampled = 0;
};

TEST(StreamedPlan, EveryEpochHasEveryLineOnceInAnOrderOfItsOwn) {
  Streamed s;
  EXPECT_LT(s.sampled, kLines / 4U) << "all lines are more than an eighth of the window";
  EXPECT_GT(s.sampled, 50U);
  EXPECT_EQ(s.text->report().kept, kLines - 2);
  EXPECT_EQ(s.text->report().empty.count, 1);
  EXPECT_THAT(s.text->report().too_long.first, testing::EndsWith("target:99"));
  EXPECT_GT(s.text->shards().size(), 16U);
  StreamedPlan plan(s.job, *s.text);
  std::vector<std::vector<std::int64_t>> orders;
  for (const int epoch : {0, 1}) {
    std::vector<std::int64_t> lines;
    std::vector<std::int64_t> batch;
    for (std::int64_t b = 0; b < plan.batches(epoch); ++b) {
      plan.batch(epoch, b, batch);
      for (const std::int64_t pair : batch) lines.push_back(plan.pairs().line(pair));
    }
    EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), static_cast<std::size_t>(kLines - 2));
    EXPECT_EQ(lines.size(), static_cast<std::size_t>(kLines - 2));
    orders.push_back(lines);
  }
  EXPECT_NE(orders[0], orders[1]);
  // The first tenth of an epoch comes from all over the text.
  const auto last = orders[0].begin() + kLines / 10;
  EXPECT_LT(*std::min_element(orders[0].begin(), last), kLines / 3);
  EXPECT_GT(*std::max_element(orders[0].begin(), last), 2 * kLines / 3);
}

TEST(StreamedPlan, ABatchIsTheSameHoweverOneComesToIt) {
  Streamed s;
  StreamedPlan one(s.job, *s.text);
  StreamedPlan other(s.job, *s.text);
  const auto lines = [](StreamedPlan& plan, std::int64_t epoch, std::int64_t index) {
    std::vector<std::int64_t> batch;
    plan.batch(epoch, index, batch);
    for (std::int64_t& pair : batch) pair = plan.pairs().line(pair);
    return batch;
  };
  const std::int64_t last = one.batches(2) - 1;
  for (std::int64_t b = 0; b <= last; b += 50) (void)lines(one, 2, b);
  EXPECT_EQ(lines(one, 2, last), lines(other, 2, last));
  EXPECT_EQ(lines(one, 1, 3), lines(other, 1, 3));
}

TEST(StreamedText, AFolderInUseIsRefused) {
  Streamed s;
  EXPECT_THROW(StreamedText(s.job), UsageError);
}

}  // namespace
}  // namespace fovea

#include "fovea/captioner.hpp"

#include <algorithm>
#include <filesystem>

#include "fovea/error.hpp"
#include "fovea/model/picture_source.hpp"
#include "fovea/threads.hpp"
#include "fovea/training_job.hpp"
#include "support/json_near.hpp"
#include "support/op_test.hpp"
#include "support/shapes.hpp"
#include "tasks/captioning/caption_set.hpp"
#include "tasks/captioning/feature_cache.hpp"
#include "tensor/convert.hpp"

namespace fovea {
namespace {

ModelConfig small_captions(const DecoderConfig& decoder, const EncoderConfig& encoder = NoEncoderConfig{.dim = 24}) {
  ModelConfig c;
  c.source = PictureSourceConfig{.picture_size = 32, .picture_channels = 32, .embedding = 24};
  c.encoder = encoder;
  c.generator() = {.decoder = decoder, .embedding = 24};
  return c;
}

std::vector<std::pair<std::string, ModelConfig>> caption_kinds() {
  const TransformerConfig transformer{.layers = 1, .dim = 24, .ffn = 32, .heads = 2};
  const auto rnn = [](RnnForm form, Focus focus, Cell cell = Cell::gru) {
    return RnnDecoderConfig{.dim = 24, .cell = cell, .form = form, .attention_kind = focus};
  };
  return {{"soft", small_captions(rnn(RnnForm::gated, Focus::soft))},
          {"hard", small_captions(rnn(RnnForm::gated, Focus::hard, Cell::lstm))},
          {"luong", small_captions(rnn(RnnForm::luong, Focus::soft))},
          {"none", small_captions(RnnDecoderConfig{.dim = 24, .attention = RnnAttention::none})},
          {"cnn", small_captions(CnnConfig{.layers = 1, .dim = 24})},
          {"transformer", small_captions(transformer)},
          {"transformer encoder", small_captions(transformer, transformer)}};
}

class CaptionerTest : public testing::Test {
 protected:
  void SetUp() override {
    test::write_shapes(folder_.folder(), "train", 120, 1);
    valid_ = test::write_shapes(folder_.folder(), "valid", 12, 2);
  }
  [[nodiscard]] TrainingJob job(const std::string& model, const ModelConfig& config, std::int64_t steps) const {
    TrainingJob j;
    j.task = CaptionTraining{};
    j.model = folder_ / model;
    j.source = (folder_ / "train.source").string();
    j.target = (folder_ / "train.target").string();
    j.valid_source = (folder_ / "valid.source").string();
    j.valid_target = (folder_ / "valid.target").string();
    j.config = config;
    j.tokenizer = TokenizerKind::word;
    j.options.loss.doubly_stochastic = 0.1F;
    j.options.max_steps = steps;
    j.options.batch_tokens = 160;
    j.options.micro_tokens = 80;
    j.options.checkpoint_every = std::max<std::int64_t>(1, steps / 2);
    j.options.replicas = 2;
    j.options.dropout = 0;
    j.options.adam.rate = 4e-3;
    j.options.schedule.warmup = 20;
    return j;
  }
  [[nodiscard]] std::vector<std::string> places() const {
    std::vector<std::string> all;
    for (int i = 0; i < 12; ++i) all.push_back((folder_ / ("valid" + std::to_string(i) + ".png")).string());
    return all;
  }

  test::Scratch folder_;
  std::vector<std::string> valid_;
};

TEST_F(CaptionerTest, LearnsToSayWhatItSees) {
  train(job("m", small_captions(RnnDecoderConfig{.dim = 24, .form = RnnForm::gated}), 260));
  const Captioner captioner(folder_ / "m");
  const auto results = captioner.captions(places(), {.attention = true});
  int right = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const AttentionRecord& record = results[i][0].attention;
    right += results[i][0].text == valid_[i] ? 1 : 0;
    EXPECT_EQ(record.picture.place, places()[i]);
    EXPECT_EQ(record.picture.rows, 2);
    EXPECT_EQ(record.picture.columns, 2);
    ASSERT_EQ(record.weights.rows, static_cast<std::int64_t>(record.target.size()));
    ASSERT_EQ(record.weights.columns, 4);
    EXPECT_EQ(record.target.back(), "</s>");
    for (std::int64_t r = 0; r < record.weights.rows; ++r) {
      const auto row = record.weights.values.begin() + 4 * r;
      EXPECT_NEAR(std::accumulate(row, row + 4, 0.0), 1, 1e-5);
    }
    check(record);
    const AttentionRecord again = parse_attention(to_json(record), "x");
    EXPECT_EQ(again.picture.rows, 2);
    EXPECT_EQ(again.picture.place, places()[i]);
  }
  EXPECT_GE(right, 8) << "of 12; guessing gives 1 in 36";
}

// Alone, in a batch, on any number of threads: the same captions with the same scores, of every kind of model.
TEST_F(CaptionerTest, APicturesCaptionDoesNotDependOnTheOthers) {
  const test::ThreadsRestored restored;
  for (const auto& [name, config] : caption_kinds()) {
    SCOPED_TRACE(name);
    set_threads(2);
    train(job(name, config, 2));
    const Captioner captioner(folder_ / name);
    const bool attends = config.attends();
    const GenerateOptions how{.beam = 3, .min_length = 2, .max_length = 9, .attention = true};
    const auto together = captioner.captions(places(), how);
    EXPECT_EQ(together[0][0].attention.has_weights(), attends);
    EXPECT_TRUE(together[0][0].attention.maps.empty());
    for (const int count : {1, 3}) {
      set_threads(count);
      for (const std::size_t i : {0U, 5U, 11U}) {
        const Generated alone = captioner.caption(places()[i], how);
        EXPECT_EQ(alone.text, together[i][0].text);
        EXPECT_EQ(alone.score, together[i][0].score);
        EXPECT_EQ(alone.attention.weights.values, together[i][0].attention.weights.values);
      }
    }
  }
}

// Every layer and head, of every kind of model: the mean over the maps is what the search saw.
TEST_F(CaptionerTest, MapsOfEveryHeadHaveTheSearchsMean) {
  for (const auto& [name, config] : caption_kinds()) {
    SCOPED_TRACE(name);
    train(job(name, config, 2));
    const Captioner captioner(folder_ / name);
    GenerateOptions how{.beam = 3, .min_length = 2, .max_length = 9, .attention = true};
    how.kinds = {AttentionKind::cross, AttentionKind::decoder, AttentionKind::encoder};
    const auto all = captioner.captions(places(), how);
    const AttentionRecord& c = all[3][0].attention;
    EXPECT_EQ(c.source.size(), static_cast<std::size_t>(c.picture.rows * c.picture.columns));
    std::vector<AttentionMap> cross;
    for (const AttentionMap& map : c.maps) {
      if (map.kind != AttentionKind::cross) continue;
      EXPECT_EQ(map.queries, c.target);
      EXPECT_EQ(map.keys, c.source);
      cross.push_back(map);
    }
    const bool self = std::holds_alternative<TransformerConfig>(config.generator().decoder);
    EXPECT_EQ(std::any_of(c.maps.begin(), c.maps.end(), [](auto& m) { return m.kind == AttentionKind::decoder; }),
              self);
    ASSERT_EQ(cross.size(), config.attends() ? static_cast<std::size_t>(config.attention_layers() *
                                                                        std::max(1, config.attention_heads()))
                                             : 0);
    if (cross.empty()) continue;
    const AttentionMatrix mean = mean_of(cross);
    test::expect_near(mean.values, c.weights.values, 1e-5);
    const AttentionRecord alone = captioner.caption(places()[3], how).attention;
    ASSERT_EQ(alone.maps.size(), c.maps.size());
    for (std::size_t m = 0; m < c.maps.size(); ++m) EXPECT_EQ(alone.maps[m].weights.values, c.maps[m].weights.values);
  }
}

// What a search says of the caption it wrote, of every kind of model, alone and in a batch.
TEST_F(CaptionerTest, AGivenCaptionIsScoredAsTheSearchScoresIt) {
  const test::ThreadsRestored restored;
  set_threads(2);
  for (const auto& [name, config] : caption_kinds()) {
    SCOPED_TRACE(name);
    train(job(name, config, 20));
    const Captioner captioner(folder_ / name);
    std::vector<std::string> pictures, texts;
    std::vector<float> expected;
    for (const auto& best : captioner.captions(places(), {.beam = 2, .max_length = 7})) {
      if (best[0].text.find("<unk>") != std::string::npos) continue;  // is read as a word of its own
      pictures.push_back(best[0].attention.picture.place);
      texts.push_back(best[0].text);
      expected.push_back(best[0].log_probability);
    }
    ASSERT_GE(texts.size(), 4U);
    const std::vector<double> together = captioner.score(pictures, texts);
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_NEAR(together[i], expected[i], 1e-3);
    EXPECT_EQ(captioner.score(std::span(pictures).first(1), std::span(texts).first(1))[0], together[0]);
    EXPECT_THROW((void)captioner.score(pictures, std::span(texts).first(1)), UsageError);
    EXPECT_THROW((void)captioner.score(std::vector<std::string>{"none.png"}, std::span(texts).first(1)), FileError);
  }
}

// Interrupted and resumed, a training of every kind leaves the same bytes; so does another number of threads.
TEST_F(CaptionerTest, ResumedTrainingsAndOtherThreadsLeaveTheSameBytes) {
  const test::ThreadsRestored restored;
  class StopAt final : public TrainingObserver {
   public:
    explicit StopAt(std::int64_t step) : step_(step) {}
    void stepped(const TrainState& state, double) override { reached_ = state.step >= step_; }
    [[nodiscard]] StopRequest stop() {
      return [this] { return reached_; };
    }

   private:
    std::int64_t step_;
    bool reached_ = false;
  };
  for (const auto& [name, config] : caption_kinds()) {
    SCOPED_TRACE(name);
    set_threads(2);
    train(job("whole " + name, config, 6));
    const std::string whole = test::read_text(folder_ / ("whole " + name) / "model.safetensors");
    set_threads(1);
    TrainingJob part = job("part " + name, config, 6);
    StopAt stop(4);
    EXPECT_EQ(train(part, stop, stop.stop()), Trainer::End::interrupted);
    part.resume = true;
    train(part);
    EXPECT_EQ(test::read_text(folder_ / ("part " + name) / "model.safetensors"), whole);
  }
}

TEST_F(CaptionerTest, ABrokenPictureIsNamedOrPassedOver) {
  train(job("m", small_captions(RnnDecoderConfig{.dim = 24, .form = RnnForm::gated}), 2));
  const Captioner captioner(folder_ / "m");
  test::write_text(folder_ / "broken.png", "not a picture");
  std::vector<std::string> lines{places()[0], (folder_ / "broken.png").string(), "", (folder_ / "none.png").string()};
  EXPECT_THAT(test::message_of<FileError>([&] { (void)captioner.captions(lines); }), testing::HasSubstr("broken.png"));
  const auto results = captioner.captions(lines, {.n_best = 2, .skip_unreadable = true});
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0].size(), 2U);
  EXPECT_TRUE(results[0][0].error.empty());
  EXPECT_THAT(results[1][0].error, testing::HasSubstr("broken.png: neither a JPEG nor a PNG"));
  EXPECT_EQ(results[1][0].text, "");
  EXPECT_TRUE(results[2][0].error.empty());
  EXPECT_THAT(results[3][0].error, testing::HasSubstr("none.png"));
}

TEST_F(CaptionerTest, BrokenPicturesAreLeftOutOfATraining) {
  test::write_text(folder_ / "train3.png", "");
  class Notes final : public TrainingObserver {
   public:
    void started(const std::vector<std::string>& notes) override { all = notes; }
    std::vector<std::string> all;
  } seen;
  train(job("m", small_captions(RnnDecoderConfig{.dim = 24}), 2), seen);
  EXPECT_THAT(seen.all, testing::Contains(testing::HasSubstr("left out 1 of 120 pictures, the first: ")));
  EXPECT_THAT(seen.all, testing::Contains(testing::HasSubstr("119 pictures, 119 captions")));
}

TEST_F(CaptionerTest, IsValidatedByRougeAndKeepsCheckpoints) {
  struct Seen : TrainingObserver {
    void validated(const TrainState&, const Validation& v, bool) override { last = v; }
    Validation last;
  } seen;
  TrainingJob j = job("m", small_captions(RnnDecoderConfig{.dim = 24, .form = RnnForm::gated}), 40);
  j.validate = ValidateBy::rouge;
  j.keep_checkpoints = 2;
  train(j, seen);
  const auto found = std::find_if(seen.last.figures.begin(), seen.last.figures.end(),
                                  [](const auto& figure) { return figure.first == "rouge_l"; });
  ASSERT_NE(found, seen.last.figures.end());
  EXPECT_GT(found->second, 0);
  EXPECT_EQ(seen.last.score, found->second);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "m" / "checkpoints" / "step-000040" / "model.safetensors"));
}

TEST_F(CaptionerTest, GoesOnOnlyWithTheSameBatches) {
  TrainingJob j = job("m", small_captions(RnnDecoderConfig{.dim = 24, .form = RnnForm::gated}), 2);
  train(j);
  j.resume = true;
  j.options.max_steps = 4;
  j.options.batch_tokens = 200;
  EXPECT_ANY_THROW(train(j));
  j.options.batch_tokens = 160;
  EXPECT_NO_THROW(train(j));
}

TEST_F(CaptionerTest, SaysWhatCannotBe) {
  const ModelConfig config = small_captions(RnnDecoderConfig{.dim = 24});
  const auto refused = [&](const auto& change) {
    TrainingJob j = job("m", config, 2);
    change(j);
    return test::message_of<UsageError>([&] { train(j); });
  };
  EXPECT_THAT(refused([](TrainingJob& j) { j.task = CaptionTraining{.freeze = true}; }),
              testing::StartsWith("freeze: "));
  EXPECT_THAT(refused([](TrainingJob& j) { j.task = CaptionTraining{.picture_weights = "w"}; }),
              testing::StartsWith("picture_weights: "));
  EXPECT_THAT(refused([](TrainingJob& j) { j.task = TextTraining{}; }), testing::StartsWith("task: "));
  EXPECT_THAT(refused([](TrainingJob& j) { j.config.generator().tie = Tie::all; }), testing::StartsWith("tie: "));
  EXPECT_THAT(refused([](TrainingJob& j) {
                std::get<RnnDecoderConfig>(j.config.generator().decoder).attention_kind = Focus::hard;
              }),
              testing::StartsWith("attention_kind: "));
}

TEST_F(CaptionerTest, CaptionsOfOnePictureAreOneExample) {
  text::ParallelText text{"s", "t", {"a", "b", "a", "a"}, {"one two", "x", "three", ""}};
  EXPECT_EQ(CaptionSet::places(text), (std::vector<std::string>{"a", "b"}));
  const std::string png = test::png_file(test::plain_picture(4, 4, {}));
  for (std::string& place : text.source) {
    place = (folder_ / place).string();
    test::write_text(place, png);
  }
  const PictureStore store(CaptionSet::places(text), 4);
  const auto words = train_tokenizer({"one two three x"}, {.kind = TokenizerKind::word}).tokenizer;
  const CaptionSet set(text, store, *words, 10);
  ASSERT_EQ(set.examples(), 2);
  EXPECT_EQ(set.captions(), 3);
  EXPECT_EQ(set.example(0).end - set.example(0).begin, 2);
  EXPECT_EQ(set.size(0).output, 2 + 1 + 2);
  EXPECT_EQ(set.size(1).output, 2);
}

// Each example once in an epoch, in another order in the next.
TEST_F(CaptionerTest, AnEpochHasEveryExampleOnce) {
  const auto text = text::read_parallel((folder_ / "train.source").string(), (folder_ / "train.target").string());
  const PictureStore store(CaptionSet::places(text), 8, 0);
  const auto words = train_tokenizer(text.target, {.kind = TokenizerKind::word}).tokenizer;
  const CaptionSet set(text, store, *words, 20);
  CaptionPlan plan(set, 50, 3);
  std::vector<std::vector<std::int64_t>> epochs(2);
  for (std::int64_t e = 0; e < 2; ++e) {
    for (std::int64_t b = 0; b < plan.batches(e); ++b) {
      std::vector<std::int64_t> batch;
      plan.batch(e, b, batch);
      auto& all = epochs[static_cast<std::size_t>(e)];
      all.insert(all.end(), batch.begin(), batch.end());
    }
  }
  EXPECT_NE(epochs[0], epochs[1]);
  std::sort(epochs[0].begin(), epochs[0].end());
  std::vector<std::int64_t> all(120);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(epochs[0], all);
}

TEST_F(CaptionerTest, CachedFeaturesAreTheModelsOwn) {
  ModelConfig config = small_captions(RnnDecoderConfig{.dim = 24});
  config.generator().vocabulary = 20;
  Parameters parameters(3);
  build_weights(config, parameters);
  const auto text = text::read_parallel((folder_ / "valid.source").string(), (folder_ / "valid.target").string());
  const PictureStore store(CaptionSet::places(text), 32);
  const FeatureCache held(config, parameters, store, folder_ / "no" / "file");
  const FeatureCache filed(config, parameters, store, folder_ / "some" / "file", 0);
  const auto written = std::filesystem::last_write_time(folder_ / "some" / "file");
  const FeatureCache again(config, parameters, store, folder_ / "some" / "file", 0);
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "some" / "file"), written);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "no"));
  const std::vector<std::int64_t> which{11, 0};
  const Tensor expected = held.features(which);
  EXPECT_TRUE(test::same_bytes(filed.features(which), expected));
  EXPECT_TRUE(test::same_bytes(again.features(which), expected));
  const PictureSource source(config.pictures(), parameters);
  Picture spare;
  const Picture* pictures[] = {&store.picture(11, spare)};
  const Tensor exact = source.features(pictures).value();
  for (std::int64_t i = 0; i < exact.size(); ++i) {
    EXPECT_NEAR(expected.data()[i], exact.data()[i], 1e-3 * std::max(1.0F, std::abs(exact.data()[i])));
  }
  // Other weights: the file is made again.
  parameters.entries()[0].weight.value().data()[0] += 1;
  const FeatureCache other(config, parameters, store, folder_ / "some" / "file", 0);
  EXPECT_FALSE(test::same_bytes(other.features(which), expected));
}

TEST(HalfOf, IsTheNearestHalf) {
  for (std::uint32_t bits = 0; bits < 0x7C00U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const auto value = static_cast<float>(detail::Half{half});
    ASSERT_EQ(half_of(value), half);
    ASSERT_EQ(half_of(-value) & 0x7FFFU, half);
    if (bits + 1 == 0x7C00U) break;
    const auto next = static_cast<float>(detail::Half{static_cast<std::uint16_t>(bits + 1)});
    ASSERT_EQ(half_of(value + (next - value) * 0.25F), half);
    ASSERT_EQ(half_of(value + (next - value) * 0.75F), half + 1);
  }
  EXPECT_EQ(half_of(1e9F), 0x7BFFU);
  EXPECT_EQ(half_of(0), 0);
}

}  // namespace
}  // namespace fovea

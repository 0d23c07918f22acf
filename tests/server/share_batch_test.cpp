// Requests share a batch of a model only if all of their options are the same.
#include <gtest/gtest.h>

#include "server/api/models/caption_model.hpp"
#include "server/api/models/chat_model.hpp"
#include "server/api/models/classifier_model.hpp"
#include "server/api/models/translation_model.hpp"
#include "support/pictures.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"
#include "tasks/generation/options.hpp"

namespace fovea::server::test {
namespace {

template <class Value>
void change(Value& value) {
  value = Value(7);
}
void change(bool& value) {
  value = !value;
}
void change(std::vector<AttentionKind>& kinds) {
  kinds.push_back(AttentionKind::cross);
}
void change(Interventions& interventions) {
  interventions.tokens.push_back({.token = 1});
}

template <class JobOfTask>
void expect_shared_by_equal_options_only(const Model& model) {
  JobOfTask plain;
  JobOfTask same;
  EXPECT_TRUE(model.together(plain, same));
  each_generate_option([&](const TaskOption& option, auto field) {
    JobOfTask other;
    change(other.how.*field);
    EXPECT_FALSE(model.together(plain, other)) << option.name;
    EXPECT_FALSE(model.together(other, plain)) << option.name;
    EXPECT_EQ(model.together(other, other), !other.how.sample) << option.name;
  });
}

TEST(ShareBatch, OfTranslationsTakesEqualOptions) {
  const fovea::test::Scratch folder;
  fovea::test::write_tiny_model(folder.folder(), fovea::test::tiny_rnn(), "en-de");
  expect_shared_by_equal_options_only<TranslationJob>(*TranslationModel::load({.folder = folder.folder(), .name = {}}));
}

TEST(ShareBatch, OfRepliesTakesEqualOptions) {
  const fovea::test::Scratch folder;
  fovea::test::write_tiny_chat(folder.folder());
  expect_shared_by_equal_options_only<ChatJob>(*ChatModel::load({.folder = folder.folder(), .name = {}}));
}

TEST(ShareBatch, OfCaptionsTakesEqualOptions) {
  const fovea::test::Scratch folder;
  fovea::test::write_tiny_captioner(folder.folder());
  expect_shared_by_equal_options_only<CaptionJob>(*CaptionModel::load({.folder = folder.folder(), .name = {}}));
}

TEST(ShareBatch, OfLabelsTakesEqualOptions) {
  const fovea::test::Scratch folder;
  fovea::test::write_tiny_classifier(folder.folder());
  const auto model = ClassifierModel::load({.folder = folder.folder(), .name = {}});
  const ClassificationJob plain;
  const std::vector<ClassifyOptions> others{{.batch_tokens = 7},
                                            {.skip_long = true},
                                            {.saliency = true},
                                            {.saliency_labels = 3},
                                            {.kinds = {AttentionKind::pooling}}};
  for (const ClassifyOptions& how : others) {
    ClassificationJob other;
    other.how = how;
    EXPECT_FALSE(model->together(plain, other));
    EXPECT_TRUE(model->together(other, other));
  }
}

}  // namespace
}  // namespace fovea::server::test

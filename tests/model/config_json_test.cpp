// config.json: only what the model has, and every fault named with the file.
#include "model/config_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "model/kinds.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ModelConfig possible(const char* name = "transformer-tiny") {
  ModelConfig config = preset(name);
  config.tokens().vocabulary = config.generator().vocabulary = 100;
  return config;
}

std::vector<std::string> names_of(const json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

TEST(ConfigJson, ComesBackAsItWas) {
  for (auto [name, config] : test::kinds()) {
    config.languages = "en-de";
    EXPECT_EQ(to_json(model_config_from_json(to_json(config), "file")), to_json(config)) << name;
  }
  ModelConfig config = possible();
  std::get<TransformerConfig>(config.encoder).positions = Positions::learned;
  std::get<TransformerConfig>(config.encoder).max_positions = 77;
  std::get<TransformerConfig>(config.generator().decoder).layers = 1;
  const ModelConfig back = model_config_from_json(to_json(config), "file");
  EXPECT_EQ(back.longest_source(), 77);
  EXPECT_EQ(layers_of(back.generator().decoder), 1);
  EXPECT_EQ(layers_of(back.encoder), 4);
}

TEST(ConfigJson, HoldsOnlyWhatTheModelHas) {
  using testing::UnorderedElementsAre;
  const json transformer = to_json(possible());
  EXPECT_THAT(names_of(transformer),
              UnorderedElementsAre("source", "encoder", "head", "shared-vocabulary", "languages"));
  const auto fields =
      UnorderedElementsAre("kind", "layers", "dim", "ffn", "heads", "norm", "positions", "activation", "scaled-scores");
  EXPECT_THAT(names_of(transformer["encoder"]), fields);
  EXPECT_THAT(names_of(transformer["head"]["decoder"]), fields);
  for (const char* other : {"cell", "kernel", "attention", "max-positions", "coverage"}) {
    EXPECT_THAT(transformer.dump(), Not(HasSubstr("\"" + std::string(other) + "\""))) << other;
  }
  const std::string rnn = to_json(possible("rnn-plain")).dump();
  for (const char* other : {"heads", "ffn", "norm", "kernel", "local", "coverage", "max-positions"}) {
    EXPECT_THAT(rnn, Not(HasSubstr("\"" + std::string(other) + "\""))) << other;
  }
  EXPECT_THAT(rnn, HasSubstr("\"cell\""));
  EXPECT_THAT(names_of(to_json(possible("cnn"))["encoder"]),
              UnorderedElementsAre("kind", "layers", "dim", "kernel", "max-positions"));
}

std::string said(const std::function<void(json&)>& change) {
  json given = to_json(possible());
  change(given);
  return test::message_of<FileError>([&] { (void)model_config_from_json(given, "some/file"); });
}

TEST(ConfigJson, WhatIsMissingWrongOrUnknownIsAnErrorWithFileAndField) {
  const auto names = [](const char* field) {
    return AllOf(HasSubstr("some/file"), HasSubstr(field), Not(HasSubstr("\n")));
  };
  const char* advice = "train the model again";
  EXPECT_THAT(said([](json& j) { j["encoder"].erase("dim"); }),
              AllOf(names("encoder.dim"), HasSubstr("missing"), HasSubstr(advice)));
  EXPECT_THAT(said([](json& j) { j.erase("encoder"); }), AllOf(names("encoder"), HasSubstr(advice)));
  EXPECT_THAT(said([](json& j) { j["encoder"]["cell"] = "gru"; }),
              AllOf(names("encoder.cell"), HasSubstr("not known here"), HasSubstr(advice)));
  EXPECT_THAT(said([](json& j) { j["head"]["decoder"]["mood"] = 1; }), names("head.decoder.mood"));
  EXPECT_THAT(said([](json& j) { j["colour"] = 1; }), names("colour"));
  EXPECT_THAT(said([](json& j) { j["encoder"]["kind"] = "mamba"; }), AllOf(names("encoder.kind"), HasSubstr(advice)));
  EXPECT_THAT(said([](json& j) { j["encoder"]["dim"] = "wide"; }), names("dim"));
  EXPECT_THAT(said([](json& j) { j["encoder"]["norm"] = "sideways"; }), AllOf(names("norm"), HasSubstr("post")));
  EXPECT_THAT(said([](json& j) { j["encoder"]["norm"] = 3; }), names("norm"));
  EXPECT_THAT(said([](json& j) { j["encoder"]["heads"] = 3; }), names("heads"));
  EXPECT_THAT(said([](json& j) { j["head"]["decoder"] = json::array(); }), names("head.decoder"));
  EXPECT_THAT(said([](json& j) { j = 3; }), HasSubstr("some/file"));
}

TEST(ConfigJson, NumbersAreTakenAsTheyAreWritten) {
  for (const json& wrong :
       {json(1'000'000'000'000), json(128.5), json("128"), json(nullptr), json(-5'000'000'000), json(true)}) {
    EXPECT_THAT(said([&](json& j) { j["encoder"]["dim"] = wrong; }), HasSubstr("encoder.dim\" is " + wrong.dump()));
  }
}

TEST(ConfigJson, UnscaledEmbeddingsAreReadWhereTheyArePossible) {
  for (const char* const name : preset_names()) {
    const ModelConfig config = possible(name);
    json given = to_json(config);
    EXPECT_TRUE(model_config_from_json(given, "config.json").tokens().scaled_embeddings) << name;
    given["source"]["scaled-embeddings"] = false;
    if (!std::holds_alternative<CnnConfig>(config.encoder)) {
      EXPECT_FALSE(model_config_from_json(given, "config.json").tokens().scaled_embeddings) << name;
    } else {
      EXPECT_THROW((void)model_config_from_json(given, "config.json"), FileError) << name;
    }
    given["source"].erase("scaled-embeddings");
    EXPECT_THROW((void)model_config_from_json(given, "config.json"), FileError) << name;
  }
}

TEST(ConfigJson, WhatCameLaterMayBeAbsentAndIsWrittenOnlyWhereItDiffers) {
  ModelConfig config = possible();
  const json before = to_json(config);
  for (const char* name : {"norm-epsilon", "first-position", "embedding-norm", "bias"}) {
    EXPECT_FALSE(before["encoder"].contains(name)) << name;
  }
  EXPECT_FALSE(before["source"].contains("end-of-sequence"));
  EXPECT_FALSE(before["head"].contains("suppressed"));
  auto& encoder = std::get<TransformerConfig>(config.encoder);
  encoder.norm_epsilon = 1e-6F;
  encoder.first_position = 1;
  encoder.bias = false;
  encoder.embedding_norm = true;
  encoder.positions = Positions::timing_signal;
  config.tokens().end_of_sequence = false;
  config.generator().suppressed = {7, 9};
  const ModelConfig back = model_config_from_json(to_json(config), "file");
  EXPECT_EQ(to_json(back), to_json(config));
  const auto& read = std::get<TransformerConfig>(back.encoder);
  EXPECT_EQ(read.norm_epsilon, 1e-6F);
  EXPECT_EQ(read.first_position, 1);
  EXPECT_FALSE(read.bias);
  EXPECT_TRUE(read.embedding_norm);
  EXPECT_FALSE(back.tokens().end_of_sequence);
  EXPECT_EQ(back.generator().suppressed, (std::vector<std::int32_t>{7, 9}));
  EXPECT_THAT(said([](json& j) { j["encoder"]["norm-epsilon"] = 2; }), HasSubstr("norm_epsilon"));
  EXPECT_THAT(said([](json& j) { j["encoder"]["first-position"] = -1; }), HasSubstr("first_position"));
  EXPECT_THAT(said([](json& j) { j["head"]["suppressed"] = {100}; }), HasSubstr("suppressed: 100"));
  EXPECT_THAT(said([](json& j) { j["head"]["suppressed"] = "all"; }), HasSubstr("suppressed"));
}

TEST(ConfigJson, GeluByTanhOfVersion02IsRead) {
  ModelConfig config = possible();
  std::get<TransformerConfig>(config.encoder).activation = Activation::gelu_tanh;
  json given = to_json(config);
  EXPECT_EQ(given["encoder"]["activation"], "gelu-tanh");
  given["encoder"]["activation"] = "gelu";
  given["encoder"]["approximate-gelu"] = true;
  EXPECT_EQ(to_json(model_config_from_json(given, "file")), to_json(config));
}

// A folder whose config.json the test changes before it is read.
class ModelFolder : public testing::Test {
 protected:
  ModelFolder() { test::write_tiny_model(folder_.folder(), test::tiny_transformer(), "en-de"); }

  std::string refused(const std::function<void(json&)>& change) const {
    const auto file = folder_ / "config.json";
    const std::string before = read_text(file);
    json given = json::parse(before);
    change(given);
    test::write_text(file, given.dump());
    const std::string message = test::message_of<FileError>([&] { (void)load_model(folder_.folder()); });
    test::write_text(file, before);
    EXPECT_THAT(message, AllOf(HasSubstr(file.string()), Not(HasSubstr("\n"))));
    return message;
  }
  static std::string read_text(const std::filesystem::path& file) { return test::read_text(file); }

  test::Scratch folder_;
};

TEST_F(ModelFolder, IsReadAsItWasWritten) {
  const LoadedModel model = load_model(folder_.folder());
  EXPECT_EQ(model.config.languages, "en-de");
  EXPECT_EQ(dim_of(model.config.encoder), 16);
  EXPECT_EQ(json::parse(read_text(folder_ / "config.json"))["format"], 2);
  Parameters same(1);
  build_weights(model.config, same);
  ASSERT_EQ(model.parameters.entries().size(), same.entries().size());
  for (const auto& entry : same.entries()) {
    const Var* found = model.parameters.find(entry.name);
    ASSERT_NE(found, nullptr) << entry.name;
    EXPECT_TRUE(std::ranges::equal(found->value().values(), entry.weight.value().values())) << entry.name;
  }
}

TEST_F(ModelFolder, OfAnotherFormatSaysWhatToDo) {
  for (const int format : {1, 3}) {
    EXPECT_THAT(refused([&](json& j) { j["format"] = format; }),
                AllOf(HasSubstr("\"format\" is " + std::to_string(format)), HasSubstr("train the model again")));
  }
  EXPECT_THAT(refused([](json& j) { j.erase("format"); }), HasSubstr("format"));
  EXPECT_THAT(refused([](json& j) { j["format"] = "2"; }), HasSubstr("format"));
}

TEST_F(ModelFolder, WhatIsMissingOrUnknownIsNamed) {
  EXPECT_THAT(refused([](json& j) { j.erase("task"); }), HasSubstr("task"));
  EXPECT_THAT(refused([](json& j) { j["task"] = "paint"; }), HasSubstr("task"));
  EXPECT_THAT(refused([](json& j) { j.erase("model"); }), HasSubstr("model"));
  EXPECT_THAT(refused([](json& j) { j["colour"] = 1; }), HasSubstr("colour"));
  EXPECT_THAT(refused([](json& j) { j["model"]["encoder"].erase("heads"); }), HasSubstr("model.encoder.heads"));
  EXPECT_THAT(refused([](json& j) { j["model"]["encoder"]["cell"] = "gru"; }), HasSubstr("model.encoder.cell"));
  EXPECT_THAT(refused([](json& j) { j = json::array(); }), HasSubstr("object"));
}

TEST_F(ModelFolder, WeightsThatDoNotFitTheConfigurationAreNamed) {
  const auto said = [&](const std::function<void(json&)>& change) {
    const auto file = folder_ / "config.json";
    const std::string before = read_text(file);
    json given = json::parse(before);
    change(given["model"]);
    test::write_text(file, given.dump());
    const std::string message = test::message_of<FileError>([&] { (void)load_model(folder_.folder()); });
    test::write_text(file, before);
    EXPECT_THAT(message, HasSubstr("model.safetensors"));
    return message;
  };
  EXPECT_THAT(said([](json& j) { j["encoder"]["layers"] = 3; }), HasSubstr("encoder.2"));  // missing
  EXPECT_THAT(said([](json& j) { j["encoder"]["layers"] = 1; }), HasSubstr("encoder.1"));  // extra
  EXPECT_THAT(said([](json& j) { j["encoder"]["ffn"] = 24; }), HasSubstr("feed"));         // of another shape
}

}  // namespace
}  // namespace fovea

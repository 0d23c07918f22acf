// --task caption through the command line: train, run, view.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/files.hpp"
#include "support/markup.hpp"
#include "support/shapes.hpp"

namespace fovea {
namespace {

using nlohmann::json;
using test::Ran;
using test::run_cli;

class CaptionCli : public testing::Test {
 protected:
  void SetUp() override {
    test::write_shapes(folder_.path(), "train", 24, 1);
    test::write_shapes(folder_.path(), "valid", 4, 2);
  }
  [[nodiscard]] std::vector<std::string> train(const std::string& model, const std::vector<std::string>& more) const {
    std::vector<std::string> all{"train",
                                 "--task",
                                 "caption",
                                 "--model",
                                 file(model),
                                 "--source",
                                 file("train.source"),
                                 "--target",
                                 file("train.target"),
                                 "--valid-source",
                                 file("valid.source"),
                                 "--valid-target",
                                 file("valid.target"),
                                 "--picture-size",
                                 "32",
                                 "--dim",
                                 "16",
                                 "--tokenizer",
                                 "word",
                                 "--max-steps",
                                 "3",
                                 "--threads",
                                 "2"};
    all.insert(all.end(), more.begin(), more.end());
    // The other picture encoder has no such option.
    if (std::find(more.begin(), more.end(), "squeezenet") == more.end()) {
      all.insert(all.end(), {"--picture-channels", "16"});
    }
    return all;
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path(name); }
  void refused(const std::vector<std::string>& arguments, const std::string& message,
               const std::string& input = {}) const {
    const Ran ran = run_cli(arguments, input);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_THAT(ran.err, testing::HasSubstr(message));
  }

  test::TemporaryFolder folder_;
};

TEST_F(CaptionCli, TrainsRunsAndShows) {
  ASSERT_EQ(run_cli(train("m", {"--validate", "bleu", "--doubly-stochastic", "0.5"})).code, 0);
  EXPECT_THAT(folder_.read("m/config.json"), testing::HasSubstr("\"task\": \"caption\""));
  EXPECT_THAT(folder_.read("m/log.jsonl"), testing::HasSubstr("\"bleu\""));
  folder_.write("broken.jpg", "\xFF\xD8 no more");
  const std::string lines = file("valid0.png") + "\n" + file("broken.jpg") + "\n\n" + file("valid1.png") + "\n";
  const Ran ran = run_cli({"run", "--model", file("m"), "--attention", file("a.jsonl"), "--min-length", "2",
                           "--max-length", "5", "--threads", "2"},
                          lines);
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.err, testing::StartsWith("warning: " + file("broken.jpg") + ": not a whole JPEG"));
  std::istringstream out(ran.out);
  std::vector<std::string> captions;
  for (std::string line; std::getline(out, line);) captions.push_back(line);
  ASSERT_EQ(captions.size(), 4U);
  EXPECT_NE(captions[0], "");
  EXPECT_EQ(captions[1], "");
  EXPECT_EQ(captions[2], "");

  std::istringstream records(folder_.read("a.jsonl"));
  std::string line;
  std::getline(records, line);
  const json record = json::parse(line);
  EXPECT_EQ(record["picture"]["place"], file("valid0.png"));
  EXPECT_EQ(record["picture"]["rows"], 2);
  EXPECT_EQ(record["source"].size(), 4U);
  EXPECT_EQ(record["weights"].size(), record["target"].size());

  ASSERT_EQ(run_cli({"view", file("a.jsonl"), "--svg", file("a.svg"), "--html", file("a.html")}).code, 0);
  const std::string svg = folder_.read("a.svg");
  EXPECT_EQ(test::malformed(svg), "");
  EXPECT_THAT(svg, testing::HasSubstr("data:image/jpeg;base64,/9j/"));
  EXPECT_THAT(folder_.read("a.html"), testing::HasSubstr("picture-frame"));
  const Ran shown = run_cli({"view", file("a.jsonl"), "--line", "1", "--color", "never"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, testing::HasSubstr("██"));

  const Ran strict = run_cli({"run", "--model", file("m"), "--strict"}, lines);
  EXPECT_EQ(strict.code, 1);
  EXPECT_THAT(strict.err, testing::HasSubstr("broken.jpg: not a whole JPEG"));
}

TEST_F(CaptionCli, WritesEveryKindOfAttention) {
  ASSERT_EQ(run_cli(train("m", {"--decoder", "transformer", "--decoder-layers", "2", "--heads", "2"})).code, 0);
  const auto record = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all{"run", "--model", file("m"), "--attention", file("k.jsonl")};
    all.insert(all.end(), options.begin(), options.end());
    const Ran ran = run_cli(all, file("valid0.png") + "\n\n");
    EXPECT_EQ(ran.code, 0) << ran.err;
    const std::string lines = folder_.read("k.jsonl");
    return json::parse(lines.substr(0, lines.find('\n')));
  };
  const json all = record({"--kind", "all"});
  ASSERT_EQ(all["attention"].size(), 8U);  // two layers of two heads, to themselves and to the picture
  EXPECT_EQ(all["picture"]["rows"], 2);
  for (const json& map : all["attention"]) {
    for (const json& row : map["weights"]) {
      double sum = 0;
      for (const json& weight : row) sum += weight.get<double>();
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
  const json own = record({"--kind", "decoder"});
  EXPECT_EQ(own["source"], own["target"]);
  EXPECT_FALSE(own.contains("picture"));
  EXPECT_EQ(run_cli({"view", file("k.jsonl"), "--line", "1", "--color", "never"}).code, 0);
  EXPECT_EQ(record({"--all-heads"})["attention"].size(), 4U);
}

TEST_F(CaptionCli, ScoresGivenCaptions) {
  ASSERT_EQ(run_cli(train("m", {})).code, 0);
  const std::string place = file("valid0.png");
  const Ran ran = run_cli({"run", "--model", file("m"), "--scores", "--length-penalty", "0"}, place + "\n");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::size_t tab = ran.out.find('\t');
  const std::string source = folder_.write("one.source", place + "\n");
  const std::string target = folder_.write("one.target", ran.out.substr(tab + 1));
  const Ran scored = run_cli({"score", "--model", file("m"), "--source", source, "--target", target});
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_NEAR(std::stod(scored.out), std::stod(ran.out.substr(0, tab)), 2e-3);
  folder_.write("one.source", file("none.png") + "\n");
  const Ran missing = run_cli({"score", "--model", file("m"), "--source", source, "--target", target});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, testing::HasSubstr("none.png"));
}

TEST_F(CaptionCli, TypeRoundsAsQuantizeDoes) {
  ASSERT_EQ(run_cli(train("m", {})).code, 0);
  ASSERT_EQ(run_cli({"quantize", "--model", file("m"), "--out", file("q"), "--type", "int8"}).code, 0);
  const auto attention = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"run", "--attention", file("t.jsonl")});
    const Ran ran = run_cli(options, file("valid0.png") + "\n");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return folder_.read("t.jsonl");
  };
  const std::string quantized = attention({"--model", file("q")});
  EXPECT_EQ(attention({"--model", file("m"), "--type", "int8"}), quantized);
  EXPECT_NE(attention({"--model", file("m")}), quantized);
}

TEST_F(CaptionCli, TrainsEveryKind) {
  int number = 0;
  for (const std::vector<std::string>& kind : std::vector<std::vector<std::string>>{
           {"--attention-kind", "hard"},
           {"--cell", "lstm", "--form", "conditional"},
           {"--decoder", "transformer", "--heads", "2"},
           {"--decoder", "cnn"},
           {"--arch", "transformer", "--encoder", "transformer", "--heads", "2", "--layers", "1"},
           {"--picture-encoder", "squeezenet", "--tie", "target"}}) {
    const std::string model = "m" + std::to_string(number++);
    const Ran ran = run_cli(train(model, kind));
    ASSERT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(run_cli({"run", "--model", file(model)}, file("valid0.png") + "\n").code, 0);
  }
}

TEST_F(CaptionCli, SaysWhatDoesNotGoTogether) {
  refused(train("m", {"--freeze"}), "--freeze: ");
  refused(train("m", {"--picture-encoder", "vgg"}), "--picture-encoder: \"vgg\" is not one of small, squeezenet");
  refused(train("m", {"--attention-kind", "hard", "--form", "luong"}), "--attention-kind: ");
  refused(train("m", {"--shared-vocab"}), "--shared-vocab: ");
  refused({"train", "--model", file("m"), "--source", "s", "--target", "t", "--valid-source", "s", "--valid-target",
           "t", "--freeze"},
          "--freeze: has no effect here; it belongs to: task caption");
  ASSERT_EQ(run_cli(train("m", {})).code, 0);
  refused({"run", "--model", file("m"), "--alignments", file("x")}, "--alignments: ");
  refused({"run", "--model", file("m"), "--model", file("m")}, "--model: a model of pictures works alone");
  refused({"run", "--model", file("m"), "--attention", file("x"), "--kind", "encoder"},
          "--kind: the model's encoder does not attend to itself", file("valid0.png") + "\n");
  EXPECT_FALSE(std::filesystem::exists(file("x")));
  refused({"run", "--model", file("m"), "--intervene", "x.json"}, "--intervene: ");
}

}  // namespace
}  // namespace fovea

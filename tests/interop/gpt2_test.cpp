// Models of GPT-2's layout: their logits against NumPy's, and what the command line does with them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "fovea/completer.hpp"
#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/model/language_model.hpp"
#include "fovea/npy.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "fovea/translator.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Scratch;
using testing::HasSubstr;

// The models that models.py makes, once for all tests.
const fs::path& gpt2_cases() {
  static const Scratch scratch;
  static const bool made = [] {
    test::write_text(scratch / "pieces.json", "[]");
    const std::string command = "OPENBLAS_NUM_THREADS=1 /usr/bin/python3 " + std::string(FOVEA_SOURCE_DIR) +
                                "/tests/interop/models.py " + scratch.folder().string() + " gpt2";
    return std::system(command.c_str()) == 0;
  }();
  EXPECT_TRUE(made) << "models.py failed; it needs /usr/bin/python3 with NumPy";
  return scratch.folder();
}

class Gpt2Case : public testing::TestWithParam<const char*> {};

TEST_P(Gpt2Case, GivesTheLogitsOfAnotherImplementation) {
  const fs::path folder = gpt2_cases() / GetParam();
  const Scratch scratch;
  const ImportReport report = import_model(folder / "model", scratch / "imported");
  EXPECT_THAT(report.model, HasSubstr("language model, 3 layers"));
  LoadedModel loaded = load_model(scratch / "imported");
  EXPECT_EQ(loaded.config.task(), Task::complete);
  const LanguageModel model(loaded.config, loaded.parameters);
  const Tokenizer& tokenizer = *loaded.tokenizers.target;
  std::map<std::string, std::int32_t> names;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) names[tokenizer.piece(id)] = id;
  const json given = json::parse(test::read_text(folder / "case.json"));
  std::vector<std::int32_t> ids;
  for (const auto& token : given["fed"]) ids.push_back(names.at(token.get<std::string>()));
  PaddedTokens fed;
  fed.fill(1, Marks::none, [&](std::int64_t) { return std::span(ids); });
  const NoGrad quiet;
  Pass pass;
  const Tensor states = model.generator().decode(nullptr, fed.view(), pass).states.value();
  const Tensor logits = model.generator().logits(states).contiguous();
  const Tensor expected = read_npy(folder / "logits.npy");
  const std::int64_t width = logits.dim(2);
  const auto stepper = model.start(1);
  for (std::int64_t t = 0; t < expected.dim(0); ++t) {
    const Tensor stepped = stepper->step(std::span(&ids[static_cast<std::size_t>(t)], 1));
    for (std::int64_t f = 0; f < expected.dim(1); ++f) {
      const std::int32_t ours = names.at(given["vocabulary"][static_cast<std::size_t>(f)].get<std::string>());
      ASSERT_NEAR(logits.data()[t * width + ours], expected.data()[t * expected.dim(1) + f], 1e-4) << t << " " << f;
      ASSERT_NEAR(stepped.data()[ours], expected.data()[t * expected.dim(1) + f], 1e-4) << t << " " << f;
    }
    for (const std::int32_t never : {pad_id, unk_id, bos_id}) EXPECT_LT(logits.data()[t * width + never], -1e8F);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Gpt2Case,
                         testing::Values("gpt2-tied", "gpt2-untied", "gpt2-torch", "gpt2-ct2-v3", "gpt2-ct2-v6"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

struct Imported {
  Scratch scratch;
  Imported() { (void)import_model(gpt2_cases() / "gpt2-tied" / "model", scratch / "m"); }
  [[nodiscard]] std::string model() const { return (scratch / "m").string(); }
};

// log p of what follows the prompt, by one teacher-forced run.
double log_probability(const LanguageModel& model, const std::vector<std::int32_t>& prompt,
                       const std::vector<std::int32_t>& rest, bool end) {
  std::vector<std::int32_t> all = prompt;
  all.insert(all.end(), rest.begin(), rest.end());
  PaddedTokens fed;
  fed.fill(1, Marks::none, [&](std::int64_t) { return std::span(all); });
  const NoGrad quiet;
  Pass pass;
  const Tensor logits = model.generator().logits(model.generator().decode(nullptr, fed.view(), pass).states.value());
  const Tensor log_p = log_softmax(logits).value().contiguous();
  double total = 0;
  for (std::size_t i = prompt.size(); i < all.size() + (end ? 1 : 0); ++i) {
    const std::int32_t next = i < all.size() ? all[i] : eos_id;
    total += log_p.data()[static_cast<std::int64_t>(i - 1) * log_p.dim(2) + next];
  }
  return total;
}

TEST(Completer, GoesOnGreedilyAsTheModelSays) {
  const Imported imported;
  const Completer completer(imported.scratch / "m");
  LoadedModel loaded = load_model(imported.scratch / "m");
  const LanguageModel model(loaded.config, loaded.parameters);
  const Generated one = completer.complete("the cat", {.beam = 1, .max_length = 6});
  EXPECT_TRUE(one.text.starts_with("the cat"));
  EXPECT_THAT(std::span(one.attention.source).first(3), testing::ElementsAre("the", "Ġca", "t"));
  std::vector<std::int32_t> all = completer.tokenizer().encode("the cat");
  const std::vector<std::int32_t> prompt = all;
  std::vector<std::int32_t> written;
  while (written.size() < 6) {
    PaddedTokens fed;
    fed.fill(1, Marks::none, [&](std::int64_t) { return std::span(all); });
    const NoGrad quiet;
    Pass pass;
    const Tensor states = model.generator().decode(nullptr, fed.view(), pass).states.value();
    const Tensor logits = model.generator().logits(states).contiguous();
    const float* row = logits.data() + (logits.dim(1) - 1) * logits.dim(2);
    const auto best = static_cast<std::int32_t>(std::max_element(row, row + logits.dim(2)) - row);
    if (best == eos_id) break;
    written.push_back(best);
    all.push_back(best);
  }
  EXPECT_EQ(one.ids, written);
  EXPECT_NEAR(one.log_probability, log_probability(model, prompt, written, written.size() < 6), 1e-3);
}

TEST(Completer, ABeamsFiguresAreOfWhatFollows) {
  const Imported imported;
  const Completer completer(imported.scratch / "m");
  LoadedModel loaded = load_model(imported.scratch / "m");
  const LanguageModel model(loaded.config, loaded.parameters);
  const std::string text = "the cat";
  const auto found = completer.complete(std::span(&text, 1), {.beam = 4, .n_best = 4, .max_length = 5});
  ASSERT_EQ(found[0].size(), 4U);
  for (const Generated& c : found[0]) {
    EXPECT_NEAR(c.log_probability, log_probability(model, completer.tokenizer().encode(text), c.ids, c.ended), 1e-3);
    EXPECT_NEAR(c.score, c.log_probability / static_cast<float>(c.ids.size() + (c.ended ? 1 : 0)), 1e-4);
  }
}

TEST(Completer, ATextIsContinuedAlikeAloneAndInABatchAndOnAnyThreads) {
  const Imported imported;
  const Completer completer(imported.scratch / "m");
  const std::vector<std::string> texts{"the cat", "a", "", "  two  spaces\tand é", "the cat saw the cat"};
  const int before = threads();
  for (const bool sample : {false, true}) {
    const GenerateOptions how{.beam = sample ? 1 : 3, .max_length = 7, .sample = sample};
    const auto together = completer.complete(texts, how);
    set_threads(1);
    const auto on_one = completer.complete(texts, how);
    set_threads(before);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const GenerateCall call{.first_line = static_cast<std::int64_t>(i)};
      const Generated one = completer.complete(std::span(&texts[i], 1), how, call)[0][0];
      EXPECT_EQ(together[i][0].text, one.text) << i;
      EXPECT_EQ(on_one[i][0].text, one.text) << i;
      EXPECT_TRUE(one.text.starts_with(texts[i]));
      EXPECT_EQ(together[i][0].log_probability, on_one[i][0].log_probability);
    }
  }
  EXPECT_TRUE(completer.complete("").text.empty());
}

TEST(Completer, ScoresATextAndATextBehindAnother) {
  const Imported imported;
  const Completer completer(imported.scratch / "m");
  LoadedModel loaded = load_model(imported.scratch / "m");
  const LanguageModel model(loaded.config, loaded.parameters);
  const std::vector<std::string> prompts{"the cat", ""};
  const std::vector<std::string> texts{" sees", "the cat"};
  const std::vector<double> scores = completer.score(prompts, texts);
  const auto ids = [&](const std::string& text) { return completer.tokenizer().encode(text); };
  EXPECT_NEAR(scores[0], log_probability(model, ids("the cat"), ids(" sees"), true), 1e-3);
  EXPECT_NEAR(scores[1], log_probability(model, {bos_id}, ids("the cat"), true), 1e-3);
  EXPECT_EQ(completer.score(std::span(texts).subspan(1))[0], scores[1]);
}

TEST(Completer, SaysWhatCannotBe) {
  const Imported imported;
  const Completer completer(imported.scratch / "m");
  EXPECT_THAT(test::message_of<Error>([&] { (void)completer.complete(std::string(40, 'x')); }),
              HasSubstr("line 1 has 40 tokens, but the model has learned positions for 40"));
  EXPECT_EQ(completer.complete(std::string(39, 'x'), {.beam = 1}).ids.size(), 1U);  // the last position
  EXPECT_THROW((void)completer.complete("a", {.max_length = 0}), UsageError);
  EXPECT_THROW((void)completer.score(std::vector<std::string>{"a"}, std::vector<std::string>{}), UsageError);
  EXPECT_THAT(test::message_of<UsageError>([&] { const Translator wrong(imported.scratch / "m"); }),
              HasSubstr("has the task complete and reads no text to translate"));
}

TEST(Completer, ShowsWhatEachTokenAttendedTo) {
  const Imported imported;
  const Completer completer(imported.scratch / "m");
  const Generated one =
      completer.complete("the cat", {.beam = 1, .max_length = 4, .attention = true, .kinds = {AttentionKind::decoder}});
  const AttentionRecord& record = one.attention;
  ASSERT_EQ(record.maps.size(), 12U);  // 3 layers of 4 heads
  const AttentionMatrix& w = record.maps[5].weights;
  EXPECT_EQ(w.rows, static_cast<std::int64_t>(completer.tokenizer().encode("the cat").size() + one.ids.size()));
  for (std::int64_t q = 0; q < w.rows; ++q) {
    float sum = 0;
    for (std::int64_t k = 0; k < w.columns; ++k) sum += w.at(q, k);
    EXPECT_NEAR(sum, 1, 1e-5);
    for (std::int64_t k = q + 1; k < w.columns; ++k) EXPECT_EQ(w.at(q, k), 0);
  }
  EXPECT_EQ(record.source, record.maps[0].keys);
  EXPECT_EQ(record.weights.values, mean_of(record.maps).values);
}

TEST(CompleteCommand, RunsScoresExplainsAndQuantizes) {
  const Imported imported;
  const auto run =
      test::run_cli({"run", "--model", imported.model(), "--beam", "1", "--max-length", "5"}, "the cat\n\nb\n");
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 3);
  EXPECT_TRUE(run.out.starts_with("the cat"));
  EXPECT_THAT(run.out, HasSubstr("\n\nb"));
  const std::string file = (imported.scratch / "a.jsonl").string();
  const auto seen = test::run_cli({"run", "--model", imported.model(), "--sample", "--top-k", "9", "--max-length", "5",
                                   "--attention", file, "--kind", "decoder"},
                                  "the cat\n");
  EXPECT_EQ(seen.code, 0) << seen.err;
  const json record = json::parse(test::read_text(file));
  EXPECT_EQ(record["source"], record["target"]);
  EXPECT_EQ(record["weights"].size(), record["source"].size());
  test::write_text(imported.scratch / "t", "the cat\na\n");
  const std::string target = (imported.scratch / "t").string();
  const auto scored = test::run_cli({"score", "--model", imported.model(), "--target", target});
  EXPECT_EQ(scored.code, 0) << scored.err;
  const Completer completer(imported.scratch / "m");
  const std::vector<std::string> texts{"the cat", "a"};
  const auto expected = completer.score(texts);
  EXPECT_EQ(scored.out, fmt::format("{:.4f}\n{:.4f}\n", expected[0], expected[1]));
  const auto explained = test::run_cli({"explain", "--model", imported.model(), "the cat"});
  EXPECT_EQ(explained.code, 0) << explained.err;
  EXPECT_THAT(explained.out, HasSubstr("The model continues"));
  const std::string small = (imported.scratch / "small").string();
  const auto quantized = test::run_cli({"quantize", "--model", imported.model(), "--out", small, "--type", "f16"});
  EXPECT_EQ(quantized.code, 0) << quantized.err;
  EXPECT_EQ(test::run_cli({"run", "--model", small, "--beam", "1", "--max-length", "5"}, "the cat\n").code, 0);
}

TEST(CompleteCommand, RefusesInOneLineWhatALanguageModelDoesNotHave) {
  const Imported imported;
  const std::string m = imported.model();
  const auto refused = [&](std::vector<std::string> arguments, const std::string& what) {
    const auto ran = test::run_cli(arguments, "a\n");
    EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(what));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  };
  refused({"run", "--model", m, "--alignments", m + "/x"}, "--alignments: not an option of a language model");
  refused({"run", "--model", m, "--attention", m + "/x", "--kind", "cross"}, "--kind: a language model attends");
  refused({"run", "--model", m, "--kind", "decoder"}, "--kind: it goes with --attention");
  refused({"run", "--model", m, "--model", m}, "--model: a language model works alone");
  refused({"serve", "--model", m}, "has the task complete, which is not served");
  refused({"chat", "--model", m}, "reads no text to translate");
  refused({"export", "--model", m, "--to", "onnx", m + "-onnx"}, "a language model has no encoder");
  refused({"train", "--task", "complete", "--model", m + "-t", "--source", m, "--target", m},
          "--task: \"complete\" is not one of");
  refused({"explain", "--model", m, "a", "--kind", "cross"}, "no cross attention");
}

TEST(ImportGpt2, NamesWhatIsMissing) {
  const auto refused = [](const char* field, const json& value, const std::string& without = "") {
    const Scratch scratch;
    fs::copy(gpt2_cases() / "gpt2-tied" / "model", scratch / "model", fs::copy_options::recursive);
    json config = json::parse(test::read_text(scratch / "model" / "config.json"));
    config[field] = value;
    test::write_text(scratch / "model" / "config.json", config.dump());
    if (!without.empty()) fs::remove(scratch / "model" / without);
    return test::message_of<FileError>([&] { (void)import_model(scratch / "model", scratch / "m"); });
  };
  EXPECT_THAT(refused("scale_attn_by_inverse_layer_idx", true), HasSubstr("scale_attn_by_inverse_layer_idx"));
  EXPECT_THAT(refused("add_cross_attention", true), HasSubstr("add_cross_attention"));
  EXPECT_THAT(refused("n_layer", 2), HasSubstr("h.2"));
  EXPECT_THAT(refused("n_layer", 4), HasSubstr("h.3"));
  EXPECT_THAT(refused("n_head", 5), HasSubstr("heads: 5 do not divide"));
  EXPECT_THAT(refused("n_embd", 12), HasSubstr("12"));
  EXPECT_THAT(refused("eos_token_id", 5000), HasSubstr("a special token has the id 5000"));
  EXPECT_THAT(refused("n_layer", 3, "merges.txt"), HasSubstr("merges.txt: is missing"));
  EXPECT_THAT(refused("n_layer", 3, "vocab.json"), HasSubstr("vocab.json: is missing"));
}

}  // namespace
}  // namespace fovea

// Models of other programs: their logits against NumPy's, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/npy.hpp"
#include "fovea/translator.hpp"
#include "interop/files.hpp"
#include "interop/pickle.hpp"
#include "interop/yaml.hpp"
#include "interop/zip.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"
#include "text/shortlist.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Scratch;
using testing::HasSubstr;

// The models that models.py makes, once for all tests.
const fs::path& cases() {
  static const Scratch scratch;
  static const bool made = [] {
    const auto trained = train_tokenizer(
        {"the cat saw a dog", "a dog saw the cat and the bird", "birds see cats and dogs"}, {.vocab = 40});
    trained.tokenizer->save(scratch.folder(), "pieces");
    fs::rename(scratch / "pieces.model", scratch / "pieces.spm");
    json pieces = json::array();
    for (std::int32_t id = special_ids; id < trained.tokenizer->size(); ++id)
      pieces.push_back(trained.tokenizer->piece(id));
    test::write_text(scratch / "pieces.json", pieces.dump());
    const auto run = [&](const char* script) {
      const std::string command = "OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 " +
                                  std::string(FOVEA_SOURCE_DIR) + "/tests/interop/" + script + " " +
                                  scratch.folder().string();
      return std::system(command.c_str()) == 0;
    };
    return run("models.py") && run("rnn_models.py");
  }();
  EXPECT_TRUE(made) << "models.py failed; it needs /usr/bin/python3 with NumPy";
  return scratch.folder();
}

std::map<std::string, std::int32_t> ids_of(const Tokenizer& tokenizer) {
  std::map<std::string, std::int32_t> ids;
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) ids[tokenizer.piece(id)] = id;
  return ids;
}

std::vector<std::int32_t> ids_of(const json& tokens, const std::map<std::string, std::int32_t>& ids) {
  std::vector<std::int32_t> out;
  for (const auto& token : tokens) out.push_back(ids.at(token.get<std::string>()));
  return out;
}

class ImportedCase : public testing::TestWithParam<const char*> {};

TEST_P(ImportedCase, GivesTheLogitsOfAnotherImplementation) {
  const fs::path folder = cases() / GetParam();
  const Scratch scratch;
  fs::path source = folder / "model";
  if (fs::exists(source / "model.bin") && std::string(GetParam()).starts_with("marian-")) source /= "model.bin";
  const ImportReport report = import_model(source, scratch / "imported");
  EXPECT_GT(report.weights, 1000);
  LoadedModel loaded = load_model(scratch / "imported");
  const Seq2Seq model(loaded.config, loaded.parameters);
  const json given = json::parse(test::read_text(folder / "case.json"));
  const auto source_ids = ids_of(given["source"], ids_of(*loaded.tokenizers.source));
  const auto names = ids_of(*loaded.tokenizers.target);
  const auto target_ids = ids_of(given["target"], names);
  PaddedTokens read, fed;
  const bool end = loaded.config.tokens().end_of_sequence;
  read.fill(1, end ? Marks::end : Marks::none, [&](std::int64_t) { return std::span(source_ids); });
  fed.fill(1, Marks::begin, [&](std::int64_t) { return std::span(target_ids); });
  const NoGrad quiet;
  Pass pass;
  const Memory memory = model.encode(read.view(), pass);
  const Tensor states = model.generator().decode(&memory, fed.view(), pass).states.value();
  const Tensor logits = model.generator().logits(states).contiguous();
  const Tensor expected = read_npy(folder / "logits.npy");
  const json& vocabulary = given["vocabulary"];
  ASSERT_EQ(expected.dim(1), static_cast<std::int64_t>(vocabulary.size()));
  ASSERT_EQ(expected.dim(0), logits.dim(1));
  const std::int64_t width = logits.dim(2);
  std::vector<bool> seen(static_cast<std::size_t>(width), false);
  for (std::int64_t f = 0; f < expected.dim(1); ++f) {
    const std::int32_t ours = names.at(vocabulary[static_cast<std::size_t>(f)].get<std::string>());
    seen[static_cast<std::size_t>(ours)] = true;
    for (std::int64_t t = 0; t < expected.dim(0); ++t) {
      ASSERT_NEAR(logits.data()[t * width + ours], expected.data()[t * expected.dim(1) + f], 1e-4)
          << "step " << t << ", token " << vocabulary[static_cast<std::size_t>(f)];
    }
  }
  // What the other program does not have is never written.
  for (std::int64_t id = 0; id < width; ++id) {
    if (!seen[static_cast<std::size_t>(id)]) {
      EXPECT_LT(logits.data()[id], -1e8F) << id;
    }
  }
  // It runs like any other model.
  const Translator translator(scratch / "imported");
  const Generated one = translator.translate(
      loaded.tokenizers.source->join(std::vector<std::string>(given["source"].begin(), given["source"].end())),
      {.beam = 3, .max_length = 8, .attention = true});
  EXPECT_EQ(one.attention.weights.rows, static_cast<std::int64_t>(one.attention.target.size()));
  EXPECT_EQ(one.attention.weights.columns, static_cast<std::int64_t>(one.attention.source.size()));
}

INSTANTIATE_TEST_SUITE_P(Formats, ImportedCase,
                         testing::Values("marianmt-tied", "marianmt-untied", "marianmt-target", "marianmt-pre",
                                         "marianmt-torch", "marianmt-half", "marianmt-two", "marian-two", "marian-spm",
                                         "marian-tied", "marian-untied", "marian-pre", "marian-learned", "marian-bin",
                                         "marian-int8", "marian-ssru", "marian-amun", "marian-amun-tied", "marian-s2s",
                                         "marian-s2s-lstm", "marian-s2s-deep", "marian-s2s-deep-lstm",
                                         "marian-s2s-skip", "marian-s2s-skip-lstm", "marian-s2s-one-way",
                                         "marian-s2s-one-way-skip", "ct2-v2", "ct2-v3", "ct2-v4", "ct2-v5", "ct2-v6",
                                         "ct2-zero"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

std::string refused(const fs::path& source) {
  const Scratch scratch;
  const std::string message = test::message_of<FileError>([&] { (void)import_model(source, scratch / "m"); });
  EXPECT_FALSE(fs::exists(scratch / "m"));
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return message;
}

// A copy of a case whose config.json the test changes.
fs::path changed(const Scratch& scratch, const char* name, const std::function<void(json&)>& change) {
  fs::copy(cases() / name / "model", scratch / "model", fs::copy_options::recursive);
  json config = json::parse(test::read_text(scratch / "model" / "config.json"));
  change(config);
  test::write_text(scratch / "model" / "config.json", config.dump());
  return scratch / "model";
}

TEST(Import, RecordsTheLanguagesOfTheFolder) {
  const auto languages_of = [](const char* name, const char* path, const char* tokenizer) {
    const Scratch scratch;
    const fs::path source = scratch / name;
    fs::copy(cases() / "marianmt-tied" / "model", source, fs::copy_options::recursive);
    json config = json::parse(test::read_text(source / "config.json"));
    config["_name_or_path"] = path;
    test::write_text(source / "config.json", config.dump());
    test::write_text(source / "tokenizer_config.json", tokenizer);
    (void)import_model(source, scratch / "imported");
    return read_model_config(scratch / "imported").languages;
  };
  EXPECT_EQ(languages_of("opus-mt-en-de", "", "{}"), "en-de");
  EXPECT_EQ(languages_of("models", "someone/opus-mt-tc-big-fr-en", "{}"), "fr-en");
  EXPECT_EQ(languages_of("models", "", R"({"source_lang": "zh", "target_lang": "en"})"), "zh-en");
  EXPECT_EQ(languages_of("opus-mt-en-ROMANCE", "", "{}"), "");
  EXPECT_EQ(languages_of("en", "", "{}"), "");
}

TEST(Import, RefusesWhatItDoesNotKnowByName) {
  for (const char* type : {"t5", "bart", "mbart", "m2m_100", "llama"}) {
    const Scratch scratch;
    EXPECT_THAT(refused(changed(scratch, "marianmt-tied", [&](json& c) { c["model_type"] = type; })),
                HasSubstr(std::string(type) + " models are not supported"));
  }
  const Scratch scratch;
  fs::create_directory(scratch / "empty");
  EXPECT_THAT(refused(scratch / "empty"), HasSubstr("no model of CTranslate2"));
  EXPECT_THAT(refused(scratch / "nowhere"), HasSubstr("no such file or folder"));
  test::write_text(scratch / "checkpoint.pt", "x");
  EXPECT_THAT(refused(scratch / "checkpoint.pt"), HasSubstr("checkpoints of fairseq and OpenNMT-py are not supported"));
  const Scratch activation;
  EXPECT_THAT(refused(changed(activation, "marianmt-tied", [](json& c) { c["activation_function"] = "mish"; })),
              HasSubstr("mish"));
  const Scratch heads;
  EXPECT_THAT(refused(changed(heads, "marianmt-tied", [](json& c) { c["encoder_attention_heads"] = 5; })),
              HasSubstr("heads: 5 do not divide"));
  const Scratch layers;
  EXPECT_THAT(refused(changed(layers, "marianmt-tied", [](json& c) { c["decoder_layers"] = 2; })),
              HasSubstr("model.decoder.layers.2"));
  const Scratch more;
  EXPECT_THAT(refused(changed(more, "marianmt-tied", [](json& c) { c["decoder_layers"] = 4; })),
              HasSubstr("is missing"));
  const Scratch pre;
  EXPECT_THAT(refused(changed(pre, "marianmt-tied", [](json& c) { c["normalize_before"] = true; })),
              HasSubstr("normalize_before"));
}

TEST(Import, ALexicalShortlistSaysWhatALineMayWrite) {
  const Scratch scratch;
  EXPECT_THAT(import_model(cases() / "marian-ssru" / "model", scratch / "m").found, HasSubstr("shortlist"));
  const LoadedModel model = load_model(scratch / "m");
  const text::Shortlist shortlist(scratch / "m" / "shortlist.safetensors", model.tokenizers.source->size(),
                                  model.tokenizers.target->size());
  const auto ids = ids_of(*model.tokenizers.target);
  // Words of the case are numbered w0, w1 … behind </s> and <unk>; the first three tokens are in every list.
  const std::vector<std::int32_t> source{ids.at("w5"), eos_id};
  const std::vector<std::int32_t> wanted{unk_id, eos_id, ids.at("w0"), ids.at("w5"), ids.at("w6"), ids.at("w7")};
  EXPECT_THAT(shortlist.candidates(source), testing::UnorderedElementsAreArray(wanted));
  const Translator translator(scratch / "m", {.shortlist = true});
  for (const std::string& word : translator.translate("w5", {.beam = 2, .max_length = 6}).attention.target) {
    EXPECT_THAT(wanted, testing::Contains(ids.at(word)));
  }
}

TEST(Import, ADamagedShortlistIsAnError) {
  const Scratch scratch;
  fs::copy(cases() / "marian-ssru" / "model", scratch / "model", fs::copy_options::recursive);
  const fs::path file = scratch / "model" / "lex.50.50.ende.s2t.bin";
  const std::string whole = test::read_text(file);
  const auto said = [&](const std::string& bytes) {
    test::write_text(file, bytes);
    return refused(scratch / "model");
  };
  EXPECT_THAT(said("x"), HasSubstr("not a binary lexical shortlist"));
  EXPECT_THAT(said(whole.substr(0, 20)), HasSubstr("ends too early"));
  EXPECT_THAT(said(whole.substr(0, whole.size() - 4)), HasSubstr("its size"));
  EXPECT_THAT(said(whole.substr(0, 60) + "x" + whole.substr(61)), HasSubstr("checksum"));
  test::write_text(file, whole);
  test::write_text(scratch / "model" / "lex.another.bin", whole);
  EXPECT_THAT(refused(scratch / "model"), HasSubstr("2 lexical shortlists"));
}

TEST(Import, NeverWritesOverAFolder) {
  const Scratch scratch;
  fs::create_directories(scratch / "there");
  test::write_text(scratch / "there" / "config.json", "{}");
  EXPECT_THROW((void)import_model(cases() / "ct2-v6" / "model", scratch / "there"), UsageError);
  EXPECT_EQ(test::read_text(scratch / "there" / "config.json"), "{}");
}

TEST(Import, GoesOnWhereAnotherWasEnded) {
  const Scratch scratch;
  fs::create_directories(scratch / "half" / ".partial");
  test::write_text(scratch / "half" / "config.json", "{}");
  test::write_text(scratch / "half" / ".partial" / "model.safetensors", "half");
  (void)import_model(cases() / "ct2-v6" / "model", scratch / "half");
  (void)import_model(cases() / "ct2-v6" / "model", scratch / "whole");
  for (const char* file : {"config.json", "model.safetensors"}) {
    EXPECT_EQ(test::read_text(scratch / "half" / file), test::read_text(scratch / "whole" / file)) << file;
  }
  EXPECT_FALSE(fs::exists(scratch / "half" / ".partial"));
}

std::string bytes_of_pickle(const std::string& body) {
  return "\x80\x02" + body;
}

std::string pickle_error(const std::string& body) {
  const std::string bytes = bytes_of_pickle(body);
  return test::message_of<FileError>(
      [&] { (void)interop::read_pickle(std::as_bytes(std::span(bytes.data(), bytes.size())), "f"); });
}

TEST(Import, RefusesFeaturesOfRecurrentModelsByName) {
  for (const auto& [name, said] : {std::pair("transitions", "option enc-cell-depth: 2 is not supported"),
                                   {"high", "option dec-cell-high-depth: 2 is not supported"},
                                   {"alternating", "option enc-type: alternating is not supported"},
                                   {"skip", "option skip: true is not supported"},
                                   {"norm", "option layer-normalization: true is not supported"}}) {
    EXPECT_THAT(refused(cases() / (std::string("refused-marian-") + name) / "model"), HasSubstr(said)) << name;
  }
}

TEST(Pickle, RunsNothing) {
  EXPECT_THAT(pickle_error("cos\nsystem\n(X\x02\x00\x00\x00ls"), HasSubstr("\"os system\""));
  EXPECT_THAT(pickle_error("cbuiltins\neval\n."), HasSubstr("not run"));
  EXPECT_THAT(pickle_error("ctorch\nload\n."), HasSubstr("\"torch load\""));
  EXPECT_THAT(pickle_error("i"), HasSubstr("0x69"));
  EXPECT_THAT(pickle_error("(K\x01"), HasSubstr("ends too early"));
  EXPECT_THAT(pickle_error("R."), HasSubstr("stack is empty"));
  EXPECT_THAT(pickle_error("K\x01K\x02."), HasSubstr("does not end with one value"));
  EXPECT_THAT(pickle_error("h\x07."), HasSubstr("unknown memory"));
  EXPECT_THAT(pickle_error("cos\nsystem\n)R."), HasSubstr("\"os system\""));
  EXPECT_THAT(pickle_error("c__builtin__\neval\n."), HasSubstr("\"__builtin__ eval\""));
  EXPECT_THAT(pickle_error("cargparse\nNamespace\n."), HasSubstr("\"argparse Namespace\""));
  EXPECT_THAT(pickle_error("ccollections\nOrderedDict\n)R)b."), HasSubstr("state of a value that is not a dictionary"));
  EXPECT_THAT(pickle_error("ctorch\n" + std::string(300, 'x') + "Storage\n."), HasSubstr("not run"));
}

TEST(Yaml, TakesQuotesAway) {
  const auto options = interop::parse_flat_yaml("a: 1\nb: \"\"\nlist:\n  - x: y\nc: 'it''s'\n", "f");
  EXPECT_EQ(options.at("a"), "1");
  EXPECT_EQ(options.at("b"), "");
  EXPECT_EQ(options.at("c"), "it's");
  EXPECT_EQ(options.count("  - x"), 0U);
  const auto ids = interop::parse_yaml_ids("\"\\\"\": 1\n</s>: 0\n\":\": 3\n'a''b': 2\n\"\\xe9\": 4\n", "f");
  EXPECT_EQ(ids, (std::vector<std::string>{"</s>", "\"", "a'b", ":", "é"}));
  EXPECT_THROW((void)interop::parse_yaml_ids("a: 0\nb: 2\n", "f"), FileError);
  EXPECT_THROW((void)interop::parse_yaml_ids("a: 0\nb: 0\n", "f"), FileError);
  EXPECT_THROW((void)interop::parse_yaml_ids("a\n", "f"), FileError);
}

TEST(Import, EveryCutFileIsAnError) {
  for (const auto& [name, file] : {std::pair("ct2-v6", "model.bin"),
                                   {"marian-tied", "model.npz"},
                                   {"marianmt-torch", "pytorch_model.bin"},
                                   {"marianmt-tied", "model.safetensors"}}) {
    const Scratch scratch;
    fs::copy(cases() / name / "model", scratch / "model", fs::copy_options::recursive);
    const std::string whole = test::read_text(scratch / "model" / file);
    for (const double share : {0.0, 0.001, 0.3, 0.7, 0.999}) {
      test::write_text(scratch / "model" / file,
                       whole.substr(0, static_cast<std::size_t>(share * static_cast<double>(whole.size()))));
      const std::string message = refused(scratch / "model");
      EXPECT_THAT(message, HasSubstr(file)) << share;
    }
  }
}

// The log-probability of each target of a model in CTranslate2's format, by NumPy.
std::vector<double> numpys_scores(const fs::path& model, const std::vector<std::string>& lines) {
  const Scratch scratch;
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  test::write_text(scratch / "lines", text);
  const std::string command = "OPENBLAS_NUM_THREADS=1 /usr/bin/python3 " + std::string(FOVEA_SOURCE_DIR) +
                              "/tests/interop/ctranslate2_score.py " + model.string() + " < " +
                              (scratch / "lines").string() + " > " + (scratch / "scores").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::vector<double> scores;
  std::istringstream read(test::read_text(scratch / "scores"));
  for (double score = 0; read >> score;) scores.push_back(score);
  return scores;
}

// A real model with outputs that its authors documented.
TEST(Import, ARealModelWritesItsKnownOutputs) {
  const char* models = std::getenv("FOVEA_TEST_MODELS");
  const fs::path real = fs::path(models != nullptr ? models : FOVEA_SOURCE_DIR "/../shared/models") / "ct2-aren";
  if (!fs::exists(real)) GTEST_SKIP() << real << " is not there";
  const Scratch scratch;
  (void)import_model(real, scratch / "aren");
  const Translator translator(scratch / "aren");
  const std::vector<std::string> sources{"آ ت ز م و ن", "آ ت ش ي س و ن"};
  const std::vector<std::string> targets{"a t z m o n", "a c h i s o n"};
  const auto expected = numpys_scores(real, {sources[0] + "\t" + targets[0], sources[1] + "\t" + targets[1]});
  ASSERT_EQ(expected.size(), 2U);
  const auto scored = translator.score(sources, targets);
  // It goes out and comes back as the same model, to the last bit.
  export_model(scratch / "aren", ExportFormat::ctranslate2, scratch / "out");
  (void)import_model(scratch / "out", scratch / "back");
  const Translator back(scratch / "back");
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(scored[i], expected[i], 1e-4);
    for (const int beam : {1, 4}) {
      const Generated one = translator.translate(sources[i], {.beam = beam});
      EXPECT_EQ(one.text, targets[i]);
      EXPECT_NEAR(one.log_probability, expected[i], 1e-4);
      const Generated again = back.translate(sources[i], {.beam = beam});
      EXPECT_EQ(again.text, one.text);
      EXPECT_EQ(again.log_probability, one.log_probability);
    }
  }
}

TEST(ImportCommand, SaysWhatItFound) {
  const test::TemporaryFolder out;
  const auto ran = test::run_cli({"import", (cases() / "ct2-v6" / "model").string(), "--model", out.path("m")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("CTranslate2 TransformerSpec"));
  EXPECT_THAT(ran.out, HasSubstr("int8"));
  const auto run = test::run_cli({"run", "--model", out.path("m"), "--max-length", "5"}, "w1 w2\n\n");
  EXPECT_EQ(run.code, 0) << run.err;
  const auto again = test::run_cli({"import", (cases() / "ct2-v6" / "model").string(), "--model", out.path("m")});
  EXPECT_EQ(again.code, 2);
  EXPECT_THAT(again.err, HasSubstr("--model: "));
  EXPECT_EQ(test::run_cli({"import", out.path("nothing"), "--model", out.path("n")}).code, 1);
}

}  // namespace
}  // namespace fovea

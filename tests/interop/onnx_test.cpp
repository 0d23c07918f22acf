// ONNX graphs of models of every kind, run by onnxruntime: the logits are the model's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/model/seq2seq.hpp"
#include "fovea/train.hpp"
#include "fovea/training_job.hpp"
#include "support/files.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Scratch;
using testing::HasSubstr;

// Model folders, their graphs, and the logits that the graphs must give.
class OnnxCases {
 public:
  // With weights that are all random: those that a training starts with zeros are not.
  void add(const std::string& name, ModelConfig config) {
    const std::vector<std::string> lines{"one two three four five six seven", "eins zwei drei vier"};
    Tokenizers tokenizers;
    tokenizers.source = tokenizers.target = train_tokenizer(lines, {.kind = TokenizerKind::word}).tokenizer;
    config.tokens().vocabulary = config.generator().vocabulary = tokenizers.source->size();
    config.shared_vocabulary = config.generator().tie == Tie::all;
    Parameters parameters(3);
    build_weights(config, parameters);
    std::mt19937 random(7);
    std::normal_distribution<float> normal(0, 0.1F);
    for (const auto& entry : parameters.entries()) {
      for (float& v : entry.weight.value().values()) v += normal(random);
    }
    write_model(scratch_ / "models" / name, config, tokenizers, parameters);
    add_folder(name, scratch_ / "models" / name);
  }

  void add_folder(const std::string& name, const fs::path& folder) {
    const fs::path out = scratch_ / name;
    export_model(folder, ExportFormat::onnx, out);
    LoadedModel loaded = load_model(folder);
    const Seq2Seq model(loaded.config, loaded.parameters);
    const std::vector<std::vector<std::int32_t>> sources{{4, 5, 6, 7, 8, 4, 5}, {9, 4}, {6, 6, 7, 5}};
    const std::vector<std::vector<std::int32_t>> targets{{5, 6, 7, 4}, {4, 8, 9, 9}, {8, 7, 6, 5}};
    PaddedTokens read, fed;
    const Marks end = loaded.config.tokens().end_of_sequence ? Marks::end : Marks::none;
    read.fill(3, end, [&](std::int64_t r) { return sources[static_cast<std::size_t>(r)]; });
    fed.fill(3, Marks::begin, [&](std::int64_t r) { return targets[static_cast<std::size_t>(r)]; });
    const NoGrad quiet;
    Pass pass;
    const Memory memory = model.encode(read.view(), pass);
    const Tensor states = model.generator().decode(&memory, fed.view(), pass).states.value();
    const Tensor logits = model.generator().logits(states).contiguous();
    const auto list = [](const auto& values) { return json(std::vector(values.begin(), values.end())); };
    test::write_text(out / "case.json", json{{"source", list(read.view().ids)},
                                             {"lengths", list(read.view().lengths)},
                                             {"target", list(fed.view().ids)},
                                             {"logits", list(logits.values())}}
                                            .dump());
    folders_ += " " + out.string();
  }

  // 0 where all logits are the same to 1e-4, 77 where onnxruntime is not to be had.
  [[nodiscard]] int run() const {
    const std::string command = std::string(FOVEA_SOURCE_DIR) + "/tests/interop/onnxruntime/run.sh " +
                                FOVEA_BINARY_DIR + "/onnxruntime" + folders_;
    return WEXITSTATUS(std::system(command.c_str()));
  }

  [[nodiscard]] fs::path operator/(const char* name) const { return scratch_ / name; }

 private:
  Scratch scratch_;
  std::string folders_;
};

#define EXPECT_THE_MODELS_LOGITS(cases)                                    \
  const int code = (cases).run();                                          \
  if (code == 77) GTEST_SKIP() << "onnxruntime-node could not be fetched"; \
  EXPECT_EQ(code, 0)

ModelConfig of(const EncoderConfig& encoder, const DecoderConfig& decoder) {
  ModelConfig config;
  config.encoder = encoder;
  config.generator().decoder = decoder;
  config.tokens().embedding = config.generator().embedding = 12;
  return config;
}

TEST(Onnx, TransformersGiveTheModelsLogits) {
  OnnxCases cases;
  TransformerConfig part{.layers = 2, .dim = 12, .ffn = 24, .heads = 2};
  ModelConfig config = of(part, part);
  cases.add("pre-norm", config);
  part.norm = Norm::post;
  part.activation = Activation::gelu;
  part.embedding_norm = true;
  config = of(part, part);
  config.generator().tie = Tie::target;
  cases.add("post-norm", config);
  part.positions = Positions::learned;
  part.max_positions = 20;
  part.activation = Activation::gelu_tanh;
  part.bias = false;
  config = of(part, part);
  config.generator().tie = Tie::all;
  cases.add("learned", config);
  part.activation = Activation::swish;
  part.positions = Positions::timing_signal;
  part.scaled_scores = false;
  cases.add("timing-signal", of(part, part));
  TransformerConfig decoder = part;
  decoder.decoder_self = DecoderSelf::ssru;
  cases.add("ssru", of(part, decoder));
  EXPECT_THE_MODELS_LOGITS(cases);
}

TEST(Onnx, RecurrentModelsGiveTheirLogits) {
  OnnxCases cases;
  for (const Cell cell : {Cell::gru, Cell::lstm}) {
    const std::string name(enum_text(cell));
    RnnDecoderConfig decoder{.dim = 14, .cell = cell};
    cases.add(name + "-bahdanau", of(RnnEncoderConfig{.dim = 9, .cell = cell}, decoder));
    decoder.layers = 2;
    decoder.coverage = true;
    cases.add(name + "-two-layers", of(RnnEncoderConfig{.layers = 3, .dim = 9, .cell = cell}, decoder));
    decoder = {.layers = 2, .dim = 14, .cell = cell, .attention = RnnAttention::general, .form = RnnForm::luong};
    const RnnEncoderConfig one_way{.layers = 2, .dim = 9, .cell = cell, .bidirectional = false};
    cases.add(name + "-luong", of(one_way, decoder));
    decoder.input_feeding = true;
    ModelConfig config = of(one_way, decoder);
    config.generator().tie = Tie::all;
    cases.add(name + "-input-feeding", config);
    decoder = {.dim = 14, .cell = cell, .form = RnnForm::conditional};
    cases.add(name + "-conditional", of(RnnEncoderConfig{.dim = 9, .cell = cell}, decoder));
    decoder.attention_dim = 11;
    decoder.mean_start = true;
    decoder.cells_start = cell == Cell::lstm;
    decoder.readout_dim = 13;
    decoder.readout = Activation::tanh;
    cases.add(name + "-deep-output", of(RnnEncoderConfig{.dim = 9, .cell = cell}, decoder));
    decoder = {.layers = 3, .dim = 14, .cell = cell, .form = RnnForm::conditional, .residual = true};
    const RnnEncoderConfig two{.layers = 2, .dim = 7, .cell = cell, .residual = false};
    cases.add(name + "-deep-conditional", of(two, decoder));
    decoder = {.layers = 2, .dim = 14, .cell = cell, .attention = RnnAttention::general, .form = RnnForm::luong};
    decoder.input_feeding = decoder.layers_start = true;
    cases.add(name + "-layers-start", of(two, decoder));
    decoder.input_feeding = false;
    decoder.attention = RnnAttention::none;
    cases.add(name + "-plain-layers-start", of(two, decoder));
    decoder = {.layers = 2, .dim = 14, .cell = cell, .attention = RnnAttention::none};
    cases.add(name + "-plain", of(RnnEncoderConfig{.dim = 9, .cell = cell}, decoder));
  }
  EXPECT_THE_MODELS_LOGITS(cases);
}

TEST(Onnx, EveryScoreOfARecurrentDecoderIsWritten) {
  OnnxCases cases;
  const RnnEncoderConfig encoder{.dim = 9};
  for (const auto& [attention, name] : enum_names<RnnAttention>()) {
    cases.add(name, of(encoder, RnnDecoderConfig{.dim = 14, .attention = attention, .max_positions = 30}));
  }
  RnnDecoderConfig decoder{.dim = 14, .local = LocalKind::monotonic, .local_window = 1};
  cases.add("monotonic", of(encoder, decoder));
  decoder.local = LocalKind::predictive;
  decoder.local_window = 2;
  decoder.attention = RnnAttention::dot;
  cases.add("predictive", of(encoder, decoder));
  decoder = {.dim = 14, .form = RnnForm::gated};
  cases.add("gated", of(encoder, decoder));
  decoder.attention_kind = Focus::hard;
  cases.add("hard", of(encoder, decoder));
  EXPECT_THE_MODELS_LOGITS(cases);
}

TEST(Onnx, ConvolutionalAndMixedModelsGiveTheirLogits) {
  OnnxCases cases;
  const CnnConfig cnn{.layers = 3, .dim = 10, .kernel = 3, .max_positions = 20};
  const RnnDecoderConfig rnn{.dim = 14};
  const TransformerConfig transformer{.layers = 1, .dim = 12, .ffn = 24, .heads = 2};
  const RnnEncoderConfig reader{.dim = 9};
  cases.add("cnn", of(cnn, cnn));
  CnnConfig wide = cnn;
  wide.kernel = 4;
  cases.add("cnn-even-decoder", of(cnn, wide));
  cases.add("rnn-cnn", of(reader, cnn));
  cases.add("transformer-cnn", of(transformer, cnn));
  cases.add("cnn-rnn", of(cnn, rnn));
  cases.add("transformer-rnn", of(transformer, rnn));
  cases.add("none-rnn", of(NoEncoderConfig{.dim = 12}, rnn));
  cases.add("rnn-transformer", of(reader, transformer));
  cases.add("cnn-transformer", of(cnn, transformer));
  EXPECT_THE_MODELS_LOGITS(cases);
}

TEST(Onnx, TrainedModelsGiveTheirLogits) {
  OnnxCases cases;
  std::string sources, targets;
  const std::vector<std::string> numbers{"one", "two", "three", "four", "five", "six", "seven"};
  for (std::size_t i = 0; i < 120; ++i) {
    const std::string &a = numbers[i % 7], &b = numbers[i * 5 / 7 % 7], &c = numbers[i * 3 % 7];
    sources += a + " " + b + " " + c + "\n";
    targets += c + " " + b + " " + a + "\n";
  }
  const Scratch scratch;
  test::write_text(scratch / "source", sources);
  test::write_text(scratch / "target", targets);
  for (const char* name : {"transformer-tiny", "rnn-bahdanau", "rnn-luong", "cnn"}) {
    TrainingJob job;
    job.model = scratch / name;
    job.source = job.valid_source = scratch / "source";
    job.target = job.valid_target = scratch / "target";
    job.config = preset(name);
    job.tokenizer = TokenizerKind::word;
    job.options.max_steps = 20;
    job.options.batch_tokens = 400;
    train(job);
    cases.add_folder(name, job.model);
  }
  EXPECT_THE_MODELS_LOGITS(cases);
}

std::string refused(const ModelConfig& config) {
  OnnxCases cases;
  return test::message_of<UsageError>([&] { cases.add("refused", config); });
}

TEST(Onnx, NamesWhatIsNotWritten) {
  TransformerConfig part{.layers = 1, .dim = 12, .ffn = 24, .heads = 2};
  TransformerConfig other = part;
  other.positions = Positions::alibi;
  EXPECT_THAT(refused(of(part, other)), HasSubstr("ONNX export does not have alibi positions"));
  other = part;
  other.decoder_self = DecoderSelf::average;
  EXPECT_THAT(refused(of(part, other)), HasSubstr("no average in place"));
  other = part;
  other.activation = Activation::leaky_relu;
  EXPECT_THAT(refused(of(part, other)), HasSubstr("leaky-relu"));
  ModelConfig config = of(part, part);
  config.generator().copy = true;
  EXPECT_THAT(refused(config), HasSubstr("cannot copy"));
  const Scratch scratch;
  test::write_tiny_classifier(scratch / "labels");
  test::write_tiny_chat(scratch / "chat");
  const auto said = [&](const char* name) {
    return test::message_of<UsageError>([&] { export_model(scratch / name, ExportFormat::onnx, scratch / "out"); });
  };
  EXPECT_THAT(said("labels"), HasSubstr("not a classifier"));
  EXPECT_THAT(said("chat"), HasSubstr("not a source of turns"));
}

}  // namespace
}  // namespace fovea

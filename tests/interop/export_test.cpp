// Models written for other programs: read back they are the same, to the byte of what they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/model/folder.hpp"
#include "fovea/nn/parameters_file.hpp"
#include "fovea/translator.hpp"
#include "support/scratch.hpp"
#include "support/tiny_model.hpp"

namespace fovea {
namespace {

namespace fs = std::filesystem;
using test::Scratch;
using testing::HasSubstr;

const std::vector<std::string>& lines() {
  static const std::vector<std::string> all{"the cat saw a dog", "a dog saw the cat and the bird",
                                            "birds see cats and dogs", "a cat", "the bird"};
  return all;
}

struct Kind {
  TransformerConfig part{.layers = 2, .dim = 16, .ffn = 24, .heads = 2};
  Tie tie = Tie::none;
  TokenizerKind tokens = TokenizerKind::word;
  bool end = true;
};

void write_model(const fs::path& folder, const Kind& kind) {
  ModelConfig config;
  config.encoder = kind.part;
  config.generator() = {.decoder = kind.part, .embedding = kind.part.dim, .tie = kind.tie};
  config.tokens().embedding = kind.part.dim;
  config.tokens().end_of_sequence = kind.end;
  config.shared_vocabulary = kind.tie == Tie::all;
  Tokenizers tokenizers;
  tokenizers.source = train_tokenizer(lines(), {.kind = kind.tokens, .vocab = 40}).tokenizer;
  const std::vector<std::string> other(lines().begin(), lines().end() - 2);
  tokenizers.target =
      kind.tie == Tie::all ? tokenizers.source : train_tokenizer(other, {.kind = kind.tokens, .vocab = 38}).tokenizer;
  config.tokens().vocabulary = tokenizers.source->size();
  config.generator().vocabulary = tokenizers.target->size();
  Parameters parameters(7);
  build_weights(config, parameters);
  write_model_config(folder, config, tokenizers);
  save_parameters(parameters, folder / "model.safetensors");
}

void expect_same_outputs(const fs::path& a, const fs::path& b) {
  const GenerateOptions how{.beam = 4, .n_best = 3, .max_length = 12, .attention = true};
  const auto one = Translator(a).translate(lines(), how);
  const auto other = Translator(b).translate(lines(), how);
  for (std::size_t i = 0; i < one.size(); ++i) {
    for (std::size_t n = 0; n < one[i].size(); ++n) {
      EXPECT_EQ(one[i][n].text, other[i][n].text);
      EXPECT_EQ(one[i][n].log_probability, other[i][n].log_probability);
      EXPECT_EQ(one[i][n].attention.source, other[i][n].attention.source);
      EXPECT_EQ(one[i][n].attention.weights.values, other[i][n].attention.weights.values);
    }
  }
}

void expect_round_trip(const Kind& kind, ExportFormat format) {
  const Scratch scratch;
  write_model(scratch / "model", kind);
  export_model(scratch / "model", format, scratch / "out");
  (void)import_model(scratch / "out", scratch / "back");
  expect_same_outputs(scratch / "model", scratch / "back");
  const Parameters before = load_parameters(scratch / "model" / "model.safetensors");
  const Parameters after = load_parameters(scratch / "back" / "model.safetensors");
  EXPECT_EQ(before.entries().size(), after.entries().size());
}

TEST(Export, CTranslate2AndBackIsTheSameModel) {
  Kind kind;
  expect_round_trip(kind, ExportFormat::ctranslate2);
  kind.tie = Tie::target;
  kind.end = false;
  kind.part.norm = Norm::post;
  kind.part.activation = Activation::gelu;
  kind.part.norm_epsilon = 1e-6F;
  expect_round_trip(kind, ExportFormat::ctranslate2);
  kind = {};
  kind.tie = Tie::all;
  kind.tokens = TokenizerKind::sentencepiece;
  kind.part.positions = Positions::timing_signal;
  kind.part.first_position = 1;
  kind.part.activation = Activation::swish;
  expect_round_trip(kind, ExportFormat::ctranslate2);
  kind.part.positions = Positions::learned;
  kind.part.max_positions = 60;
  kind.part.first_position = 0;
  kind.part.embedding_norm = true;
  kind.part.activation = Activation::gelu_tanh;
  expect_round_trip(kind, ExportFormat::ctranslate2);
}

TEST(Export, MarianMtAndBackIsTheSameModel) {
  Kind kind;
  kind.tokens = TokenizerKind::sentencepiece;
  kind.part.norm = Norm::post;
  for (const Tie tie : {Tie::none, Tie::target, Tie::all}) {
    kind.tie = tie;
    expect_round_trip(kind, ExportFormat::huggingface);
  }
}

std::string refused(const Kind& kind, ExportFormat format) {
  const Scratch scratch;
  write_model(scratch / "model", kind);
  const std::string said =
      test::message_of<UsageError>([&] { export_model(scratch / "model", format, scratch / "out"); });
  EXPECT_FALSE(fs::exists(scratch / "out"));
  EXPECT_FALSE(fs::exists(scratch / "out.part"));
  return said;
}

TEST(Export, NamesWhatAFormatDoesNotHave) {
  Kind kind;
  kind.tokens = TokenizerKind::sentencepiece;
  EXPECT_THAT(refused(kind, ExportFormat::huggingface), HasSubstr("pre-norm"));
  kind.part.norm = Norm::post;
  kind.part.positions = Positions::rotary;
  EXPECT_THAT(refused(kind, ExportFormat::ctranslate2), HasSubstr("rotary"));
  kind.part.positions = Positions::timing_signal;
  EXPECT_THAT(refused(kind, ExportFormat::huggingface), HasSubstr("timing-signal"));
  kind.part.positions = Positions::sinusoidal;
  kind.tokens = TokenizerKind::word;
  EXPECT_THAT(refused(kind, ExportFormat::huggingface), HasSubstr("SentencePiece"));
  const Scratch rnn;
  test::write_tiny_model(rnn / "model", test::tiny_rnn(), "");
  EXPECT_THAT(
      test::message_of<UsageError>([&] { export_model(rnn / "model", ExportFormat::ctranslate2, rnn / "out"); }),
      HasSubstr("not rnn with rnn"));
  EXPECT_THROW((void)export_format("tensorflow"), UsageError);
  const Scratch scratch;
  write_model(scratch / "model", kind);
  EXPECT_THROW(export_model(scratch / "model", ExportFormat::ctranslate2, scratch / "model"), UsageError);
}

}  // namespace
}  // namespace fovea

// Hugging Face's folders of GPT-2's layout: config.json, model.safetensors or pytorch_model.bin, vocab.json and
// merges.txt. A pre-norm decoder with learned positions and GELU by tanh. Its matrices are [in, out] (Conv1D); queries,
// keys and values are one. The names of tensors may begin with "transformer.".
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "interop/files.hpp"
#include "interop/hugging_face.hpp"
#include "interop/imported_model.hpp"
#include "interop/vocabulary_map.hpp"

namespace fovea::interop {
namespace {

class Gpt2Importer {
 public:
  explicit Gpt2Importer(const std::filesystem::path& folder)
      : folder_(folder),
        config_(folder / "config.json"),
        tensors_(read_hugging_face_weights(folder)),
        scope_(tensors_.has("transformer.wte.weight") ? "transformer." : "") {}

  ImportedModel run() {
    out_.found = "Hugging Face GPT-2";
    TransformerConfig decoder = read_config();
    read_vocabulary();
    GeneratorConfig generator;
    put_embeddings(generator);
    put_positions(out_.parameters, decoder, "decoder.positions", tensors_.take(scope_ + "wpe.weight"));
    for (int i = 0; i < decoder.layers; ++i) put_layer(i, decoder.dim);
    norm("decoder.norm", "ln_f");
    tensors_.finish();
    generator.decoder = decoder;
    set_language_model(out_, generator, decoder.dim, *vocabulary_);
    return std::move(out_);
  }

 private:
  TransformerConfig read_config() const {
    TransformerConfig c;
    c.layers = config_.integer("n_layer");
    c.dim = config_.integer("n_embd");
    c.heads = config_.integer("n_head");
    c.ffn = config_.integer("n_inner", c.dim <= 1 << 20 ? 4 * c.dim : c.dim);
    c.norm = Norm::pre;
    c.norm_epsilon = static_cast<float>(config_.number("layer_norm_epsilon", 1e-5));
    c.scaled_scores = config_.flag("scale_attn_weights", true);
    set_activation(c, config_.text("activation_function", "gelu_new"), config_.file());
    for (const char* feature : {"scale_attn_by_inverse_layer_idx", "add_cross_attention"}) {
      if (config_.flag(feature, false)) config_.fail(feature, "is not supported");
    }
    return c;
  }

  void read_vocabulary() {
    const std::filesystem::path file = folder_ / "vocab.json";
    for (const std::filesystem::path& needed : {file, folder_ / "merges.txt"}) {
      if (!std::filesystem::exists(needed)) {
        throw FileError(
            fmt::format("{}: is missing; GPT-2's byte pairs are in vocab.json and merges.txt", needed.string()));
      }
    }
    const std::vector<std::string> tokens = read_token_ids(file, table_rows());
    ForeignSpecials special;
    special.end = config_.integer("eos_token_id", 50256);
    special.start = config_.integer("bos_token_id", static_cast<int>(special.end));
    vocabulary_ = std::make_unique<VocabularyMap>(tokens, special, file.string());
    out_.tokenizers.target = byte_pairs_in(folder_, *vocabulary_);
  }

  [[nodiscard]] std::int64_t table_rows() const {
    const Shape& shape = tensors_.shape(scope_ + "wte.weight");
    if (shape.rank() != 2) tensors_.fail(fmt::format("tensor {}wte.weight has shape {}", scope_, shape.text()));
    return shape[0];
  }

  void put_embeddings(GeneratorConfig& generator) {
    const std::string table = scope_ + "wte.weight";
    const std::string head = "lm_head.weight";
    const bool tied = config_.flag("tie_word_embeddings", true) || !tensors_.has(head) || tensors_.same(head, table);
    generator.tie = tied ? Tie::target : Tie::none;
    generator.scaled_embeddings = false;
    const Shape shape = tensors_.shape(table);
    out_.parameters.put("target.embedding", vocabulary_->rows(tensors_.take(table)));
    if (!tied) out_.parameters.put("output.weight", vocabulary_->rows(tensors_.take(head, shape)));
    tensors_.ignore(head);
    out_.parameters.put("output.bias", vocabulary_->bias({}));
  }

  void norm(const std::string& to, const std::string& from) {
    put_norm(out_.parameters, to, tensors_.take(scope_ + from + ".weight"), tensors_.take(scope_ + from + ".bias"));
  }

  // Matrices side by side in one: as many as `names`, each [in, width].
  void columns(const std::vector<std::string>& names, const std::string& from, std::int64_t width) {
    const Tensor weight = tensors_.take(scope_ + from + ".weight");
    const Tensor bias = tensors_.take(scope_ + from + ".bias");
    const auto count = static_cast<std::int64_t>(names.size());
    if (weight.rank() != 2 || weight.dim(1) != count * width || bias.size() != count * width) {
      tensors_.fail(fmt::format("tensor {}{}.weight has shape {}; {} columns are needed", scope_, from,
                                weight.shape().text(), count * width));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string& name = names[static_cast<std::size_t>(i)];
      out_.parameters.put(name + ".weight", weight.slice(1, i * width, (i + 1) * width).clone());
      out_.parameters.put(name + ".bias", bias.reshape({bias.size()}).slice(0, i * width, (i + 1) * width).clone());
    }
  }

  void put_layer(int i, std::int64_t dim) {
    const std::string from = fmt::format("h.{}", i);
    const std::string to = fmt::format("decoder.{}", i);
    norm(to + ".self_norm", from + ".ln_1");
    columns({to + ".self.query", to + ".self.key", to + ".self.value"}, from + ".attn.c_attn", dim);
    columns({to + ".self.output"}, from + ".attn.c_proj", dim);
    norm(to + ".feed_norm", from + ".ln_2");
    columns({to + ".feed.first"}, from + ".mlp.c_fc", tensors_.shape(scope_ + from + ".mlp.c_fc.bias").size());
    columns({to + ".feed.second"}, from + ".mlp.c_proj", dim);
    // The causal mask, which older files hold as numbers.
    for (const char* mask : {".attn.bias", ".attn.masked_bias"}) tensors_.ignore(scope_ + from + mask);
  }

  std::filesystem::path folder_;
  HuggingFaceConfig config_;
  ForeignTensors tensors_;
  std::string scope_;
  std::unique_ptr<VocabularyMap> vocabulary_;
  ImportedModel out_;
};

}  // namespace

ImportedModel import_gpt2(const std::filesystem::path& folder) {
  return Gpt2Importer(folder).run();
}

}  // namespace fovea::interop

// Hugging Face's MarianMT folders (OPUS-MT): config.json, model.safetensors or pytorch_model.bin, source.spm,
// target.spm and vocab.json. Matrices are [out, in]; the decoder starts from the padding token.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "interop/files.hpp"
#include "interop/hugging_face.hpp"
#include "interop/imported_model.hpp"
#include "interop/vocabulary_map.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"

namespace fovea::interop {
namespace {

namespace fs = std::filesystem;

class MarianMtImporter {
 public:
  explicit MarianMtImporter(const fs::path& folder)
      : folder_(folder), config_(folder / "config.json"), tensors_(read_hugging_face_weights(folder)) {}

  ImportedModel run() {
    out_.found = "Hugging Face MarianMT";
    TransformerConfig encoder = part("encoder");
    TransformerConfig decoder = part("decoder");
    read_vocabularies();
    GeneratorConfig generator;
    put_embeddings(generator);
    put_part("encoder", encoder, false);
    put_part("decoder", decoder, true);
    tensors_.finish();
    generator.decoder = decoder;
    for (const std::int64_t id : config_.single_ids("bad_words_ids")) {
      if (id < 0 || id >= static_cast<std::int64_t>(target_->ours().size())) continue;
      const std::int32_t ours = target_->ours()[static_cast<std::size_t>(id)];
      if (ours > bos_id && ours != eos_id) generator.suppressed.push_back(ours);
    }
    set_parts(out_, encoder, generator, decoder.dim, *source_, *target_);
    return std::move(out_);
  }

 private:
  TransformerConfig part(const std::string& side) {
    TransformerConfig c;
    c.layers = config_.integer(side + "_layers");
    c.dim = config_.integer("d_model");
    c.ffn = config_.integer(side + "_ffn_dim");
    c.heads = config_.integer(side + "_attention_heads");
    set_activation(c, config_.text("activation_function", "gelu"), config_.file());
    const std::string scope = "model." + side;
    c.norm = tensors_.has(scope + ".layer_norm.weight") ? Norm::pre : Norm::post;
    if (config_.flag("normalize_before", c.norm == Norm::pre) != (c.norm == Norm::pre)) {
      config_.fail("normalize_before", "a pre-norm Transformer without a last layer norm is not supported");
    }
    c.embedding_norm = tensors_.has(scope + ".layernorm_embedding.weight");
    return c;
  }

  std::string table(const char* side) const {
    const std::string own = fmt::format("model.{}.embed_tokens.weight", side);
    return tensors_.has(own) ? own : "model.shared.weight";
  }

  void read_vocabularies() {
    ForeignSpecials special;
    special.pad = config_.integer("pad_token_id");
    special.end = config_.integer("eos_token_id");
    special.start = config_.has("decoder_start_token_id") ? config_.integer("decoder_start_token_id") : special.pad;
    const auto make = [&](const char* side, const fs::path& file) {
      const std::vector<std::string> tokens = read_token_ids(file, tensors_.shape(table(side))[0]);
      const auto unknown = std::find(tokens.begin(), tokens.end(), "<unk>");
      special.unknown = unknown == tokens.end() ? -1 : unknown - tokens.begin();
      return std::make_unique<VocabularyMap>(tokens, special, file.string());
    };
    const fs::path shared = folder_ / "vocab.json";
    const fs::path own = folder_ / "target_vocab.json";
    source_ = make("encoder", shared);
    target_ = make("decoder", fs::exists(own) ? own : shared);
    out_.config.shared_vocabulary = !fs::exists(own) && source_->size() == target_->size();
    out_.tokenizers.source =
        std::make_shared<text::MappedTokenizer>(load_sentencepiece(folder_ / "source.spm"), source_->vocabulary());
    out_.tokenizers.target =
        std::make_shared<text::MappedTokenizer>(load_sentencepiece(folder_ / "target.spm"), target_->vocabulary());
  }

  Tensor values(const std::string& name) { return tensors_.take(name); }

  void put_embeddings(GeneratorConfig& generator) {
    Parameters& p = out_.parameters;
    const bool scaled = config_.flag("scale_embedding", false);
    out_.config.tokens().scaled_embeddings = generator.scaled_embeddings = scaled;
    const std::string source = table("encoder");
    const std::string target = table("decoder");
    const std::string head = "lm_head.weight";
    const bool tied = config_.flag("tie_word_embeddings", true) || !tensors_.has(head) || tensors_.same(head, target);
    const bool all = tied && out_.config.shared_vocabulary && tensors_.same(source, target);
    generator.tie = all ? Tie::all : tied ? Tie::target : Tie::none;
    const Tensor target_rows = target_->rows(values(target));
    if (all) {
      p.put("embedding", target_rows);
    } else {
      p.put("source.embedding", source_->rows(values(source)));
      p.put("target.embedding", target_rows);
      if (!tied) p.put("output.weight", target_->rows(tensors_.take(head, tensors_.shape(target))));
    }
    for (const std::string& name : {source, target, head, std::string("model.shared.weight")}) tensors_.ignore(name);
    Tensor bias;
    if (tensors_.has("final_logits_bias")) {
      bias = values("final_logits_bias");
      if (bias.size() != tensors_.shape(target)[0])
        tensors_.fail("final_logits_bias has another size than the vocabulary");
      bias = bias.reshape({bias.size()});
    }
    p.put("output.bias", target_->bias(bias));
  }

  void linear(const std::string& to, const std::string& from) {
    put_linear(out_.parameters, to, values(from + ".weight"),
               tensors_.has(from + ".bias") ? values(from + ".bias") : Tensor());
  }
  void norm(const std::string& to, const std::string& from) {
    put_norm(out_.parameters, to, values(from + ".weight"), values(from + ".bias"));
  }
  void attention(const std::string& to, const std::string& from) {
    linear(to + ".query", from + ".q_proj");
    linear(to + ".key", from + ".k_proj");
    linear(to + ".value", from + ".v_proj");
    linear(to + ".output", from + ".out_proj");
  }

  void put_part(const std::string& side, TransformerConfig& c, bool decoder) {
    const std::string scope = "model." + side;
    const std::string positions = scope + ".embed_positions.weight";
    c.positions = Positions::sinusoidal;
    if (tensors_.has(positions)) put_positions(out_.parameters, c, side + ".positions", values(positions));
    if (!config_.flag("static_position_embeddings", true) && !tensors_.has(positions)) {
      config_.fail("static_position_embeddings", "is false, but there are no positions");
    }
    if (c.embedding_norm) norm(side + ".embedding_norm", scope + ".layernorm_embedding");
    if (c.norm == Norm::pre) norm(side + ".norm", scope + ".layer_norm");
    for (int i = 0; i < c.layers; ++i) {
      const std::string from = fmt::format("{}.layers.{}", scope, i);
      const std::string to = fmt::format("{}.{}", side, i);
      attention(to + ".self", from + ".self_attn");
      norm(to + ".self_norm", from + ".self_attn_layer_norm");
      if (decoder) {
        attention(to + ".cross", from + ".encoder_attn");
        norm(to + ".cross_norm", from + ".encoder_attn_layer_norm");
      }
      linear(to + ".feed.first", from + ".fc1");
      linear(to + ".feed.second", from + ".fc2");
      norm(to + ".feed_norm", from + ".final_layer_norm");
    }
  }

  fs::path folder_;
  HuggingFaceConfig config_;
  ForeignTensors tensors_;
  std::unique_ptr<VocabularyMap> source_, target_;
  ImportedModel out_;
};

}  // namespace

ImportedModel import_marianmt(const fs::path& folder) {
  return MarianMtImporter(folder).run();
}

}  // namespace fovea::interop

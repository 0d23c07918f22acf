// CTranslate2's model folders: model.bin, vocabularies, config.json (docs of its model_spec and transformer_spec).
// Matrices are [out, in]; queries, keys and values of self-attention are one matrix, keys and values of
// cross-attention another.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "interop/files.hpp"
#include "interop/imported_model.hpp"
#include "interop/vocabulary_map.hpp"
#include "text/lines.hpp"
#include "text/tokenizer/listed_tokenizer.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"

namespace fovea::interop {
namespace {

namespace fs = std::filesystem;

class Importer {
 public:
  explicit Importer(const fs::path& folder)
      : folder_(folder), file_(read_ctranslate2(FileBytes::map(folder / "model.bin"))), tensors_(file_.tensors) {}

  ImportedModel run() {
    if (tensors_.has("decoder/layer_0/self_attention/linear_0/weight") &&
        !tensors_.has("encoder/layer_0/self_attention/linear_0/weight")) {
      return language_model();
    }
    if (!tensors_.has("encoder/layer_0/self_attention/linear_0/weight") ||
        !tensors_.has("decoder/layer_0/attention/linear_0/weight")) {
      tensors_.fail(fmt::format("{} is no encoder-decoder Transformer", file_.spec));
    }
    read_config();
    out_.found = fmt::format("CTranslate2 {}, revision {}, weights in {}", file_.spec, file_.revision, type_text());
    read_vocabularies();
    TransformerConfig encoder = part("encoder");
    TransformerConfig decoder = part("decoder");
    GeneratorConfig generator;
    put_embeddings(encoder, generator);
    put_part("encoder", encoder, false);
    put_part("decoder", decoder, true);
    check_rest();
    generator.decoder = decoder;
    set_parts(out_, encoder, generator, decoder.dim, *source_, *target_);
    return std::move(out_);
  }

 private:
  // A decoder without an encoder. Its vocabulary is one, and the text begins with its own first token.
  ImportedModel language_model() {
    read_config();
    out_.found = fmt::format("CTranslate2 {}, a language model, revision {}, weights in {}", file_.spec, file_.revision,
                             type_text());
    target_ = map_of("target", matrix_shape("decoder/embeddings/weight")[0]);
    out_.tokenizers.target = byte_pairs_in(folder_, *target_);
    if (!out_.tokenizers.target) out_.tokenizers.target = tokenizer_of("target", *target_);
    TransformerConfig decoder = part("decoder");
    GeneratorConfig generator;
    const std::string table = "decoder/embeddings/weight";
    const std::string output = "decoder/projection/weight";
    generator.scaled_embeddings = scaled("decoder", "decoder/embeddings", decoder.dim);
    generator.tie = tensors_.same(table, output) ? Tie::target : Tie::none;
    out_.parameters.put("target.embedding", target_->rows(values(table)));
    if (generator.tie == Tie::none) out_.parameters.put("output.weight", target_->rows(values(output)));
    for (const std::string& name : {output, output + "_scale", table + "_scale"}) tensors_.ignore(name);
    out_.parameters.put("output.bias", target_->bias(optional("decoder/projection/bias")));
    put_part("decoder", decoder, false);
    check_rest();
    generator.decoder = decoder;
    set_language_model(out_, generator, decoder.dim, *target_);
    return std::move(out_);
  }

  // Nothing is left over that would matter.
  void check_rest() {
    for (const char* unused : {"decoder/alignment_layer", "decoder/alignment_heads", "alignment_layer",
                               "alignment_heads", "encoder/embeddings_merge", "embeddings_merge", "with_source_bos",
                               "with_target_bos", "with_source_eos", "decoder/start_from_zero_embedding"}) {
      tensors_.ignore(unused);
    }
    tensors_.finish();
  }

  void read_config() {
    const fs::path path = folder_ / "config.json";
    if (!fs::exists(path)) return;
    config_ = parse_json(FileBytes::map(path).text(), path.string());
    if (!config_.is_object()) throw FileError(path.string() + ": not a JSON object");
  }
  std::string token(const char* name, const char* otherwise) const {
    const auto found = config_.is_object() ? config_.find(name) : config_.end();
    return found != config_.end() && found->is_string() ? found->get<std::string>() : otherwise;
  }
  bool flag(const char* in_config, const char* in_model) {
    const double stored = tensors_.number(in_model, 0);
    const auto found = config_.is_object() ? config_.find(in_config) : config_.end();
    return found != config_.end() && found->is_boolean() ? found->get<bool>() : stored != 0;
  }

  std::vector<std::string> tokens_of(const std::string& side) const {
    for (const std::string& name :
         {side + "_vocabulary", std::string("shared_vocabulary"), std::string("vocabulary")}) {
      if (const fs::path path = folder_ / (name + ".json"); fs::exists(path)) {
        const auto json = parse_json(FileBytes::map(path).text(), path.string());
        if (!json.is_array()) throw FileError(path.string() + ": not a list of tokens");
        std::vector<std::string> tokens;
        for (const auto& token : json) {
          if (!token.is_string()) throw FileError(path.string() + ": a token is no text");
          tokens.push_back(token.get<std::string>());
        }
        return tokens;
      }
      if (const fs::path path = folder_ / (name + ".txt"); fs::exists(path)) return text::read_lines(path.string());
    }
    throw FileError(
        fmt::format("{}: there is neither {}_vocabulary nor shared_vocabulary, .txt or .json", folder_.string(), side));
  }

  std::unique_ptr<VocabularyMap> map_of(const std::string& side, std::int64_t rows) {
    std::vector<std::string> tokens = tokens_of(side);
    const auto id = [&](const std::string& token) {
      const auto found = std::find(tokens.begin(), tokens.end(), token);
      return found == tokens.end() ? std::int64_t{-1} : found - tokens.begin();
    };
    const std::string unknown = token("unk_token", "<unk>");
    if (id(unknown) < 0) tokens.push_back(unknown);  // as OpenNMT-tf's, whose last row is the unknown token's
    if (rows != static_cast<std::int64_t>(tokens.size())) {
      tensors_.fail(fmt::format("the {} embeddings have {} rows, its vocabulary {} tokens", side, rows, tokens.size()));
    }
    ForeignSpecials special;
    special.end = id(token("eos_token", "</s>"));
    special.start = id(token("decoder_start_token", token("bos_token", "<s>").c_str()));
    special.unknown = id(unknown);
    for (const char* pad : {"<blank>", "<pad>"}) special.pad = special.pad < 0 ? id(pad) : special.pad;
    special.start_is_zero = side == "target" && tensors_.number("decoder/start_from_zero_embedding", 0) != 0;
    if (special.end < 0) tensors_.fail(fmt::format("the {} vocabulary has no end of sequence", side));
    if (side == "target" && special.start < 0 && !special.start_is_zero) {
      tensors_.fail("the target vocabulary does not have the token that the decoder starts with");
    }
    return std::make_unique<VocabularyMap>(tokens, special, fmt::format("{}: {} vocabulary", folder_.string(), side));
  }

  // Pieces by the folder's SentencePiece model; without one, tokens with spaces between them.
  std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& side, const VocabularyMap& map) const {
    for (const std::string& name :
         {side + ".spm", std::string("shared.spm"), std::string("sentencepiece.model"), std::string("spm.model"),
          std::string("sentencepiece.bpe.model"), std::string("tokenizer.model")}) {
      if (!fs::exists(folder_ / name)) continue;
      return std::make_shared<text::MappedTokenizer>(load_sentencepiece(folder_ / name), map.vocabulary());
    }
    return std::make_shared<text::ListedTokenizer>(text::ListedTokens{.kind = TokenizerKind::word}, map.vocabulary());
  }

  std::string source_table() const {
    return tensors_.has("encoder/embeddings_0/weight") ? "encoder/embeddings_0/weight" : "encoder/embeddings/weight";
  }

  void read_vocabularies() {
    if (tensors_.has("encoder/embeddings_1/weight")) tensors_.fail("several source features are not supported");
    if (flag("add_source_bos", "with_source_bos")) tensors_.fail("sources that begin with <s> are not supported");
    out_.config.tokens().end_of_sequence = flag("add_source_eos", "with_source_eos");
    source_ = map_of("source", matrix_shape(source_table())[0]);
    target_ = map_of("target", matrix_shape("decoder/embeddings/weight")[0]);
    out_.tokenizers.source = tokenizer_of("source", *source_);
    out_.tokenizers.target = tokenizer_of("target", *target_);
    out_.config.shared_vocabulary =
        source_->vocabulary().tokens() == target_->vocabulary().tokens() && source_->theirs() == target_->theirs();
    if (out_.config.shared_vocabulary && out_.tokenizers.source->kind() == out_.tokenizers.target->kind() &&
        !fs::exists(folder_ / "source.spm")) {
      out_.tokenizers.target = out_.tokenizers.source;
    }
  }

  const Shape& matrix_shape(const std::string& name) const {
    const Shape& shape = tensors_.shape(name);
    if (shape.rank() != 2)
      tensors_.fail(fmt::format("tensor {} has shape {}, not that of a matrix", name, shape.text()));
    return shape;
  }

  // A matrix or vector; in int8 or int16 its rows were multiplied with their scales.
  Tensor values(const std::string& name) {
    const ForeignType type = tensors_.item(name).type;
    const Tensor out = tensors_.take(name);
    if (type != ForeignType::i8 && type != ForeignType::i16) return out;
    const std::string scale_name = name + "_scale";
    if (!tensors_.has(scale_name)) {
      if (type == ForeignType::i8) tensors_.fail(fmt::format("tensor {} is missing", scale_name));
      for (float& v : out.values()) v /= 1000.0F;  // what int16 models without a scale were multiplied with
      return out;
    }
    const Tensor scale = tensors_.take(scale_name);
    const std::int64_t rows = out.rank() == 2 ? out.dim(0) : 1;
    const std::int64_t width = out.size() / std::max<std::int64_t>(1, rows);
    if (scale.size() != 1 && scale.size() != rows) {
      tensors_.fail(fmt::format("tensor {} has {} numbers for {} rows", scale_name, scale.size(), rows));
    }
    for (std::int64_t r = 0; r < rows; ++r) {
      const float by = scale.data()[scale.size() == 1 ? 0 : r];
      for (std::int64_t i = 0; i < width; ++i) out.data()[r * width + i] /= by;
    }
    return out;
  }
  Tensor optional(const std::string& name) { return tensors_.has(name) ? values(name) : Tensor(); }

  std::string type_text() const {
    switch (tensors_.item("decoder/layer_0/self_attention/linear_0/weight").type) {
      case ForeignType::f16:
        return "float16";
      case ForeignType::bf16:
        return "bfloat16";
      case ForeignType::i8:
        return "int8";
      case ForeignType::i16:
        return "int16";
      default:
        return "float32";
    }
  }

  // A field of one side, or in older models of both.
  double field(const std::string& scope, const std::string& name, double otherwise) {
    const double common = tensors_.number(name, otherwise);
    return tensors_.number(scope + "/" + name, common);
  }

  TransformerConfig part(const std::string& scope) {
    TransformerConfig c;
    c.layers = 0;
    while (c.layers < 64 && tensors_.has(fmt::format("{}/layer_{}/ffn/linear_0/weight", scope, c.layers))) ++c.layers;
    const Shape inner = matrix_shape(scope + "/layer_0/ffn/linear_0/weight");
    c.ffn = static_cast<int>(inner[0]);
    c.dim = static_cast<int>(inner[1]);
    const double usual = file_.spec.starts_with("TransformerBig") ? 16 : 8;
    c.heads = static_cast<int>(field(scope, "num_heads", usual));
    c.norm = field(scope, "pre_norm", 1) != 0 ? Norm::pre : Norm::post;
    constexpr const char* activations[] = {"relu", "gelu_new", "swish", "gelu", "quick_gelu", "tanh", "sigmoid"};
    const double activation = field(scope, "activation", 0);
    if (!(activation >= 0 && activation < static_cast<double>(std::size(activations)))) {
      tensors_.fail(fmt::format("activation {} of CTranslate2 is not known", activation));
    }
    set_activation(c, activations[static_cast<std::size_t>(activation)], tensors_.file());
    for (const char* feature : {"alibi", "multi_query_attention", "scale_alibi", "alibi_use_positive_positions"}) {
      if (tensors_.number(scope + "/" + feature, 0) != 0) {
        tensors_.fail(fmt::format("{} in the {} is not supported", feature, scope));
      }
    }
    if (tensors_.number(scope + "/scale_outputs", 0) != 0) tensors_.fail("scaled outputs (T5) are not supported");
    const auto epsilon = config_.is_object() ? config_.find("layer_norm_epsilon") : config_.end();
    if (epsilon != config_.end() && epsilon->is_number()) c.norm_epsilon = epsilon->get<float>();
    c.embedding_norm = tensors_.has(scope + "/layernorm_embedding/gamma");
    const bool final_norm = tensors_.has(scope + "/layer_norm/gamma");
    if (final_norm != (c.norm == Norm::pre)) {
      tensors_.fail(fmt::format("a {} {} the last layer norm is not supported",
                                final_norm ? "post-norm Transformer with" : "pre-norm Transformer without", scope));
    }
    return c;
  }

  // Whether the embeddings of a side are multiplied by the root of their width.
  bool scaled(const std::string& scope, const std::string& table, std::int64_t width) {
    for (const std::string& name : {scope + "/scale_embeddings", table + "/multiply_by_sqrt_depth",
                                    scope + "/embeddings/multiply_by_sqrt_depth"}) {
      if (!tensors_.has(name)) continue;
      const bool is_flag = tensors_.item(name).type == ForeignType::i8;
      const double given = tensors_.number(name, 1);
      const double root = std::sqrt(static_cast<double>(width));
      if (is_flag ? given != 0 : std::abs(given - root) < 1e-3) return true;
      if (is_flag || given == 1) return false;
      tensors_.fail(fmt::format("embeddings times {} are not supported", given));
    }
    return true;
  }

  void put_embeddings(const TransformerConfig& encoder, GeneratorConfig& generator) {
    const std::string source = source_table();
    const std::string target = "decoder/embeddings/weight";
    const std::string output = "decoder/projection/weight";
    out_.config.tokens().scaled_embeddings = scaled("encoder", source.substr(0, source.rfind('/')), encoder.dim);
    generator.scaled_embeddings = scaled("decoder", "decoder/embeddings", encoder.dim);
    const bool tied = tensors_.same(target, output);
    const bool all = tied && tensors_.same(source, target) && out_.config.shared_vocabulary;
    generator.tie = all ? Tie::all : tied ? Tie::target : Tie::none;
    Parameters& p = out_.parameters;
    const Tensor target_rows = target_->rows(values(target));
    if (all) {
      p.put("embedding", target_rows);
    } else {
      p.put("source.embedding", source_->rows(values(source)));
      p.put("target.embedding", target_rows);
      if (!tied) p.put("output.weight", target_->rows(values(output)));
    }
    for (const std::string& name : {source, target, output}) {
      tensors_.ignore(name);
      tensors_.ignore(name + "_scale");
    }
    p.put("output.bias", target_->bias(optional("decoder/projection/bias")));
  }

  void put_norm_of(const std::string& name, const std::string& from) {
    if (tensors_.has(from + "/gamma") && !tensors_.has(from + "/beta")) tensors_.fail("RMS norms are not supported");
    put_norm(out_.parameters, name, values(from + "/gamma"), values(from + "/beta"));
  }
  // The matrices that one matrix holds, one above the other.
  void put_stacked(const std::vector<std::string>& names, const std::string& from, std::int64_t width) {
    const Tensor weight = values(from + "/weight");
    const Tensor bias = optional(from + "/bias");
    const auto count = static_cast<std::int64_t>(names.size());
    if (weight.rank() != 2 || weight.dim(0) != count * width || (bias && bias.size() != count * width)) {
      tensors_.fail(fmt::format("tensor {}/weight has shape {}; {} rows are needed (grouped heads are not supported)",
                                from, weight.shape().text(), count * width));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      put_linear(out_.parameters, names[static_cast<std::size_t>(i)], weight.slice(0, i * width, (i + 1) * width),
                 bias ? bias.slice(0, i * width, (i + 1) * width).clone() : Tensor());
    }
  }

  void put_part(const std::string& scope, TransformerConfig& c, bool decoder) {
    Parameters& p = out_.parameters;
    if (tensors_.has(scope + "/position_encodings/encodings")) {
      put_positions(p, c, scope + ".positions", values(scope + "/position_encodings/encodings"));
    } else {
      c.positions = Positions::timing_signal;
      c.first_position = 1;
    }
    if (c.embedding_norm) put_norm_of(scope + ".embedding_norm", scope + "/layernorm_embedding");
    if (c.norm == Norm::pre) put_norm_of(scope + ".norm", scope + "/layer_norm");
    for (int i = 0; i < c.layers; ++i) {
      const std::string from = fmt::format("{}/layer_{}", scope, i);
      const std::string to = fmt::format("{}.{}", scope, i);
      if (tensors_.has(from + "/self_attention/relative_position_keys")) {
        tensors_.fail("relative positions are not supported");
      }
      if (tensors_.has(from + "/ffn/linear_0_noact/weight"))
        tensors_.fail("gated feed-forward layers are not supported");
      put_norm_of(to + ".self_norm", from + "/self_attention/layer_norm");
      put_stacked({to + ".self.query", to + ".self.key", to + ".self.value"}, from + "/self_attention/linear_0", c.dim);
      put_stacked({to + ".self.output"}, from + "/self_attention/linear_1", c.dim);
      if (decoder) {
        put_norm_of(to + ".cross_norm", from + "/attention/layer_norm");
        put_stacked({to + ".cross.query"}, from + "/attention/linear_0", c.dim);
        put_stacked({to + ".cross.key", to + ".cross.value"}, from + "/attention/linear_1", c.dim);
        put_stacked({to + ".cross.output"}, from + "/attention/linear_2", c.dim);
      }
      put_norm_of(to + ".feed_norm", from + "/ffn/layer_norm");
      put_stacked({to + ".feed.first"}, from + "/ffn/linear_0", c.ffn);
      put_stacked({to + ".feed.second"}, from + "/ffn/linear_1", c.dim);
    }
  }

  fs::path folder_;
  CTranslate2File file_;
  ForeignTensors& tensors_;
  nlohmann::json config_;
  std::unique_ptr<VocabularyMap> source_, target_;
  ImportedModel out_;
};

}  // namespace

ImportedModel import_ctranslate2(const fs::path& folder) {
  return Importer(folder).run();
}

}  // namespace fovea::interop

// Marian's models: .npz or .bin with the options in special:model.yml, vocabularies as .spm or .yml beside it.
// Matrices are [in, out] but embeddings; the decoder starts from zeros; layer norms add 1e-6 to the variance.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "fovea/error.hpp"
#include "interop/files.hpp"
#include "interop/imported_model.hpp"
#include "interop/vocabulary_map.hpp"
#include "interop/yaml.hpp"
#include "text/lines.hpp"
#include "text/tokenizer/listed_tokenizer.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"

namespace fovea::interop {
namespace {

namespace fs = std::filesystem;

class MarianImporter {
 public:
  explicit MarianImporter(const fs::path& file)
      : folder_(file.has_parent_path() ? file.parent_path() : fs::path(".")),
        tensors_(file.extension() == ".npz" ? read_npz(FileBytes::map(file)) : read_marian_bin(FileBytes::map(file))) {
    constexpr const char* name = "special:model.yml";
    if (!tensors_.has(name)) tensors_.fail("special:model.yml is missing; Marian's models hold their options there");
    const auto bytes = tensors_.item(name).bytes;
    std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text.resize(std::min(text.size(), std::strlen(text.c_str())));
    tensors_.ignore(name);
    options_ = parse_flat_yaml(text, tensors_.file() + ": special:model.yml");
  }

  ImportedModel run() {
    check_options();
    out_.found = "Marian transformer";
    TransformerConfig common;
    common.dim = integer("dim-emb", 0);
    common.heads = integer("transformer-heads", 0);
    common.norm = option("transformer-preprocess", "").find('n') != std::string::npos ? Norm::pre : Norm::post;
    common.norm_epsilon = 1e-6F;
    common.embedding_norm = option("transformer-postprocess-emb", "d").find('n') != std::string::npos;
    set_activation(common, option("transformer-ffn-activation", "swish"), tensors_.file());
    TransformerConfig encoder = common;
    encoder.layers = integer("enc-depth", 0);
    encoder.ffn = integer("transformer-dim-ffn", 0);
    TransformerConfig decoder = common;
    decoder.layers = integer("dec-depth", 0);
    decoder.ffn = integer("transformer-decoder-dim-ffn", 0);
    if (decoder.ffn == 0) decoder.ffn = encoder.ffn;
    if (recurrent()) decoder.decoder_self = DecoderSelf::ssru;
    read_vocabularies();
    GeneratorConfig generator;
    put_embeddings(generator);
    put_part("encoder", encoder, false);
    put_part("decoder", decoder, true);
    for (const std::string& name : tensors_.names()) {
      if (name.ends_with("_QuantMultA")) tensors_.ignore(name);  // how int8 activations are rounded there
    }
    tensors_.finish();
    generator.decoder = decoder;
    set_parts(out_, encoder, generator, decoder.dim, *source_, *target_);
    return std::move(out_);
  }

 private:
  std::string option(const std::string& name, const std::string& otherwise) const {
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : found->second;
  }
  int integer(const std::string& name, int otherwise) const {
    const std::string text = option(name, std::to_string(otherwise));
    int value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9' || value > 100'000'000)
        tensors_.fail(fmt::format("option {}: {} is no number", name, text));
      value = value * 10 + (c - '0');
    }
    return value;
  }
  void need(const std::string& name, const std::string& otherwise, std::initializer_list<const char*> possible) const {
    const std::string given = option(name, otherwise);
    if (std::any_of(possible.begin(), possible.end(), [&](const char* p) { return given == p; })) return;
    tensors_.fail(fmt::format("option {}: {} is not supported", name, given.empty() ? "\"\"" : given));
  }

  // Whether a recurrent unit stands in for the decoder's self-attention.
  bool recurrent() const { return option("transformer-decoder-autoreg", "self-attention") == "rnn"; }

  void check_options() const {
    need("type", "", {"transformer"});
    need("transformer-decoder-autoreg", "self-attention", {"self-attention", "rnn"});
    if (recurrent()) {
      need("dec-cell", "gru", {"ssru"});
      need("transformer-rnn-projection", "false", {"false"});
    }
    need("transformer-no-projection", "false", {"false"});
    need("transformer-ffn-depth", "2", {"2"});
    need("transformer-decoder-ffn-depth", "0", {"0", "2"});
    need("transformer-postprocess-emb", "d", {"", "d", "n", "nd"});
    need("transformer-tied-layers", "", {"", "[]"});
    need("lemma-dim-emb", "0", {"0"});
    need("output-omit-bias", "false", {"false", "true"});
    if (option("transformer-preprocess", "").find('n') != std::string::npos) {
      need("transformer-preprocess", "", {"n"});
      need("transformer-postprocess", "dan", {"da"});
      need("transformer-postprocess-top", "", {"n"});
    } else {
      need("transformer-preprocess", "", {"", "d"});
      need("transformer-postprocess", "dan", {"dan"});
      need("transformer-postprocess-top", "", {""});
    }
  }

  // The vocabulary files beside the model.
  std::vector<fs::path> vocabulary_files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      const bool options = name.find(".npz") != std::string::npos || name.find(".bin") != std::string::npos ||
                           name.find("decoder") != std::string::npos || name.find("config") != std::string::npos;
      if ((name.ends_with(".yml") || name.ends_with(".yaml")) && !options) found.push_back(entry.path());
    }
    if (found.empty()) {
      for (const auto& entry : fs::directory_iterator(folder_)) {
        if (entry.path().extension() == ".spm") found.push_back(entry.path());
      }
    }
    const auto is_target = [](const fs::path& p) {
      const std::string name = p.filename().string();
      return name.find("trg") != std::string::npos || name.find("tgt") != std::string::npos ||
             name.find("target") != std::string::npos;
    };
    std::sort(found.begin(), found.end(), [&](const fs::path& a, const fs::path& b) {
      return is_target(a) != is_target(b) ? is_target(b) : a < b;
    });
    if (found.empty() || found.size() > 2 || (found.size() == 2 && is_target(found[0]) == is_target(found[1]))) {
      throw FileError(
          fmt::format("{}: one vocabulary is needed beside the model, or two with src and trg in their names "
                      "(.yml or .spm); {} are there",
                      folder_.string(), found.size()));
    }
    return found;
  }

  std::unique_ptr<VocabularyMap> map_of(const fs::path& file, std::int64_t rows, const char* cutter_name,
                                        std::shared_ptr<const Tokenizer>& tokenizer) const {
    std::vector<std::string> tokens;
    ForeignSpecials special{.unknown = 1, .end = 0, .start_is_zero = true};
    const bool spm = file.extension() == ".spm";
    if (spm) {
      // Marian trains them with </s> as 0, <unk> as 1 and no other special token.
      tokenizer = load_sentencepiece(file);
      tokens = {"</s>", "<unk>"};
      for (std::int32_t id = special_ids; id < tokenizer->size(); ++id) tokens.push_back(tokenizer->piece(id));
    } else {
      tokens = parse_yaml_ids(FileBytes::map(file).text(), file.string());
      const auto id = [&](const char* token) {
        const auto found = std::find(tokens.begin(), tokens.end(), token);
        if (found == tokens.end()) throw FileError(fmt::format("{}: there is no {}", file.string(), token));
        return found - tokens.begin();
      };
      special.end = id("</s>");
      special.unknown = id("<unk>");
    }
    if (static_cast<std::int64_t>(tokens.size()) != rows) {
      throw FileError(
          fmt::format("{}: {} tokens, but the embeddings have {} rows", file.string(), tokens.size(), rows));
    }
    auto map = std::make_unique<VocabularyMap>(tokens, special, file.string());
    if (!spm && fs::exists(folder_ / cutter_name)) {
      tokenizer = std::make_shared<text::MappedTokenizer>(load_sentencepiece(folder_ / cutter_name), map->vocabulary());
    } else if (!spm) {
      tokenizer =
          std::make_shared<text::ListedTokenizer>(text::ListedTokens{.kind = TokenizerKind::word}, map->vocabulary());
    }
    return map;
  }

  std::string table(const char* side) const {
    const std::string own = fmt::format("{}_Wemb", side);
    return tensors_.has(own) ? own : "Wemb";
  }

  void read_vocabularies() {
    const auto files = vocabulary_files();
    source_ = map_of(files.front(), tensors_.shape(table("encoder"))[0], "source.spm", out_.tokenizers.source);
    target_ = map_of(files.back(), tensors_.shape(table("decoder"))[0], "target.spm", out_.tokenizers.target);
    out_.config.shared_vocabulary = files.size() == 1;
    if (files.size() == 1 && !fs::exists(folder_ / "source.spm")) out_.tokenizers.target = out_.tokenizers.source;
  }

  Tensor matrix(const std::string& name) {  // to [out, in]
    const Tensor w = tensors_.take(name);
    if (w.rank() != 2)
      tensors_.fail(fmt::format("tensor {} has shape {}, not that of a matrix", name, w.shape().text()));
    return w.transpose(0, 1);
  }
  Tensor vector(const std::string& name) {
    if (!tensors_.has(name)) return {};
    const Tensor v = tensors_.take(name);
    return v.reshape({v.size()});
  }
  void linear(const std::string& to, const std::string& from, const std::string& part) {
    put_linear(out_.parameters, to, matrix(from + "_W" + part), vector(from + "_b" + part));
  }
  void norm(const std::string& to, const std::string& from) {
    const std::string after = tensors_.has(from + "_ln_scale_pre") ? "_pre" : "";
    if (!tensors_.has(from + "_ln_scale" + after)) tensors_.fail(fmt::format("tensor {}_ln_scale is missing", from));
    Tensor bias = vector(from + "_ln_bias" + after);
    const Tensor gain = vector(from + "_ln_scale" + after);
    put_norm(out_.parameters, to, gain, bias ? bias : Tensor::zeros(gain.shape()));
  }

  void put_embeddings(GeneratorConfig& generator) {
    Parameters& p = out_.parameters;
    const std::string source = table("encoder");
    const std::string target = table("decoder");
    const std::string output = "decoder_ff_logit_out_W";
    const std::string output_rows = "decoder_ff_logit_out_Wt";
    const bool tied = !tensors_.has(output) && !tensors_.has(output_rows);
    const bool all = tied && source == target && out_.config.shared_vocabulary;
    generator.tie = all ? Tie::all : tied ? Tie::target : Tie::none;
    const Tensor target_rows = target_->rows(tensors_.take(target));
    if (all) {
      p.put("embedding", target_rows);
    } else {
      p.put("source.embedding", source_->rows(tensors_.take(source)));
      p.put("target.embedding", target_rows);
    }
    if (!tied) {
      const Tensor rows = tensors_.has(output) ? matrix(output).contiguous() : tensors_.take(output_rows);
      if (rows.dim(0) != tensors_.shape(target)[0])
        tensors_.fail("the output layer has another size than the vocabulary");
      p.put("output.weight", target_->rows(rows));
    }
    const Tensor bias = vector("decoder_ff_logit_out_b");
    if (bias && bias.size() != tensors_.shape(target)[0]) tensors_.fail("decoder_ff_logit_out_b has the wrong size");
    p.put("output.bias", target_->bias(bias));
  }

  void attention(const std::string& to, const std::string& from) {
    linear(to + ".query", from, "q");
    linear(to + ".key", from, "k");
    linear(to + ".value", from, "v");
    linear(to + ".output", from, "o");
  }

  void put_part(const std::string& side, TransformerConfig& c, bool decoder) {
    if (tensors_.has("Wpos")) {
      put_positions(out_.parameters, c, side + ".positions", tensors_.take("Wpos"));
    } else {
      c.positions = Positions::timing_signal;
    }
    if (c.embedding_norm) norm(side + ".embedding_norm", side + "_emb");
    if (c.norm == Norm::pre) norm(side + ".norm", side + "_top");
    for (int i = 0; i < c.layers; ++i) {
      const std::string from = fmt::format("{}_l{}", side, i + 1);
      const std::string to = fmt::format("{}.{}", side, i);
      if (decoder && recurrent()) {
        out_.parameters.put(to + ".ssru.input.weight", tensors_.take(from + "_rnn_W"));
        linear(to + ".ssru.forget", from + "_rnn", "f");
        norm(to + ".self_norm", from + "_rnn_ffn");
      } else {
        attention(to + ".self", from + "_self");
        norm(to + ".self_norm", from + "_self_Wo");
      }
      if (decoder) {
        attention(to + ".cross", from + "_context");
        norm(to + ".cross_norm", from + "_context_Wo");
      }
      linear(to + ".feed.first", from + "_ffn", "1");
      linear(to + ".feed.second", from + "_ffn", "2");
      norm(to + ".feed_norm", from + "_ffn_ffn");
    }
  }

  fs::path folder_;
  ForeignTensors tensors_;
  std::map<std::string, std::string> options_;
  std::unique_ptr<VocabularyMap> source_, target_;
  ImportedModel out_;
};

}  // namespace

ImportedModel import_marian(const fs::path& file) {
  return MarianImporter(file).run();
}

}  // namespace fovea::interop

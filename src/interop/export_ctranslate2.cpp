// A CTranslate2 folder: TransformerSpec, revision 7, binary version 6, float32. Positions are written as a table, as
// CTranslate2 computes only one kind itself.
#include <fmt/format.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "interop/exported_model.hpp"

namespace fovea::interop {
namespace {

constexpr std::int64_t kPositions = 2048;

// Variables by name, in the order that CTranslate2 writes them in.
class Variables {
 public:
  void add(const std::string& name, const Tensor& values) {
    const Tensor t = values.contiguous();
    put(name, 0, t.shape(), t.data(), static_cast<std::size_t>(t.size()) * sizeof(float));
  }
  void add_flag(const std::string& name, std::int8_t value) { put(name, 1, {}, &value, sizeof(value)); }
  void add_number(const std::string& name, std::int16_t value) { put(name, 2, {}, &value, sizeof(value)); }
  void alias(const std::string& name, const std::string& of) { aliases_[name] = of; }

  void write(const std::filesystem::path& path) const {
    WholeFile file(path);
    std::string head;
    number<std::uint32_t>(head, 6);
    text(head, "TransformerSpec");
    number<std::uint32_t>(head, 7);
    number<std::uint32_t>(head, static_cast<std::uint32_t>(variables_.size()));
    file.write(head);
    for (const auto& [name, bytes] : variables_) {
      std::string spelled;
      text(spelled, name);
      file.write(spelled);
      file.write(bytes);
    }
    std::string tail;
    number<std::uint32_t>(tail, static_cast<std::uint32_t>(aliases_.size()));
    for (const auto& [name, of] : aliases_) {
      text(tail, name);
      text(tail, of);
    }
    file.write(tail);
    file.commit();
  }

 private:
  template <class T>
  static void number(std::string& out, T value) {
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    out.append(bytes, sizeof(T));
  }
  static void text(std::string& out, const std::string& value) {
    number<std::uint16_t>(out, static_cast<std::uint16_t>(value.size() + 1));
    out += value;
    out += '\0';
  }
  void put(const std::string& name, std::uint8_t type, const Shape& shape, const void* values, std::size_t size) {
    if (size > 0xFFFFFFFF)
      throw UsageError("model", fmt::format("{} is larger than CTranslate2's format allows", name));
    std::string bytes;
    number<std::uint8_t>(bytes, static_cast<std::uint8_t>(shape.rank()));
    for (int i = 0; i < shape.rank(); ++i) number<std::uint32_t>(bytes, static_cast<std::uint32_t>(shape[i]));
    number<std::uint8_t>(bytes, type);
    number<std::uint32_t>(bytes, static_cast<std::uint32_t>(size));
    bytes.append(static_cast<const char*>(values), size);
    variables_[name] = std::move(bytes);
  }

  std::map<std::string, std::string> variables_;
  std::map<std::string, std::string> aliases_;
};

std::int8_t activation_number(const TransformerConfig& c) {
  if (c.activation == Activation::relu) return 0;
  if (c.activation == Activation::gelu_tanh) return 1;
  if (c.activation == Activation::gelu) return 3;
  if (c.activation == Activation::swish) return 2;
  throw UsageError("model", fmt::format("CTranslate2 does not have the activation {}", enum_text(c.activation)));
}

class Writer {
 public:
  explicit Writer(const LoadedModel& model) : model_(model) {}

  void part(const std::string& side, const TransformerConfig& c, bool scaled, bool decoder) {
    out.add_number(side + "/num_heads", static_cast<std::int16_t>(c.heads));
    out.add_flag(side + "/pre_norm", c.norm == Norm::pre ? 1 : 0);
    out.add_flag(side + "/activation", activation_number(c));
    out.add_flag(side + "/scale_embeddings", scaled ? 1 : 0);
    out.add(side + "/position_encodings/encodings", position_table(model_, c, side, kPositions));
    if (c.embedding_norm) norm(side + "/layernorm_embedding", side + ".embedding_norm");
    if (c.norm == Norm::pre) norm(side + "/layer_norm", side + ".norm");
    for (int i = 0; i < c.layers; ++i) {
      const std::string to = fmt::format("{}/layer_{}", side, i);
      const std::string from = fmt::format("{}.{}", side, i);
      norm(to + "/self_attention/layer_norm", from + ".self_norm");
      stacked(to + "/self_attention/linear_0", {from + ".self.query", from + ".self.key", from + ".self.value"},
              c.bias);
      stacked(to + "/self_attention/linear_1", {from + ".self.output"}, c.bias);
      if (decoder) {
        norm(to + "/attention/layer_norm", from + ".cross_norm");
        stacked(to + "/attention/linear_0", {from + ".cross.query"}, c.bias);
        stacked(to + "/attention/linear_1", {from + ".cross.key", from + ".cross.value"}, c.bias);
        stacked(to + "/attention/linear_2", {from + ".cross.output"}, c.bias);
      }
      norm(to + "/ffn/layer_norm", from + ".feed_norm");
      stacked(to + "/ffn/linear_0", {from + ".feed.first"}, c.bias);
      stacked(to + "/ffn/linear_1", {from + ".feed.second"}, c.bias);
    }
  }

  void tables() {
    const TableNames names = tables_of(model_);
    const std::string target = "decoder/embeddings/weight";
    out.add(target, weight_of(model_, names.target));
    table("encoder/embeddings_0/weight", names.source, names.target, target);
    table("decoder/projection/weight", names.output, names.target, target);
    out.add("decoder/projection/bias", weight_of(model_, "output.bias"));
    out.add_flag("encoder/embeddings_merge", 0);
    out.add_number("decoder/alignment_layer", -1);
    out.add_number("decoder/alignment_heads", 1);
    out.add_flag("decoder/start_from_zero_embedding", 0);
  }

  Variables out;

 private:
  void table(const std::string& to, const std::string& name, const std::string& target_name,
             const std::string& target) {
    if (name == target_name) {
      out.alias(to, target);
    } else {
      out.add(to, weight_of(model_, name));
    }
  }
  void norm(const std::string& to, const std::string& from) {
    out.add(to + "/gamma", weight_of(model_, from + ".gain"));
    out.add(to + "/beta", weight_of(model_, from + ".bias"));
  }
  void stacked(const std::string& to, const std::vector<std::string>& from, bool bias) {
    std::vector<float> weights, biases;
    std::int64_t width = 0;
    for (const std::string& name : from) {
      const Tensor w = turned_weight_of(model_, name);
      width = w.dim(1);
      weights.insert(weights.end(), w.values().begin(), w.values().end());
      if (!bias) continue;
      const Tensor b = weight_of(model_, name + ".bias");
      biases.insert(biases.end(), b.data(), b.data() + b.size());
    }
    out.add(to + "/weight", Tensor::of({static_cast<std::int64_t>(weights.size()) / width, width}, weights));
    if (bias) out.add(to + "/bias", Tensor::of({static_cast<std::int64_t>(biases.size())}, biases));
  }

  const LoadedModel& model_;
};

std::string tokens_json(const Tokenizer& tokenizer) {
  nlohmann::json tokens = nlohmann::json::array();
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) tokens.push_back(tokenizer.piece(id));
  return tokens.dump(0) + "\n";
}

}  // namespace

void export_ctranslate2(const LoadedModel& model, const std::filesystem::path& out) {
  const auto [encoder, decoder] = transformers_of(model.config, "CTranslate2");
  if (encoder.norm_epsilon != decoder.norm_epsilon) {
    throw UsageError("model", "CTranslate2 has one epsilon for the layer norms of both sides");
  }
  Writer writer(model);
  writer.part("encoder", encoder, model.config.tokens().scaled_embeddings, false);
  writer.part("decoder", decoder, model.config.generator().scaled_embeddings, true);
  writer.tables();
  writer.out.write(out / "model.bin");
  const nlohmann::json config = {{"unk_token", "<unk>"},
                                 {"bos_token", "<s>"},
                                 {"eos_token", "</s>"},
                                 {"decoder_start_token", "<s>"},
                                 {"add_source_bos", false},
                                 {"add_source_eos", model.config.tokens().end_of_sequence},
                                 {"layer_norm_epsilon", encoder.norm_epsilon}};
  write_whole_file(out / "config.json", config.dump(2) + "\n");
  write_whole_file(out / "source_vocabulary.json", tokens_json(*model.tokenizers.source));
  write_whole_file(out / "target_vocabulary.json", tokens_json(*model.tokenizers.target));
  write_spm(*model.tokenizers.source, out, "source");
  write_spm(*model.tokenizers.target, out, "target");
}

}  // namespace fovea::interop

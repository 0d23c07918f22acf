// A MarianMT folder of Hugging Face's Transformers, whose layers are post-norm with sines, then cosines, as positions.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/whole_file.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "interop/exported_model.hpp"

namespace fovea::interop {
namespace {

std::string activation_name(const TransformerConfig& c) {
  if (c.activation == Activation::gelu_tanh) return "gelu_new";
  if (c.activation == Activation::relu || c.activation == Activation::gelu || c.activation == Activation::swish) {
    return enum_text(c.activation);
  }
  throw UsageError("model", fmt::format("MarianMT does not have the activation {}", enum_text(c.activation)));
}

void check(const ModelConfig& config, const TransformerConfig& c) {
  const auto need = [](bool ok, const std::string& what) {
    if (!ok) throw UsageError("model", fmt::format("MarianMT does not have {}", what));
  };
  need(c.norm == Norm::post, "pre-norm layers; a model trained with `norm` post has what it needs");
  need(!c.embedding_norm, "a layer norm after the embeddings");
  need(c.positions == Positions::sinusoidal && c.first_position == 0, enum_text(c.positions) + " positions");
  need(c.norm_epsilon == 1e-5F, "another epsilon than 1e-5 in its layer norms");
  need(config.tokens().end_of_sequence, "sources without an end of sequence");
  need(config.tokens().scaled_embeddings == config.generator().scaled_embeddings, "embeddings scaled on one side");
}

std::string ids_json(const Tokenizer& tokenizer) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::object();
  for (std::int32_t id = 0; id < tokenizer.size(); ++id) ids[tokenizer.piece(id)] = id;
  return ids.dump(0) + "\n";
}

}  // namespace

void export_huggingface(const LoadedModel& model, const std::filesystem::path& out) {
  const auto [encoder, decoder] = transformers_of(model.config, "MarianMT");
  check(model.config, encoder);
  check(model.config, decoder);
  if (encoder.dim != decoder.dim || activation_name(encoder) != activation_name(decoder)) {
    throw UsageError("model", "MarianMT has the same width and activation on both sides");
  }
  for (const Tokenizer* t : {model.tokenizers.source.get(), model.tokenizers.target.get()}) {
    if (t->kind() != TokenizerKind::sentencepiece) {
      throw UsageError("model", fmt::format("MarianMT's tokens are SentencePiece's, not {}", name_of(t->kind())));
    }
  }
  SafetensorsWriter weights;
  const TableNames names = tables_of(model);
  const Tie tie = model.config.generator().tie;
  if (tie == Tie::all) {
    weights.add("model.shared.weight", weight_of(model, names.target));
  } else {
    weights.add("model.encoder.embed_tokens.weight", weight_of(model, names.source));
    weights.add("model.decoder.embed_tokens.weight", weight_of(model, names.target));
    if (tie == Tie::none) weights.add("lm_head.weight", weight_of(model, names.output));
  }
  const Tensor bias = weight_of(model, "output.bias");
  weights.add("final_logits_bias", bias.reshape({1, bias.size()}));
  const auto linear = [&](const std::string& to, const std::string& from, const TransformerConfig& c) {
    const Tensor w = turned_weight_of(model, from);
    weights.add(to + ".weight", w);
    weights.add(to + ".bias", c.bias ? weight_of(model, from + ".bias") : Tensor::zeros({w.dim(0)}));
  };
  const auto norm = [&](const std::string& to, const std::string& from) {
    weights.add(to + ".weight", weight_of(model, from + ".gain"));
    weights.add(to + ".bias", weight_of(model, from + ".bias"));
  };
  for (const auto& [side, c] :
       {std::pair<std::string, const TransformerConfig&>("encoder", encoder), {"decoder", decoder}}) {
    for (int i = 0; i < c.layers; ++i) {
      const std::string to = fmt::format("model.{}.layers.{}", side, i);
      const std::string from = fmt::format("{}.{}", side, i);
      for (const auto& [ours, theirs] : {std::pair(".self", ".self_attn"), {".cross", ".encoder_attn"}}) {
        if (side == "encoder" && std::string(ours) == ".cross") continue;
        linear(to + theirs + ".q_proj", from + ours + ".query", c);
        linear(to + theirs + ".k_proj", from + ours + ".key", c);
        linear(to + theirs + ".v_proj", from + ours + ".value", c);
        linear(to + theirs + ".out_proj", from + ours + ".output", c);
        norm(to + theirs + "_layer_norm", from + ours + "_norm");
      }
      linear(to + ".fc1", from + ".feed.first", c);
      linear(to + ".fc2", from + ".feed.second", c);
      norm(to + ".final_layer_norm", from + ".feed_norm");
    }
  }
  weights.set_metadata("format", "pt");
  weights.write(out / "model.safetensors");
  const bool shared = tie == Tie::all;
  nlohmann::json config = {{"architectures", {"MarianMTModel"}},
                           {"model_type", "marian"},
                           {"d_model", encoder.dim},
                           {"activation_function", activation_name(encoder)},
                           {"scale_embedding", model.config.tokens().scaled_embeddings},
                           {"static_position_embeddings", true},
                           {"normalize_before", false},
                           {"max_position_embeddings", 1024},
                           {"vocab_size", model.config.tokens().vocabulary},
                           {"decoder_vocab_size", model.config.generator().vocabulary},
                           {"share_encoder_decoder_embeddings", shared},
                           {"tie_word_embeddings", tie != Tie::none},
                           {"pad_token_id", pad_id},
                           {"bos_token_id", bos_id},
                           {"eos_token_id", eos_id},
                           {"decoder_start_token_id", bos_id},
                           {"forced_eos_token_id", eos_id},
                           {"bad_words_ids", {{pad_id}, {bos_id}}},
                           {"num_hidden_layers", encoder.layers},
                           {"is_encoder_decoder", true}};
  for (const auto& [side, c] :
       {std::pair<std::string, const TransformerConfig&>("encoder", encoder), {"decoder", decoder}}) {
    config[side + "_layers"] = c.layers;
    config[side + "_ffn_dim"] = c.ffn;
    config[side + "_attention_heads"] = c.heads;
  }
  for (const std::int32_t id : model.config.generator().suppressed) config["bad_words_ids"].push_back({id});
  write_whole_file(out / "config.json", config.dump(2) + "\n");
  write_whole_file(out / "vocab.json", ids_json(*model.tokenizers.source));
  if (!shared) write_whole_file(out / "target_vocab.json", ids_json(*model.tokenizers.target));
  const nlohmann::json tokenizer = {{"tokenizer_class", "MarianTokenizer"},
                                    {"separate_vocabs", !shared},
                                    {"unk_token", "<unk>"},
                                    {"eos_token", "</s>"},
                                    {"pad_token", "<pad>"}};
  write_whole_file(out / "tokenizer_config.json", tokenizer.dump(2) + "\n");
  write_spm(*model.tokenizers.source, out, "source");
  write_spm(*model.tokenizers.target, out, "target");
}

}  // namespace fovea::interop

// OpenNMT-py's RNNs: an encoder of PyTorch's layers in one or both directions, whose last states are the decoder's
// first, and a decoder with Luong's attention (general or dot), with or without input feeding.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "interop/imported_model.hpp"
#include "interop/opennmt/checkpoint.hpp"
#include "text/tokenizer/listed_tokenizer.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"

namespace fovea::interop {
namespace {

namespace fs = std::filesystem;

class OpenNmtRnn {
 public:
  OpenNmtRnn(const FileBytes& file, fs::path folder) : f_(file), folder_(std::move(folder)) {}

  ImportedModel run() {
    check_options();
    read_vocabularies();
    const std::int64_t width = f_.tensors.shape("decoder.attn.linear_out.weight")[0];
    if (width < 1 || width > 16384) f_.tensors.fail("tensor decoder.attn.linear_out.weight has the wrong size");
    GeneratorConfig generator;
    generator.decoder = decoder_of(static_cast<int>(width));
    const RnnEncoderConfig encoder = encoder_of(static_cast<int>(width));
    put_embeddings(generator);
    f_.tensors.finish();
    const RnnDecoderConfig& decoder = std::get<RnnDecoderConfig>(generator.decoder);
    out_.found = fmt::format("OpenNMT-py {} with {} attention{}", decoder.cell == Cell::lstm ? "LSTM" : "GRU",
                             enum_text(decoder.attention), decoder.input_feeding ? " and input feeding" : "");
    generator.scaled_embeddings = false;
    set_parts(out_, encoder, generator, source_width_, *source_, *target_);
    TokenSourceConfig& tokens = out_.config.tokens();
    tokens.scaled_embeddings = tokens.end_of_sequence = false;
    out_.config.generator().embedding = target_width_;
    return std::move(out_);
  }

 private:
  void check_options() const {
    f_.need("model_type", "text", {"text"});
    f_.need("model_task", "seq2seq", {"seq2seq"});
    f_.need("encoder_type", "rnn", {"rnn", "brnn"});
    f_.need("decoder_type", "rnn", {"rnn"});
    f_.need("rnn_type", "LSTM", {"LSTM", "GRU"});
    f_.need("global_attention", "general", {"general", "dot"});
    f_.need("global_attention_function", "softmax", {"softmax"});
    f_.need("generator_function", "softmax", {"softmax", "log_softmax"});
    f_.need("context_gate", "", {""});
    for (const char* off : {"bridge", "copy_attn", "coverage_attn", "position_encoding"}) {
      f_.need(off, "false", {"false", "0"});
    }
  }

  std::unique_ptr<VocabularyMap> map_of(const std::vector<std::string>& tokens, const char* cutter,
                                        std::shared_ptr<const Tokenizer>& tokenizer) const {
    const auto id = [&](const std::string& token) {
      const auto found = std::find(tokens.begin(), tokens.end(), token);
      return found == tokens.end() ? -1 : found - tokens.begin();
    };
    const ForeignSpecials special{
        .pad = id("<blank>"), .unknown = id("<unk>"), .end = id("</s>"), .start = id(f_.start)};
    auto map = std::make_unique<VocabularyMap>(tokens, special, f_.tensors.file() + ": vocab");
    const fs::path pieces = folder_ / cutter;
    if (fs::exists(pieces)) {
      tokenizer = std::make_shared<text::MappedTokenizer>(load_sentencepiece(pieces), map->vocabulary());
    } else {
      tokenizer =
          std::make_shared<text::ListedTokenizer>(text::ListedTokens{.kind = TokenizerKind::word}, map->vocabulary());
    }
    return map;
  }

  void read_vocabularies() {
    source_ = map_of(f_.source, "source.spm", out_.tokenizers.source);
    target_ = map_of(f_.target, "target.spm", out_.tokenizers.target);
    if (target_->theirs()[eos_id] < 0 || target_->theirs()[bos_id] < 0) {
      f_.tensors.fail(fmt::format("vocab: the target tokens have no </s>, or no {}", f_.start));
    }
    out_.config.shared_vocabulary = f_.source == f_.target;
    if (out_.config.shared_vocabulary && !fs::exists(folder_ / "source.spm")) {
      out_.tokenizers.target = out_.tokenizers.source;
    }
  }

  // A table [tokens, width] in Fovea's order.
  Tensor rows(const std::string& name, const VocabularyMap& map) {
    const auto count = static_cast<std::int64_t>(map.ours().size());
    if (f_.tensors.shape(name).rank() != 2 || f_.tensors.shape(name)[0] != count) {
      f_.tensors.fail(
          fmt::format("tensor {} has shape {}, but there are {} tokens", name, f_.tensors.shape(name).text(), count));
    }
    return map.rows(f_.tensors.take(name));
  }

  void put_embeddings(GeneratorConfig& generator) {
    const std::string table = ".embeddings.make_embedding.emb_luts.0.weight";
    const std::string from = "encoder" + table;
    const std::string to = "decoder" + table;
    // A Sequential of a linear layer and a softmax up to 2.x, then the layer alone.
    const std::string output = f_.tensors.has("generator.0.weight") ? "generator.0" : "generator";
    const bool tied = f_.tensors.same(to, output + ".weight");
    const bool all = tied && out_.config.shared_vocabulary && f_.tensors.same(from, to);
    generator.tie = all ? Tie::all : tied ? Tie::target : Tie::none;
    Parameters& p = out_.parameters;
    const Tensor source = rows(from, *source_);
    const Tensor target = rows(to, *target_);
    const Tensor written = rows(output + ".weight", *target_);
    source_width_ = static_cast<int>(source.dim(1));
    target_width_ = static_cast<int>(target.dim(1));
    if (all) {
      p.put("embedding", target);
    } else {
      p.put("source.embedding", source);
      p.put("target.embedding", target);
    }
    if (!tied) p.put("output.weight", written);
    p.put("output.bias", target_->bias(f_.tensors.take(output + ".bias", {f_.tensors.shape(output + ".weight")[0]})));
  }

  // The cell whose tensors are named by `name`("weight_ih") and so on. Gates stand in Fovea's order; each sum of gates
  // has two biases there. Of a GRU's candidate one stays inside of the reset.
  template <class Name>
  Cell put_cell(const std::string& to, const Name& name, std::int64_t units) {
    const Tensor input = f_.tensors.take(name("weight_ih"));
    const Tensor state = f_.tensors.take(name("weight_hh"));
    const std::int64_t gates = state.rank() == 2 && units > 0 ? state.dim(0) / units : 0;
    const Cell cell = gates == 4 ? Cell::lstm : Cell::gru;
    const Shape shape{gates * units, units};
    if ((gates != 3 && gates != 4) || !(state.shape() == shape) || input.rank() != 2) {
      f_.tensors.fail(fmt::format("tensor {} has shape {}, that of no cell of {} units", name("weight_hh"),
                                  state.shape().text(), units));
    }
    const Tensor bias = f_.tensors.take(name("bias_ih"), {gates * units}).clone();
    const Tensor second = f_.tensors.take(name("bias_hh"), {gates * units});
    const std::int64_t summed = cell == Cell::lstm ? 4 * units : 2 * units;
    for (std::int64_t i = 0; i < summed; ++i) bias.data()[i] += second.data()[i];
    Parameters& p = out_.parameters;
    p.put(to + ".input", input.transpose(0, 1).clone());
    p.put(to + ".state", state.transpose(0, 1).clone());
    p.put(to + ".bias", bias);
    if (cell == Cell::gru) p.put(to + ".state_bias", second.slice(0, summed, 3 * units).clone());
    return cell;
  }

  int layers(const char* pattern) const {
    int count = 0;
    while (count < 64 && f_.tensors.has(fmt::format(fmt::runtime(pattern), count))) ++count;
    if (count == 0) f_.tensors.fail(fmt::format("tensor {} is missing", fmt::format(fmt::runtime(pattern), 0)));
    return count;
  }

  RnnEncoderConfig encoder_of(int width) {
    RnnEncoderConfig c{.layers = layers("encoder.rnn.weight_ih_l{}"), .residual = false};
    c.bidirectional = f_.tensors.has("encoder.rnn.weight_ih_l0_reverse");
    c.dim = c.bidirectional ? width / 2 : width;
    for (int i = 0; i < c.layers; ++i) {
      for (const bool reverse : {false, true}) {
        if (reverse && !c.bidirectional) continue;
        c.cell = put_cell(
            fmt::format("encoder.{}.{}", i, reverse ? "backward" : "forward"),
            [&](const char* part) { return fmt::format("encoder.rnn.{}_l{}{}", part, i, reverse ? "_reverse" : ""); },
            c.dim);
      }
    }
    return c;
  }

  RnnDecoderConfig decoder_of(int width) {
    RnnDecoderConfig c{.dim = width, .attention = RnnAttention::dot, .form = RnnForm::luong, .layers_start = true};
    c.input_feeding = f_.tensors.has("decoder.rnn.layers.0.weight_ih");
    c.layers = layers(c.input_feeding ? "decoder.rnn.layers.{}.weight_ih" : "decoder.rnn.weight_ih_l{}");
    for (int i = 0; i < c.layers; ++i) {
      c.cell = put_cell(
          fmt::format("decoder.{}", i),
          [&](const char* part) {
            return c.input_feeding ? fmt::format("decoder.rnn.layers.{}.{}", i, part)
                                   : fmt::format("decoder.rnn.{}_l{}", part, i);
          },
          width);
    }
    Parameters& p = out_.parameters;
    if (f_.option("global_attention", "general") == "general") {
      c.attention = RnnAttention::general;
      // The query is multiplied there, as a linear layer does it.
      p.put("decoder.attention.general",
            f_.tensors.take("decoder.attn.linear_in.weight", {width, width}).transpose(0, 1).clone());
    }
    put_linear(p, "decoder.attentional", f_.tensors.take("decoder.attn.linear_out.weight", {width, 2 * width}), {});
    return c;
  }

  OpenNmtCheckpoint f_;
  fs::path folder_;
  ImportedModel out_;
  std::unique_ptr<VocabularyMap> source_, target_;
  int source_width_ = 0, target_width_ = 0;
};

}  // namespace

ImportedModel import_opennmt(const fs::path& file) {
  return OpenNmtRnn(FileBytes::map(file), file.has_parent_path() ? file.parent_path() : fs::path(".")).run();
}

}  // namespace fovea::interop

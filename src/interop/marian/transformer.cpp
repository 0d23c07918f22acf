// Marian's Transformers: layer norms add 1e-6 to the variance, positions are Tensor2Tensor's timing signal.
#include <fmt/format.h>

#include "interop/marian/file.hpp"

namespace fovea::interop {
namespace {

class MarianTransformer {
 public:
  explicit MarianTransformer(MarianFile& file) : f_(file) {}

  ImportedModel run() {
    check_options();
    f_.out.found = "Marian transformer";
    TransformerConfig common;
    common.dim = f_.integer("dim-emb", 0);
    common.heads = f_.integer("transformer-heads", 0);
    common.norm = f_.option("transformer-preprocess", "").find('n') != std::string::npos ? Norm::pre : Norm::post;
    common.norm_epsilon = 1e-6F;
    common.embedding_norm = f_.option("transformer-postprocess-emb", "d").find('n') != std::string::npos;
    set_activation(common, f_.option("transformer-ffn-activation", "swish"), f_.tensors.file());
    TransformerConfig encoder = common;
    encoder.layers = f_.integer("enc-depth", 0);
    encoder.ffn = f_.integer("transformer-dim-ffn", 0);
    TransformerConfig decoder = common;
    decoder.layers = f_.integer("dec-depth", 0);
    decoder.ffn = f_.integer("transformer-decoder-dim-ffn", 0);
    if (decoder.ffn == 0) decoder.ffn = encoder.ffn;
    if (recurrent()) decoder.decoder_self = DecoderSelf::ssru;
    f_.read_vocabularies();
    GeneratorConfig generator;
    f_.put_embeddings(generator, "decoder_ff_logit_out");
    put_part("encoder", encoder, false);
    put_part("decoder", decoder, true);
    generator.decoder = decoder;
    return f_.finish(encoder, generator, decoder.dim);
  }

 private:
  // Whether the decoder has a recurrent unit instead of self-attention.
  bool recurrent() const { return f_.option("transformer-decoder-autoreg", "self-attention") == "rnn"; }

  void check_options() const {
    f_.need("transformer-decoder-autoreg", "self-attention", {"self-attention", "rnn"});
    if (recurrent()) {
      f_.need("dec-cell", "gru", {"ssru"});
      f_.need("transformer-rnn-projection", "false", {"false"});
    }
    f_.need("transformer-no-projection", "false", {"false"});
    f_.need("transformer-ffn-depth", "2", {"2"});
    f_.need("transformer-decoder-ffn-depth", "0", {"0", "2"});
    f_.need("transformer-postprocess-emb", "d", {"", "d", "n", "nd"});
    f_.need("transformer-tied-layers", "", {"", "[]"});
    f_.need("lemma-dim-emb", "0", {"0"});
    f_.need("output-omit-bias", "false", {"false", "true"});
    if (f_.option("transformer-preprocess", "").find('n') != std::string::npos) {
      f_.need("transformer-preprocess", "", {"n"});
      f_.need("transformer-postprocess", "dan", {"da"});
      f_.need("transformer-postprocess-top", "", {"n"});
    } else {
      f_.need("transformer-preprocess", "", {"", "d"});
      f_.need("transformer-postprocess", "dan", {"dan"});
      f_.need("transformer-postprocess-top", "", {""});
    }
  }

  void norm(const std::string& to, const std::string& from) {
    const std::string after = f_.tensors.has(from + "_ln_scale_pre") ? "_pre" : "";
    if (!f_.tensors.has(from + "_ln_scale" + after))
      f_.tensors.fail(fmt::format("tensor {}_ln_scale is missing", from));
    Tensor bias = f_.vector(from + "_ln_bias" + after);
    const Tensor gain = f_.vector(from + "_ln_scale" + after);
    put_norm(f_.out.parameters, to, gain, bias ? bias : Tensor::zeros(gain.shape()));
  }

  void attention(const std::string& to, const std::string& from) {
    f_.linear(to + ".query", from, "q");
    f_.linear(to + ".key", from, "k");
    f_.linear(to + ".value", from, "v");
    f_.linear(to + ".output", from, "o");
  }

  void put_part(const std::string& side, TransformerConfig& c, bool decoder) {
    if (f_.tensors.has("Wpos")) {
      put_positions(f_.out.parameters, c, side + ".positions", f_.tensors.take("Wpos"));
    } else {
      c.positions = Positions::timing_signal;
    }
    if (c.embedding_norm) norm(side + ".embedding_norm", side + "_emb");
    if (c.norm == Norm::pre) norm(side + ".norm", side + "_top");
    for (int i = 0; i < c.layers; ++i) {
      const std::string from = fmt::format("{}_l{}", side, i + 1);
      const std::string to = fmt::format("{}.{}", side, i);
      if (decoder && recurrent()) {
        f_.out.parameters.put(to + ".ssru.input.weight", f_.tensors.take(from + "_rnn_W"));
        f_.linear(to + ".ssru.forget", from + "_rnn", "f");
        norm(to + ".self_norm", from + "_rnn_ffn");
      } else {
        attention(to + ".self", from + "_self");
        norm(to + ".self_norm", from + "_self_Wo");
      }
      if (decoder) {
        attention(to + ".cross", from + "_context");
        norm(to + ".cross_norm", from + "_context_Wo");
      }
      f_.linear(to + ".feed.first", from + "_ffn", "1");
      f_.linear(to + ".feed.second", from + "_ffn", "2");
      norm(to + ".feed_norm", from + "_ffn_ffn");
    }
  }

  MarianFile& f_;
};

}  // namespace

ImportedModel import_marian_transformer(MarianFile& file) {
  return MarianTransformer(file).run();
}

}  // namespace fovea::interop

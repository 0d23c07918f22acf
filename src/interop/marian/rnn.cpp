// Marian's RNNs with attention, as Nematus has them (Sennrich et al. 2017): a bidirectional encoder, a decoder of two
// cells with additive attention between them, a tanh layer before the output. The first state comes from the mean of
// the memory. s2s may have further layers: in the encoder a stack for each direction, or layers in one direction above
// the first, in the decoder layers above the second cell.
#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "interop/marian/file.hpp"

namespace fovea::interop {
namespace {

class MarianRnn {
 public:
  explicit MarianRnn(MarianFile& file)
      : f_(file), dim_(file.integer("dim-rnn", 0)), embedding_(file.integer("dim-emb", 0)) {}

  ImportedModel run() {
    check_options();
    f_.out.found = "Marian RNN with attention";
    const bool skip = f_.option("skip", "false") == "true";
    RnnEncoderConfig encoder{
        .layers = depth("enc-depth"), .dim = dim_, .cell = cell_of("enc-cell"), .residual = skip && !one_way_above()};
    RnnDecoderConfig decoder{
        .layers = depth("dec-depth"), .dim = dim_, .cell = cell_of("dec-cell"), .form = RnnForm::conditional};
    decoder.residual = skip;
    decoder.mean_start = true;
    decoder.cells_start = decoder.cell == Cell::lstm;
    decoder.readout_dim = embedding_;
    decoder.readout = Activation::tanh;
    f_.read_vocabularies();
    GeneratorConfig generator;
    generator.scaled_embeddings = f_.out.config.tokens().scaled_embeddings = false;
    f_.put_embeddings(generator, "decoder_ff_logit_l2");
    put_encoder(encoder);
    put_cell("decoder.0", "decoder_cell1", decoder.cell, {embedding_}, false);
    put_cell("decoder.second", "decoder_cell2", decoder.cell, memory(), true);
    for (int i = 0; i < decoder.layers; ++i) {
      const std::string to = fmt::format("decoder.{}", i);
      if (i > 0) put_cell(to, fmt::format("decoder_l{}_cell1", i + 1), decoder.cell, {dim_}, false);
      f_.out.parameters.put(to + ".first.weight", placed(f_.tensors.take("decoder_ff_state_W"), memory()));
      f_.out.parameters.put(to + ".first.bias", f_.vector("decoder_ff_state_b"));
    }
    put_attention(decoder);
    put_readout();
    generator.decoder = decoder;
    return f_.finish(encoder, generator, embedding_);
  }

 private:
  void check_options() const {
    f_.need("enc-cell-depth", "1", {"1"});
    f_.need("dec-cell-base-depth", "2", {"2"});
    f_.need("enc-type", "bidirectional", {"bidirectional", "bi-unidirectional", "alternating"});
    for (const char* off : {"layer-normalization", "dec-attention-bilinear-lookup"}) f_.need(off, "false", {"false"});
    if (depth("dec-depth") > 1) f_.need("dec-cell-high-depth", "1", {"1"});
    // One layer is the same in all types.
    if (depth("enc-depth") > 1) f_.need("enc-type", "bidirectional", {"bidirectional", "bi-unidirectional"});
    // There the second layer, the first in one direction, would stay without.
    if (one_way_above() && depth("enc-depth") > 2) f_.need("skip", "false", {"false"});
    for (const char* one : {"dec-attention-heads", "dec-attention-hops"}) f_.need(one, "1", {"1"});
    f_.need("dec-attention-projection-dim", "-1", {"-1"});
    f_.need("lemma-dim-emb", "0", {"0"});
    if (dim_ < 1 || embedding_ < 1) f_.tensors.fail("options dim-rnn and dim-emb are needed");
  }
  int depth(const char* name) const {
    const int layers = f_.integer(name, 1);
    if (layers < 1 || layers > 64) f_.tensors.fail(fmt::format("option {}: {} is not supported", name, layers));
    return layers;
  }
  // Whether the encoder's layers above the first read in one direction. They become layers of both directions; the
  // weights of the second, and its half of the memory, are zeros.
  bool one_way_above() const {
    return f_.option("enc-type", "bidirectional") == "bi-unidirectional" && depth("enc-depth") > 1;
  }

  // Rows of a matrix within a larger one, whose other rows are zeros.
  struct Rows {
    std::int64_t count = 0, begin = 0, all = count;
  };
  Rows memory() const { return one_way_above() ? Rows{dim_, 0, 2 * dim_} : Rows{2 * dim_}; }
  Tensor placed(const Tensor& matrix, const Rows& rows) const {
    if (matrix.rank() != 2 || matrix.dim(0) != rows.count) {
      f_.tensors.fail(fmt::format("a matrix has shape {}, {} rows are needed", matrix.shape().text(), rows.count));
    }
    const Tensor out = Tensor::zeros({rows.all, matrix.dim(1)});
    std::copy_n(matrix.data(), matrix.size(), out.data() + rows.begin * matrix.dim(1));
    return out;
  }

  void put_encoder(const RnnEncoderConfig& c) {
    put_cell("encoder.0.forward", "encoder_bi", c.cell, {embedding_}, false);
    put_cell("encoder.0.backward", "encoder_bi_r", c.cell, {embedding_}, false);
    for (int i = 1; i < c.layers; ++i) {
      const std::string to = fmt::format("encoder.{}", i);
      if (one_way_above()) {
        const Rows in = i == 1 ? Rows{2 * dim_} : Rows{dim_, 0, 2 * dim_};
        put_cell(to + ".forward", fmt::format("encoder_l{}_cell1", i + 1), c.cell, in, false);
        put_zeros(to + ".backward", c.cell);
      } else {
        // Each direction reads its own lower layer, half of what both give.
        put_cell(to + ".forward", fmt::format("encoder_bi_l{}_cell1", i + 1), c.cell, {dim_, 0, 2 * dim_}, false);
        put_cell(to + ".backward", fmt::format("encoder_bi_r_l{}_cell1", i + 1), c.cell, {dim_, dim_, 2 * dim_}, false);
      }
    }
  }
  void put_zeros(const std::string& to, Cell cell) {
    const std::int64_t gates = (cell == Cell::gru ? 3 : 4) * dim_;
    Parameters& p = f_.out.parameters;
    p.put(to + ".input", Tensor::zeros({2 * dim_, gates}));
    p.put(to + ".state", Tensor::zeros({dim_, gates}));
    p.put(to + ".bias", Tensor::zeros({gates}));
    if (cell == Cell::gru) p.put(to + ".state_bias", Tensor::zeros({dim_}));
  }

  Cell cell_of(const char* name) const {
    f_.need(name, "gru", {"gru", "gru-nematus", "lstm"});
    return f_.option(name, "gru") == "lstm" ? Cell::lstm : Cell::gru;
  }

  // Columns of several tensors of `rows` rows side by side: each a name, the first column and how many.
  struct Columns {
    std::string name;
    std::int64_t all, begin, count;
  };
  Tensor joined_columns(std::int64_t rows, const std::vector<Columns>& parts) {
    std::int64_t width = 0;
    for (const Columns& part : parts) width += part.count;
    const Tensor out = Tensor::empty({rows, width});
    std::int64_t at = 0;
    for (const Columns& part : parts) {
      const Tensor from = f_.tensors.take(part.name, {rows, part.all});
      for (std::int64_t r = 0; r < rows; ++r) {
        std::copy_n(from.data() + r * part.all + part.begin, part.count, out.data() + r * width + at);
      }
      at += part.count;
    }
    return out;
  }

  // A GRU's reset and update gates are one array and its candidate another; an LSTM's gates are in the order f, i, g,
  // o. `inside`: the candidate's bias is multiplied by the reset gate.
  void put_cell(const std::string& to, const std::string& from, Cell cell, const Rows& in, bool inside) {
    const std::int64_t d = dim_;
    const auto joined = [&](const std::string& part, std::int64_t rows) {
      const std::string name = from + "_" + part;
      if (cell == Cell::gru) return joined_columns(rows, {{name, 2 * d, 0, 2 * d}, {name + "x", d, 0, d}});
      return joined_columns(rows, {{name, 4 * d, d, d}, {name, 4 * d, 0, d}, {name, 4 * d, 2 * d, 2 * d}});
    };
    Parameters& p = f_.out.parameters;
    p.put(to + ".input", placed(joined("W", in.count), in));
    p.put(to + ".state", joined("U", d));
    const Tensor bias = joined("b", 1);
    if (cell == Cell::gru) {
      const Tensor state_bias = Tensor::zeros({d});
      if (inside) std::swap_ranges(state_bias.data(), state_bias.data() + d, bias.data() + 2 * d);
      p.put(to + ".state_bias", state_bias);
    }
    p.put(to + ".bias", bias.reshape({bias.size()}));
  }

  void put_attention(RnnDecoderConfig& decoder) {
    Parameters& p = f_.out.parameters;
    p.put("decoder.attention.query", f_.turned("decoder_W_comb_att").clone());
    p.put("decoder.attention.key", placed(f_.tensors.take("decoder_Wc_att"), memory()).transpose(0, 1).clone());
    const Tensor vector = f_.vector("decoder_U_att");
    if (!vector || vector.size() > 16384) f_.tensors.fail("tensor decoder_U_att is missing, or too large");
    p.put("decoder.attention.vector", vector);
    const Tensor bias = f_.vector("decoder_b_att");
    p.put("decoder.attention.bias", bias ? bias : Tensor::zeros(vector.shape()));
    decoder.attention_dim = static_cast<int>(vector.size());
  }

  // From the embedding, the state and the context; each has a bias of its own there.
  void put_readout() {
    const std::string from = "decoder_ff_logit_l1";
    const Tensor bias = Tensor::zeros({embedding_});
    for (const char* part : {"0", "1", "2"}) {
      const Tensor one = f_.tensors.take(from + "_b" + part, {1, embedding_});
      for (std::int64_t i = 0; i < embedding_; ++i) bias.data()[i] += one.data()[i];
    }
    Parameters& p = f_.out.parameters;
    p.put("decoder.out.input.weight", f_.tensors.take(from + "_W0"));
    p.put("decoder.out.state.weight", f_.tensors.take(from + "_W1"));
    p.put("decoder.out.context.weight", placed(f_.tensors.take(from + "_W2"), memory()));
    p.put("decoder.out.state.bias", bias);
  }

  MarianFile& f_;
  int dim_, embedding_;
};

}  // namespace

ImportedModel import_marian_rnn(MarianFile& file) {
  return MarianRnn(file).run();
}

}  // namespace fovea::interop

// A recurrent encoder by ONNX's GRU and LSTM operators; and no encoder at all.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "interop/onnx/layers.hpp"

namespace fovea::interop {
namespace {

// ONNX orders a GRU's gates z, r, n and an LSTM's i, o, f, g; here the orders are r, z, n and i, f, g, o.
std::vector<std::int64_t> gate_order(Cell cell) {
  return cell == Cell::gru ? std::vector<std::int64_t>{1, 0, 2} : std::vector<std::int64_t>{0, 3, 1, 2};
}

// NAME of both directions [n, gates units], as [directions, gates units, n].
Tensor stacked(const LoadedModel& model, const std::vector<std::string>& names, Cell cell, std::int64_t units) {
  std::vector<Tensor> all;
  for (const std::string& name : names) {
    const Tensor w = weight_of(model, name);
    for (const std::int64_t gate : gate_order(cell)) {
      all.push_back(w.slice(-1, gate * units, (gate + 1) * units).transpose(0, 1).contiguous());
    }
  }
  const std::int64_t rows = static_cast<std::int64_t>(all.size()) * units;
  const std::int64_t columns = all[0].dim(1);
  const Tensor out = Tensor::empty({rows, columns});
  float* to = out.data();
  for (const Tensor& part : all) to = std::copy(part.values().begin(), part.values().end(), to);
  const auto directions = static_cast<std::int64_t>(names.size());
  return out.reshape({directions, rows / directions, columns});
}

// Both biases side by side, [directions, 2 gates units]. Only the last gate of a GRU has one of the state.
Tensor biases(const LoadedModel& model, const std::vector<std::string>& cells, Cell cell, std::int64_t units) {
  const auto order = gate_order(cell);
  const std::int64_t gates = static_cast<std::int64_t>(order.size()) * units;
  const Tensor out = Tensor::zeros({static_cast<std::int64_t>(cells.size()), 2 * gates});
  float* to = out.data();
  for (const std::string& name : cells) {
    const Tensor bias = weight_of(model, name + ".bias").contiguous();
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::copy_n(bias.data() + order[i] * units, units, to + static_cast<std::int64_t>(i) * units);
    }
    if (cell == Cell::gru) {
      const Tensor state = weight_of(model, name + ".state_bias").contiguous();
      std::copy_n(state.data(), units, to + gates + 2 * units);
    }
    to += 2 * gates;
  }
  return out;
}

}  // namespace

OnnxMemory encode(OnnxLayers& l, const RnnEncoderConfig& c, const std::string& embedded, const std::string& lengths) {
  const std::string steps = l.cast(lengths, OnnxGraph::Type::int32);
  const std::int64_t width = c.dim * (c.bidirectional ? 2 : 1);
  std::string x = embedded;
  std::vector<std::string> last, last_cells;
  for (int i = 0; i < c.layers; ++i) {
    const std::string at = fmt::format("encoder.{}", i);
    std::vector<std::string> cells{at + ".forward"};
    if (c.bidirectional) cells.push_back(at + ".backward");
    const auto constant = [&](const char* part) {
      std::vector<std::string> names;
      for (const std::string& cell : cells) names.push_back(cell + part);
      return l.graph.constant(at + part, stacked(l.model(), names, c.cell, c.dim));
    };
    std::vector<OnnxGraph::Attribute> attributes{{"hidden_size", std::int64_t{c.dim}},
                                                 {"direction", c.bidirectional ? "bidirectional" : "forward"}};
    if (c.cell == Cell::gru) attributes.push_back({"linear_before_reset", std::int64_t{1}});
    const auto run = l.graph.nodes(c.cell == Cell::gru ? "GRU" : "LSTM", c.cell == Cell::gru ? 2 : 3,
                                   {l.transpose(x, {1, 0, 2}), constant(".input"), constant(".state"),
                                    l.graph.constant(at + ".bias", biases(l.model(), cells, c.cell, c.dim)), steps},
                                   attributes);
    // [length, directions, batch, units] to [batch, length, directions units]
    const std::string states =
        l.graph.node("Reshape", {l.transpose(run[0], {2, 0, 1, 3}), l.graph.numbers({0, 0, width})});
    x = i > 0 && c.residual ? l.add(x, states) : states;
    const auto of_batch = [&](const std::string& v) {
      return l.graph.node("Reshape", {l.transpose(v, {1, 0, 2}), l.graph.numbers({0, width})});
    };
    last.push_back(of_batch(run[1]));
    if (c.cell == Cell::lstm) last_cells.push_back(of_batch(run[2]));
  }
  const auto* decoder = std::get_if<RnnDecoderConfig>(&l.model().config.generator().decoder);
  if (decoder == nullptr || !decoder->layers_start) return {.states = x, .summary = last.back(), .lengths = lengths};
  last.insert(last.end(), last_cells.begin(), last_cells.end());
  return {.states = x, .summary = l.graph.node("Concat", last, {{"axis", std::int64_t{1}}}), .lengths = lengths};
}

OnnxMemory encode(OnnxLayers&, const NoEncoderConfig&, const std::string& embedded, const std::string& lengths) {
  return {.states = embedded, .lengths = lengths};
}

}  // namespace fovea::interop

// A recurrent decoder of any form and score in ONNX: the time loop is a Scan, whose body is one step.
#include <fmt/format.h>

#include <cmath>

#include "interop/onnx/layers.hpp"

namespace fovea::interop {
namespace {

using Type = OnnxGraph::Type;

bool attends(const RnnDecoderConfig& c) {
  return c.attention != RnnAttention::none;
}
bool luong(const RnnDecoderConfig& c) {
  return c.form == RnnForm::luong && attends(c);
}

// What does not change from step to step.
struct StepMemory {
  std::string memory;   // [batch, length, width]
  std::string keys;     // [batch, length, dim], as the score takes them
  std::string visible;  // [batch, length]
  std::string lengths;  // [batch]
};

std::string unit(OnnxLayers& l, const std::string& x) {
  const std::string norm =
      l.graph.node("ReduceL2", {x}, {{"axes", std::vector<std::int64_t>{-1}}, {"keepdims", std::int64_t{1}}});
  return l.graph.node("Div", {x, l.graph.node("Max", {norm, l.graph.number(1e-8F)})});
}

// One step. The state is a set of names in the graph; each is replaced as its value is computed.
class RnnStep {
 public:
  RnnStep(OnnxLayers layers, const RnnDecoderConfig& config, const StepMemory& attended)
      : l(layers), c_(config), from_(attended) {}

  OnnxLayers l;
  std::vector<std::string> states, cells;  // of each layer [batch, units]; cells of LSTMs
  std::string fed;                         // Luong, with input feeding [batch, units]
  std::string coverage;                    // [batch, length]
  std::string place;                       // of the step, a number; where attention is local and monotonic

  // h (and c) of a layer from its input's product [batch, gates units].
  void cell(const std::string& name, std::size_t layer, const std::string& input) {
    const std::string recurrent = l.product(states[layer], l.weight(name + ".state"));
    const std::string in = l.add(input, l.weight(name + ".bias"));
    const auto sigmoid = [&](const std::string& x) { return l.graph.node("Sigmoid", {x}); };
    const auto tanh = [&](const std::string& x) { return l.graph.node("Tanh", {x}); };
    if (c_.cell == Cell::gru) {
      const auto x = l.split(in, 3);
      const auto h = l.split(recurrent, 3);
      const std::string r = sigmoid(l.add(x[0], h[0]));
      const std::string z = sigmoid(l.add(x[1], h[1]));
      const std::string n = tanh(l.add(x[2], l.times(r, l.add(h[2], l.weight(name + ".state_bias")))));
      states[layer] = l.add(n, l.times(z, l.graph.node("Sub", {states[layer], n})));
    } else {
      const auto gates = l.split(l.add(in, recurrent), 4);
      cells[layer] = l.add(l.times(sigmoid(gates[1]), cells[layer]), l.times(sigmoid(gates[0]), tanh(gates[2])));
      states[layer] = l.times(sigmoid(gates[3]), tanh(cells[layer]));
    }
  }

  // All layers, the first from its input's product.
  void layers(const std::string& input) {
    cell("decoder.0", 0, input);
    (void)layers_above();
  }

  // All but the first; gives what the top one gives.
  std::string layers_above() {
    std::string x = states[0];
    for (std::size_t i = 1; i < states.size(); ++i) {
      const std::string name = fmt::format("decoder.{}", i);
      cell(name, i, l.product(x, l.weight(name + ".input")));
      x = c_.residual ? l.add(x, states[i]) : states[i];
    }
    return x;
  }

  // The context of a state, [batch, width].
  std::string context(const std::string& h) {
    std::string visible = from_.visible;
    std::string distance;
    if (c_.local != LocalKind::none) {
      distance = l.graph.node("Sub", {l.cast(l.places(from_.memory), Type::float32), center(h)});
      const std::string near = l.graph.node(
          "LessOrEqual", {l.graph.node("Abs", {distance}), l.graph.number(static_cast<float>(c_.local_window))});
      visible = l.graph.node("And", {visible, near});
    }
    // A query that sees nothing gets zeros.
    const std::string seen = l.cast(visible, Type::float32);
    std::string weights = l.times(l.softmax(l.add(scores(h), l.mask(visible))), seen);
    if (c_.local == LocalKind::predictive) {
      const std::string scaled = l.times(distance, 2.0F / static_cast<float>(c_.local_window));
      weights = l.times(weights, l.graph.node("Exp", {l.times(l.times(scaled, scaled), -0.5F)}));
    }
    if (c_.coverage) coverage = l.add(coverage, weights);
    if (c_.attention_kind == Focus::hard) {
      const std::string best =
          l.graph.node("ArgMax", {weights}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{1}}});
      weights = l.times(l.cast(l.graph.node("Equal", {l.places(from_.memory), best}), Type::float32), seen);
    }
    const std::string read = l.squeeze(l.product(l.unsqueeze(weights, 1), from_.memory), 1);
    if (c_.form != RnnForm::gated) return read;
    const std::string opening = l.add(l.product(h, l.weight("decoder.gate.weight")), l.weight("decoder.gate.bias"));
    return l.times(read, l.unsqueeze(l.graph.node("Sigmoid", {opening}), 1));
  }

 private:
  std::string scores(const std::string& h) {
    const std::string name = "decoder.attention";
    switch (c_.attention) {
      case RnnAttention::additive:
      case RnnAttention::concat: {
        std::string q = l.product(h, l.turned(name + ".query"));
        if (c_.attention == RnnAttention::additive) q = l.add(q, l.weight(name + ".bias"));
        std::string sum = l.add(l.unsqueeze(q, 1), from_.keys);
        if (c_.coverage) sum = l.add(sum, l.times(l.unsqueeze(coverage, 2), l.weight(name + ".coverage")));
        return l.product(l.graph.node("Tanh", {sum}), l.weight(name + ".vector"));
      }
      case RnnAttention::location: {
        const std::string all = l.product(h, l.turned(name + ".location"));
        return l.graph.node("Slice", {all, l.graph.numbers({0}), l.axis_size(from_.memory, 1), l.graph.numbers({1})});
      }
      case RnnAttention::cosine:
        return l.times(dots(unit(l, h)), 8);
      case RnnAttention::scaled_dot:
        return l.times(dots(h), 1 / std::sqrt(static_cast<float>(c_.dim)));
      default:  // dot, and general, whose matrix is in the keys
        return dots(h);
    }
  }
  std::string dots(const std::string& q) { return l.squeeze(l.product(from_.keys, l.unsqueeze(q, 2)), 2); }

  // Of local attention, [batch, 1] or a number.
  std::string center(const std::string& h) {
    if (c_.local == LocalKind::monotonic) return place;
    const std::string inner = l.graph.node("Tanh", {l.product(h, l.turned("decoder.center.weight"))});
    const std::string share = l.graph.node("Sigmoid", {l.product(inner, l.weight("decoder.center.vector"))});
    return l.unsqueeze(l.times(share, l.cast(from_.lengths, Type::float32)), 1);
  }

  const RnnDecoderConfig& c_;
  const StepMemory& from_;
};

// The mean of the states within their lengths, [batch, width].
std::string mean_of(OnnxLayers& l, const OnnxMemory& memory) {
  const std::string real = l.cast(l.within(memory.lengths, memory.states), Type::float32);
  const std::string sum = l.squeeze(l.product(l.unsqueeze(real, 1), memory.states), 1);
  const std::string count = l.graph.node("Max", {l.cast(memory.lengths, Type::float32), l.graph.number(1)});
  return l.graph.node("Div", {sum, l.unsqueeze(count, 1)});
}

std::string keys_of(OnnxLayers& l, const RnnDecoderConfig& c, const std::string& memory) {
  switch (c.attention) {
    case RnnAttention::additive:
    case RnnAttention::concat:
      return l.product(memory, l.turned("decoder.attention.key"));
    case RnnAttention::general:
      return l.product(memory, l.turned("decoder.attention.general"));
    case RnnAttention::cosine:
      return unit(l, memory);
    default:
      return memory;
  }
}

// The encoder's last states of all layers, and then its cells, where the decoder starts with them; else nothing.
std::vector<std::string> last_of(OnnxLayers& l, const RnnDecoderConfig& c, const std::string& summary) {
  if (!c.layers_start) return {};
  return l.split(summary, static_cast<std::size_t>(c.layers) * (c.cell == Cell::lstm ? 2 : 1));
}

// One step from the first layer's product with its embedding; gives what the output layer reads of it.
std::vector<std::string> take(RnnStep& step, const RnnDecoderConfig& c, const std::string& x,
                              const std::string& fed_rows) {
  OnnxLayers& l = step.l;
  const auto with = [&](const std::string& more) { return l.add(x, l.product(more, fed_rows)); };
  if (!attends(c)) {
    step.layers(x);
    return {step.states.back()};
  }
  if (luong(c)) {
    step.layers(c.input_feeding ? with(step.fed) : x);
    const std::string both =
        l.graph.node("Concat", {step.context(step.states.back()), step.states.back()}, {{"axis", std::int64_t{1}}});
    step.fed = l.graph.node("Tanh", {l.linear("decoder.attentional", both)});
    return {step.fed};
  }
  if (c.form == RnnForm::conditional) {
    step.cell("decoder.0", 0, x);
    const std::string context = step.context(step.states[0]);
    step.cell("decoder.second", 0, l.product(context, l.weight("decoder.second.input")));
    return {step.layers_above(), context};
  }
  const std::string context = step.context(step.states.back());
  step.layers(with(context));
  return {step.states.back(), context};
}

// Runs a step for each place of the embeddings. `input` is the first layer's product with them.
std::vector<std::string> loop(OnnxLayers& l, const RnnDecoderConfig& c, const StepMemory& from,
                              const std::string& input, const std::string& summary, const std::string& fed_rows) {
  OnnxGraph body("step", &l.graph);
  RnnStep step(l.in(body), c, from);
  const std::string units = std::to_string(c.dim);
  std::vector<std::string> inputs;
  const auto carried = [&](const std::string& name, const std::string& first, const std::string& axis) {
    inputs.push_back(first);
    return body.input(name, Type::float32, {"batch", axis});
  };
  const std::vector<std::string> last = last_of(l, c, summary);
  for (int i = 0; i < c.layers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::string first =
        c.layers_start ? last[at] : l.graph.node("Tanh", {l.linear(fmt::format("decoder.{}.first", i), summary)});
    step.states.push_back(carried(fmt::format("state_{}", i), first, units));
    if (c.cell == Cell::gru) continue;
    const std::string cell = c.layers_start  ? last[static_cast<std::size_t>(c.layers) + at]
                             : c.cells_start ? first
                                             : l.zeros_like(first);
    step.cells.push_back(carried(fmt::format("cell_{}", i), cell, units));
  }
  const bool feeds = luong(c) && c.input_feeding;
  if (feeds) step.fed = carried("fed", l.zeros_like(inputs[0]), units);
  if (c.coverage) step.coverage = carried("coverage", l.zeros_like(l.mask(from.visible)), "length");
  const std::size_t count = inputs.size();  // of what is carried on
  std::vector<std::int64_t> axes{1};
  inputs.push_back(input);
  const std::string x = body.input("input", Type::float32, {"batch", "gates"});
  if (c.local == LocalKind::monotonic) {
    inputs.push_back(l.cast(l.places(input), Type::float32));
    axes.push_back(0);
    step.place = body.input("place", Type::float32, {});
  }
  const std::vector<std::string> read = take(step, c, x, fed_rows);
  std::size_t given = 0;
  const auto give = [&](const std::string& value, const std::string& axis) {
    body.output(value, fmt::format("out_{}", given++), {"batch", axis});
  };
  for (std::size_t i = 0; i < step.states.size(); ++i) {
    give(step.states[i], units);
    if (c.cell == Cell::lstm) give(step.cells[i], units);
  }
  if (feeds) give(step.fed, units);
  if (c.coverage) give(step.coverage, "length");
  for (const std::string& value : read) give(value, "width");
  const auto run = l.graph.nodes("Scan", given, inputs,
                                 {{"body", &body},
                                  {"num_scan_inputs", static_cast<std::int64_t>(axes.size())},
                                  {"scan_input_axes", axes},
                                  {"scan_output_axes", std::vector<std::int64_t>(read.size(), 1)}});
  return {run.begin() + static_cast<std::ptrdiff_t>(count), run.end()};
}

}  // namespace

std::string decode(OnnxLayers& l, const RnnDecoderConfig& c, const std::string& embedded, const OnnxMemory& memory) {
  StepMemory from;
  from.lengths = memory.lengths;
  const bool projected = l.model().parameters.find("decoder.memory.weight") != nullptr;
  from.memory = projected ? l.linear("decoder.memory", memory.states, false) : memory.states;
  from.visible = l.within(memory.lengths, memory.states);
  from.keys = keys_of(l, c, from.memory);
  const std::string summary = memory.summary.empty() ? mean_of(l, memory) : memory.summary;
  // The first layer's product with the embeddings is made for all steps at once; behind their rows of the matrix are
  // those of what is fed.
  const std::int64_t width = l.model().config.generator().embedding;
  const std::int64_t rows = weight_of(l.model(), "decoder.0.input").dim(0);
  std::string input = l.product(embedded, l.rows("decoder.0.input", 0, width));
  const std::string fed_rows = rows > width ? l.rows("decoder.0.input", width, rows) : std::string();
  const std::string top = c.layers_start ? last_of(l, c, summary)[static_cast<std::size_t>(c.layers - 1)] : summary;
  if (!attends(c)) input = l.add(input, l.unsqueeze(l.product(top, fed_rows), 1));
  const std::vector<std::string> read = loop(l, c, from, input, summary, fed_rows);
  if (luong(c)) return read[0];
  const std::string context = attends(c) ? l.linear("decoder.out.context", read[1], false)
                                         : l.unsqueeze(l.linear("decoder.out.context", top, false), 1);
  const std::string out = l.add(l.linear("decoder.out.state", read[0]), l.linear("decoder.out.input", embedded, false));
  const std::string sum = l.add(out, context);
  return c.readout == Activation::tanh ? l.graph.node("Tanh", {sum}) : sum;
}

}  // namespace fovea::interop

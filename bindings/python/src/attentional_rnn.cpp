// A recurrent decoder that attends to a memory at every step.
#include "fovea/attention/attentional_rnn.hpp"

#include "arrays.hpp"
#include "fovea/error.hpp"
#include "fovea/nn/parameters.hpp"

namespace fovea::python {
namespace {

using Size = std::int64_t;
using P = std::shared_ptr<Parameters>;

template <class Value, std::size_t N>
Value named(const std::pair<const char*, Value> (&known)[N], const std::string& name, const std::string& what) {
  std::string possible;
  for (const auto& [spelled, value] : known) {
    if (name == spelled) return value;
    possible += (possible.empty() ? "" : ", ") + std::string(spelled);
  }
  throw UsageError(what + ": \"" + name + "\" is not one of " + possible);
}

// The weights by name, as a recurrent decoder of a model has them.
struct RnnLayer {
  RnnLayer(Parameters& p, const std::string& name, Size inputs, Size memory, Size hidden, const std::string& cell,
           const std::string& form, const std::string& score, Size layers, bool input_feeding) {
    constexpr std::pair<const char*, Cell> cells[] = {{"gru", Cell::gru}, {"lstm", Cell::lstm}};
    constexpr std::pair<const char*, DecoderForm> forms[] = {
        {"bahdanau", DecoderForm::bahdanau}, {"luong", DecoderForm::luong}, {"conditional", DecoderForm::conditional}};
    weights.cell = named(cells, cell, "cell");
    how.form = named(forms, form, "form");
    const bool luong = how.form == DecoderForm::luong;
    const bool conditional = how.form == DecoderForm::conditional;
    if (conditional && layers != 1) throw UsageError("layers: the conditional form has one layer of two cells");
    if (layers < 1) throw UsageError("layers: 1 or more are needed");
    how.input_feeding = luong && input_feeding;
    const Size gates = weights.cell == Cell::gru ? 3 : 4;
    const auto add = [&](const std::string& at, Size in) {
      DecoderLayer layer{.input = p.get(at + ".input", {in, gates * hidden}, Init::xavier),
                         .state = p.get(at + ".state", {hidden, gates * hidden}, Init::recurrent),
                         .bias = p.get(at + ".bias", {gates * hidden}, Init::zeros)};
      if (weights.cell == Cell::gru) layer.state_bias = p.get(at + ".state_bias", {hidden}, Init::zeros);
      weights.layers.push_back(layer);
    };
    const Size fed = conditional ? 0 : !luong ? memory : how.input_feeding ? hidden : 0;
    for (Size i = 0; i < layers; ++i) add(name + "." + std::to_string(i), i == 0 ? inputs + fed : hidden);
    if (conditional) add(name + ".second", memory);
    set_score(p, name + ".attention", score, hidden, memory);
    if (!luong) return;
    weights.attentional = p.get(name + ".attentional.weight", {memory + hidden, hidden}, Init::xavier);
    weights.attentional_bias = p.get(name + ".attentional.bias", {hidden}, Init::zeros);
  }

  void set_score(Parameters& p, const std::string& at, const std::string& score, Size hidden, Size memory) {
    if (score == "additive") {
      weights.score = score::Additive{.w = p.get(at + ".query", {hidden, hidden}, Init::xavier),
                                      .u = p.get(at + ".key", {hidden, memory}, Init::xavier),
                                      .v = p.get(at + ".vector", {hidden}, Init::xavier),
                                      .b = p.get(at + ".bias", {hidden}, Init::zeros)};
    } else if (score == "general") {
      weights.score = score::General{.w = p.get(at + ".general", {hidden, memory}, Init::xavier)};
    } else if (score == "dot") {
      weights.score = score::Dot{};
    } else if (score == "scaled-dot") {
      weights.score = score::ScaledDot{};
    } else if (score == "cosine") {
      weights.score = score::Cosine{};
    } else {
      throw UsageError("score: \"" + score + "\" is not one of additive, general, dot, scaled-dot, cosine");
    }
  }

  AttentionalRnnWeights weights;
  AttentionalRnnOptions how;
};

}  // namespace

void bind_attentional_rnn(py::module_& m) {
  const auto optional = [](const Var& v) -> py::object { return v ? py::cast(v) : py::none(); };
  py::class_<AttentionalRnn>(m, "DecodedSteps", "What a recurrent decoder computed.")
      .def_property_readonly("states", [optional](const AttentionalRnn& r) { return optional(r.states); })
      .def_property_readonly("contexts", [optional](const AttentionalRnn& r) { return optional(r.contexts); })
      .def_property_readonly("attentional", [optional](const AttentionalRnn& r) { return optional(r.attentional); })
      .def_property_readonly("weights", [optional](const AttentionalRnn& r) { return optional(r.weights); });
  py::class_<RnnLayer>(m, "AttentionalRnn", "A recurrent decoder that attends at every step (Bahdanau, Luong).")
      .def(py::init([](const P& p, const std::string& name, Size inputs, Size memory, Size hidden,
                       const std::string& cell, const std::string& form, const std::string& score, Size layers,
                       bool input_feeding) {
             return RnnLayer(*p, name, inputs, memory, hidden, cell, form, score, layers, input_feeding);
           }),
           py::arg("parameters"), py::arg("name"), py::arg("inputs"), py::arg("memory"), py::arg("hidden"),
           py::arg("cell") = "gru", py::arg("form") = "bahdanau", py::arg("score") = "additive", py::arg("layers") = 1,
           py::arg("input_feeding") = true, py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const RnnLayer& layer, const py::object& x, const py::object& memory, const py::object& lengths,
             const py::object& memory_lengths, const std::vector<py::object>& first, bool weights) {
            const Var inputs = var_of(x, "x");
            const Var read = var_of(memory, "memory");
            std::vector<Size> of_targets, of_memory;
            if (!lengths.is_none()) of_targets = integers_of(lengths, "lengths");
            if (!memory_lengths.is_none()) of_memory = integers_of(memory_lengths, "memory_lengths");
            std::vector<Var> states;
            for (const py::object& state : first) states.push_back(var_of(state, "first"));
            AttentionalRnnOptions how = layer.how;
            how.lengths = of_targets;
            how.memory_lengths = of_memory;
            how.want_weights = weights;
            return unlocked([&] { return attentional_rnn(inputs, read, layer.weights, how, states); });
          },
          py::arg("x"), py::arg("memory"), py::arg("lengths") = py::none(), py::arg("memory_lengths") = py::none(),
          py::arg("first") = std::vector<py::object>(), py::arg("weights") = false,
          "x [B, T, inputs], memory [B, S, memory]; first: the first state of each layer [B, hidden], or zeros.");
}

}  // namespace fovea::python

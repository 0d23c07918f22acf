// attend(): every score and option of `fovea attend`, on arrays or on Vars.
#include <map>
#include <optional>

#include "arrays.hpp"
#include "fovea/attention.hpp"
#include "fovea/error.hpp"

namespace fovea::python {
namespace {

struct Options {
  AttendOptions how;
  std::vector<std::int64_t> lengths, row_start, column;
  std::map<std::string, Var> parameters;
};

Var parameter(const Options& o, const std::string& score, const char* name) {
  const auto found = o.parameters.find(name);
  if (found == o.parameters.end()) throw UsageError("params: the score " + score + " needs \"" + name + "\"");
  return found->second;
}

Score score_of(const Options& o, const std::string& name, std::optional<float> scale) {
  const std::map<std::string, std::vector<std::string>> known = {{"dot", {}},
                                                                 {"scaled-dot", {}},
                                                                 {"cosine", {}},
                                                                 {"general", {"W"}},
                                                                 {"additive", {"W", "U", "v"}},
                                                                 {"concat", {"W", "v"}},
                                                                 {"location", {"W"}}};
  const auto found = known.find(name);
  if (found == known.end()) {
    throw UsageError("score: \"" + name +
                     "\" is not one of dot, scaled-dot, general, cosine, additive, concat, location");
  }
  for (const auto& [given, var] : o.parameters) {
    if (std::find(found->second.begin(), found->second.end(), given) == found->second.end()) {
      throw UsageError("params: the score " + name + " has no \"" + given + "\"");
    }
  }
  if (scale && name != "dot" && name != "scaled-dot" && name != "cosine") {
    throw UsageError("scale: it goes with dot, scaled-dot and cosine, not with " + name);
  }
  if (name == "dot") return score::Dot{scale};
  if (name == "scaled-dot") return score::ScaledDot{scale};
  if (name == "cosine") return score::Cosine{.scale = scale.value_or(1.0F)};
  if (name == "general") return score::General{.w = parameter(o, name, "W")};
  if (name == "additive") {
    return score::Additive{.w = parameter(o, name, "W"), .u = parameter(o, name, "U"), .v = parameter(o, name, "v")};
  }
  if (name == "concat") return score::Concat{.w = parameter(o, name, "W"), .v = parameter(o, name, "v")};
  return score::Location{.w = parameter(o, name, "W")};
}

Normalizer normalizer_of(const std::string& name, float temperature) {
  if (!(temperature > 0)) throw UsageError("temperature: a number above 0 is needed");
  if (name == "softmax") return normalizer::Softmax{temperature};
  if (name == "sparsemax") return normalizer::Sparsemax{temperature};
  if (name == "entmax15") return normalizer::Entmax15{temperature};
  if (name == "sigmoid") return normalizer::Sigmoid{.temperature = temperature};
  if (name == "hard") return normalizer::Hard{.temperature = temperature};
  throw UsageError("normalize: \"" + name + "\" is not one of softmax, sparsemax, entmax15, sigmoid, hard");
}

// What both attend() and attend_backward() take.
struct Stages {
  std::string score;
  bool causal;
  py::object params;
  std::optional<float> scale;
  std::string normalize;
  float temperature;
  std::optional<std::int64_t> window;
  py::object lengths, mask, bias;
  bool alibi;
  std::int64_t heads, kv_heads;
  py::dict more;  // what few calls have: rotary, local and the rest
};

// Options that stand for themselves; each is named by its keyword.
void fill_more(Options& o, const py::dict& more) {
  std::optional<Local> local;
  for (const auto& [key, value] : more) {
    const auto name = key.cast<std::string>();
    if (value.is_none()) continue;
    if (name == "rotary") {
      const bool on = py::isinstance<py::bool_>(value);
      if (!on) o.how.rotary = Rotary{.base = value.cast<float>()};
      if (on && value.cast<bool>()) o.how.rotary = Rotary{};
    } else if (name == "relative_bias") {
      o.how.relative_bias = RelativeBias{.table = var_of(value, "relative_bias")};
    } else if (name == "relative_keys") {
      if (!o.how.relative_positions) o.how.relative_positions.emplace();
      o.how.relative_positions->keys = var_of(value, "relative_keys");
    } else if (name == "relative_values") {
      if (!o.how.relative_positions) o.how.relative_positions.emplace();
      o.how.relative_positions->values = var_of(value, "relative_values");
    } else if (name == "local") {
      if (!local) local.emplace();
      local->half_width = value.cast<std::int64_t>();
    } else if (name == "centers") {
      if (!local) local.emplace();
      local->centers = var_of(value, "centers");
    } else if (name == "gaussian") {
      if (!local) local.emplace();
      local->gaussian = value.cast<bool>();
    } else if (name == "edges") {
      const auto pair = value.cast<std::pair<py::object, py::object>>();
      o.row_start = integers_of(pair.first, "edges");
      o.column = integers_of(pair.second, "edges");
      o.how.edges = {.row_start = o.row_start, .column = o.column};
    } else {
      throw py::type_error("attend() got an unexpected keyword argument '" + name + "'");
    }
  }
  if (local && !more.contains("local")) throw UsageError("local: centers and gaussian go with it");
  o.how.local = local;
}

// Fills options, whose spans and Vars live in it. With `learn`, parameters given as arrays get gradients.
void fill(Options& o, const Stages& s, bool learn) {
  if (!s.params.is_none()) {
    for (const auto& [name, value] : s.params.cast<py::dict>()) {
      const Var var = var_of(value, "params");
      o.parameters.emplace(name.cast<std::string>(),
                           learn && !py::isinstance<Var>(value) ? Var::parameter(var.value()) : var);
    }
  }
  o.how.score = score_of(o, s.score, s.scale);
  o.how.normalizer = normalizer_of(s.normalize, s.temperature);
  o.how.causal = s.causal;
  if (s.window) {
    if (*s.window < 0) throw UsageError("window: 0 or more is needed");
    o.how.window = *s.window;
  }
  if (!s.lengths.is_none()) {
    o.lengths = integers_of(s.lengths, "lengths");
    o.how.lengths = o.lengths;
  }
  o.how.mask = mask_of(s.mask);
  if (!s.bias.is_none()) o.how.bias = var_of(s.bias, "bias");
  o.how.alibi = s.alibi;
  o.how.heads = s.heads;
  o.how.kv_heads = s.kv_heads;
  if (!s.more.empty()) fill_more(o, s.more);
}

}  // namespace

void bind_attention(py::module_& m) {
  py::class_<Attended>(m, "Attended", "The context of each query and, on request, the weights it came from.")
      .def_property_readonly(
          "context",
          [](const Attended& a) -> py::object {
            if (a.context.requires_grad()) return py::cast(a.context);
            return array_of(a.context.value());
          },
          "An array; a Var where a Var was given.")
      .def_property_readonly(
          "weights",
          [](const Attended& a) -> py::object {
            if (!a.weights) return py::none();
            if (a.weights.requires_grad()) return py::cast(a.weights);
            return array_of(a.weights.value());
          },
          "[B, Tq, Tk] or [B, H, Tq, Tk]; None unless asked for.")
      .def_property_readonly("top_weights",
                             [](const Attended& a) -> py::object {
                               return a.top.weight ? py::object(array_of(a.top.weight)) : py::none();
                             })
      .def_property_readonly("top_indices",
                             [](const Attended& a) -> py::object {
                               if (!a.top.weight) return py::none();
                               py::array_t<std::int64_t> out(static_cast<py::ssize_t>(a.top.index.size()));
                               std::copy(a.top.index.begin(), a.top.index.end(), out.mutable_data());
                               std::vector<py::ssize_t> shape;
                               for (int i = 0; i < a.top.weight.rank(); ++i) shape.push_back(a.top.weight.dim(i));
                               return out.reshape(shape);
                             })
      .def("__repr__", [](const Attended& a) {
        return "Attended(context" + a.context.shape().text() +
               (a.weights ? ", weights" + a.weights.shape().text() : std::string()) + ")";
      });

  m.def(
      "attend",
      [](const py::object& query, const py::object& key, const py::object& value, const std::string& score, bool causal,
         bool weights, const py::object& params, std::optional<float> scale, const std::string& normalize,
         float temperature, std::optional<std::int64_t> window, const py::object& lengths, const py::object& mask,
         const py::object& bias, bool alibi, std::int64_t heads, std::int64_t kv_heads, std::int64_t top,
         const py::kwargs& more) {
        const Var q = var_of(query, "query");
        const Var k = key.is_none() ? q : var_of(key, "key");
        const Var v = value.is_none() ? k : var_of(value, "value");
        Options o;
        fill(o,
             {score, causal, params, scale, normalize, temperature, window, lengths, mask, bias, alibi, heads, kv_heads,
              more},
             false);
        o.how.want.weights = weights;
        o.how.want.top = top;
        return unlocked([&] { return attend(q, k, v, o.how); });
      },
      py::arg("query"), py::arg("key") = py::none(), py::arg("value") = py::none(), py::arg("score") = "scaled-dot",
      py::arg("causal") = false, py::arg("weights") = false, py::arg("params") = py::none(),
      py::arg("scale") = py::none(), py::arg("normalize") = "softmax", py::arg("temperature") = 1.0F,
      py::arg("window") = py::none(), py::arg("lengths") = py::none(), py::arg("mask") = py::none(),
      py::arg("bias") = py::none(), py::arg("alibi") = false, py::arg("heads") = 0, py::arg("kv_heads") = 0,
      py::arg("top") = 0,
      "Attention by stages: scores, weights, the weighted sum of the values. Also rotary, relative_bias, "
      "relative_keys, "
      "relative_values, local with centers and gaussian, and edges.");

  m.def(
      "attend_backward",
      [](const py::object& grad, const py::object& query, const py::object& key, const py::object& value,
         const std::string& score, bool causal, const py::object& params, std::optional<float> scale,
         const std::string& normalize, float temperature, std::optional<std::int64_t> window, const py::object& lengths,
         const py::object& mask, const py::object& bias, bool alibi, std::int64_t heads, std::int64_t kv_heads,
         const py::kwargs& more) {
        const Var q = Var::parameter(tensor_of(query, "query"));
        const Var k = key.is_none() ? q : Var::parameter(tensor_of(key, "key"));
        const Var v = value.is_none() ? k : Var::parameter(tensor_of(value, "value"));
        const Tensor d = tensor_of(grad, "grad");
        Options o;
        fill(o,
             {score, causal, params, scale, normalize, temperature, window, lengths, mask, bias, alibi, heads, kv_heads,
              more},
             true);
        unlocked([&] {
          const Var context = attend(q, k, v, o.how).context;
          if (!(context.shape() == d.shape())) {
            throw ShapeError("grad: " + d.shape().text() + " given, " + context.shape().text() +
                             " is the shape of the context");
          }
          backward(context, d);
          return 0;
        });
        py::dict out;
        out["query"] = array_of(q.grad());
        if (!key.is_none()) out["key"] = array_of(k.grad());
        if (!value.is_none()) out["value"] = array_of(v.grad());
        for (const auto& [name, var] : o.parameters) out[py::str(name)] = array_of(var.grad());
        return out;
      },
      py::arg("grad"), py::arg("query"), py::arg("key") = py::none(), py::arg("value") = py::none(),
      py::arg("score") = "scaled-dot", py::arg("causal") = false, py::arg("params") = py::none(),
      py::arg("scale") = py::none(), py::arg("normalize") = "softmax", py::arg("temperature") = 1.0F,
      py::arg("window") = py::none(), py::arg("lengths") = py::none(), py::arg("mask") = py::none(),
      py::arg("bias") = py::none(), py::arg("alibi") = false, py::arg("heads") = 0, py::arg("kv_heads") = 0,
      "The gradients of query, key, value and each parameter, given that of the context. Without `value`, its gradient "
      "is part of that of `key`; without `key`, of that of `query`.");
}

}  // namespace fovea::python

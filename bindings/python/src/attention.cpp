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
  std::vector<std::int64_t> lengths, documents, row_start, column;
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

Normalizer normalizer_of(const std::string& name, float temperature, const py::dict& more) {
  if (!(temperature > 0)) throw UsageError("temperature", "a number above 0 is needed");
  const bool has_alpha = more.contains("alpha") && !more["alpha"].is_none();
  if (has_alpha && name != "entmax") throw UsageError("alpha", "goes with normalize=\"entmax\", not " + name);
  if (name == "softmax") return normalizer::Softmax{temperature};
  if (name == "sparsemax") return normalizer::Sparsemax{temperature};
  if (name == "entmax") {
    normalizer::Entmax how{.temperature = temperature};
    if (!has_alpha) return how;
    if (py::isinstance<py::float_>(more["alpha"]) || py::isinstance<py::int_>(more["alpha"])) {
      how.alpha = more["alpha"].cast<float>();
    } else {
      how.alphas = var_of(more["alpha"], "alpha");
    }
    return how;
  }
  if (name == "sigmoid") return normalizer::Sigmoid{.temperature = temperature};
  if (name == "hard") return normalizer::Hard{.temperature = temperature};
  throw UsageError("normalize", "\"" + name + "\" is not one of softmax, sparsemax, entmax, sigmoid, hard");
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

// A function of NumPy arrays as a modifier: it is called with the scores of a tile [queries, keys] and the positions of
// its queries and keys, one tile at a time, and returns the new scores.
class NumpyModifier final : public ScoreModifier {
 public:
  NumpyModifier(py::object value, py::object gradient) : value_(std::move(value)), gradient_(std::move(gradient)) {}
  ~NumpyModifier() override {
    const py::gil_scoped_acquire locked;
    value_ = py::object();
    gradient_ = py::object();
  }
  NumpyModifier(const NumpyModifier&) = delete;
  NumpyModifier& operator=(const NumpyModifier&) = delete;
  [[nodiscard]] bool differentiable() const override { return !gradient_.is_none(); }
  void apply(const ScoreTile& t) const override {
    const py::gil_scoped_acquire locked;
    write(t, value_(scores(t), positions(t.query0 + t.offset, t.queries), positions(t.key0, t.keys)));
  }
  void backward(const ScoreTile& before, const ScoreTile& gradient, std::span<float* const>) const override {
    const py::gil_scoped_acquire locked;
    write(gradient,
          gradient_(scores(before), scores(gradient), positions(before.query0 + before.offset, before.queries),
                    positions(before.key0, before.keys)));
  }

 private:
  static py::array_t<float> scores(const ScoreTile& t) {
    py::array_t<float> out({t.queries, t.keys});
    auto at = out.mutable_unchecked<2>();
    for (std::int64_t q = 0; q < t.queries; ++q) {
      for (std::int64_t k = 0; k < t.keys; ++k) at(q, k) = t.at(q, k);
    }
    return out;
  }
  static py::array_t<std::int64_t> positions(std::int64_t first, std::int64_t count) {
    py::array_t<std::int64_t> out(count);
    for (std::int64_t i = 0; i < count; ++i) out.mutable_at(i) = first + i;
    return out;
  }
  static void write(const ScoreTile& t, const py::object& returned) {
    const auto made = py::array_t<float, py::array::c_style | py::array::forcecast>::ensure(returned);
    if (!made || made.ndim() != 2 || made.shape(0) != t.queries || made.shape(1) != t.keys) {
      PyErr_Clear();
      throw ShapeError("modifiers: a function must return an array [" + std::to_string(t.queries) + "," +
                       std::to_string(t.keys) + "], the shape of the scores it was given");
    }
    const auto at = made.unchecked<2>();
    for (std::int64_t q = 0; q < t.queries; ++q) {
      for (std::int64_t k = 0; k < t.keys; ++k) t.at(q, k) = at(q, k);
    }
  }
  py::object value_, gradient_;
};

// ("distance_bias", table), ("head_scale", factor), ("time_decay", rate, times), a function, or a pair of functions.
std::shared_ptr<const ScoreModifier> modifier_of(const py::handle& given) {
  if (PyCallable_Check(given.ptr()) != 0) {
    return std::make_shared<NumpyModifier>(py::reinterpret_borrow<py::object>(given), py::none());
  }
  if (!py::isinstance<py::tuple>(given)) {
    throw UsageError("modifiers", "expected functions and tuples such as (\"distance_bias\", table)");
  }
  const auto parts = given.cast<py::tuple>();
  if (parts.size() == 2 && PyCallable_Check(py::object(parts[0]).ptr()) != 0) {
    return std::make_shared<NumpyModifier>(parts[0], parts[1]);
  }
  const std::string name = parts.size() > 0 && py::isinstance<py::str>(parts[0]) ? parts[0].cast<std::string>() : "";
  if (name == "distance_bias" && parts.size() == 2) return modifier::distance_bias(var_of(parts[1], "distance_bias"));
  if (name == "head_scale" && parts.size() == 2) return modifier::head_scale(var_of(parts[1], "head_scale"));
  if (name == "time_decay" && parts.size() == 3) {
    return modifier::time_decay(var_of(parts[1], "time_decay"), tensor_of(parts[2], "time_decay"));
  }
  throw UsageError(
      "modifiers",
      "\"" + name + "\" is not (\"distance_bias\", table), (\"head_scale\", factor) or (\"time_decay\", rate, times)");
}

// Options that need no other; each is named by its keyword.
void fill_more(Options& o, const py::dict& more) {
  std::optional<Local> local;
  for (const auto& [key, value] : more) {
    const auto name = key.cast<std::string>();
    if (value.is_none()) continue;
    if (name == "rotary") {
      const bool on = py::isinstance<py::bool_>(value);
      if (on && !value.cast<bool>()) continue;
      if (!o.how.rotary) o.how.rotary.emplace();
      if (!on) o.how.rotary->base = value.cast<float>();
    } else if (name == "rotary_dims") {
      if (!more.contains("rotary")) throw UsageError("rotary_dims", "goes with rotary");
      if (!o.how.rotary) o.how.rotary.emplace();
      o.how.rotary->dims = value.cast<std::int64_t>();
    } else if (name == "alpha") {
      continue;  // read with the normalizer
    } else if (name == "softcap") {
      o.how.softcap = value.cast<float>();
    } else if (name == "sink") {
      o.how.sink = var_of(value, "sink");
    } else if (name == "off_by_one") {
      o.how.off_by_one = value.cast<bool>();
    } else if (name == "dilation") {
      o.how.dilation = value.cast<std::int64_t>();
    } else if (name == "global_keys") {
      o.how.global_keys = value.cast<std::int64_t>();
    } else if (name == "prefix") {
      o.how.prefix = value.cast<std::int64_t>();
    } else if (name == "documents") {
      o.documents = integers_of(value, "documents");
      o.how.documents = o.documents;
    } else if (name == "blocks") {
      o.how.blocks = value.cast<BlockMask>();
    } else if (name == "modifiers") {
      for (const py::handle one : value) o.how.modifiers.push_back(modifier_of(one));
    } else if (name == "log_sum") {
      o.how.want.log_sum = value.cast<bool>();
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
  o.how.normalizer = normalizer_of(s.normalize, s.temperature, s.more);
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
  if (learn && o.how.sink && !o.how.sink.requires_grad()) o.how.sink = Var::parameter(o.how.sink.value());
}

}  // namespace

void bind_attention(py::module_& m) {
  py::class_<BlockMask>(m, "BlockMask", "Which pairs of query and key are visible, as a sparse map of tiles.")
      .def_static(
          "of",
          [](std::int64_t queries, std::int64_t keys, const py::function& visible) {
            return BlockMask::of(queries, keys,
                                 [&](std::int64_t q, std::int64_t k) { return visible(q, k).cast<bool>(); });
          },
          py::arg("queries"), py::arg("keys"), py::arg("visible"), "Asks visible(query, key) for every pair once.")
      .def_static(
          "pattern",
          [](std::int64_t queries, std::int64_t keys, bool causal, std::optional<std::int64_t> window,
             std::int64_t dilation, std::int64_t global_keys, std::int64_t prefix) {
            return BlockMask::of_pattern(queries, keys, {causal, window.value_or(-1), dilation, global_keys, prefix});
          },
          py::arg("queries"), py::arg("keys"), py::arg("causal") = false, py::arg("window") = py::none(),
          py::arg("dilation") = 1, py::arg("global_keys") = 0, py::arg("prefix") = 0, "Visibility by position.")
      .def_static(
          "documents",
          [](const py::array& ids) {
            if (ids.ndim() != 2) throw ShapeError("documents: expected [batch, tokens]");
            return BlockMask::of_documents(integers_of(ids, "documents"), ids.shape(0), ids.shape(1));
          },
          py::arg("ids"), "Packed sequences: a query sees the keys with its own id.")
      .def("__and__", &BlockMask::operator&, "The pairs that are visible in both.")
      .def("visible", &BlockMask::visible, py::arg("batch"), py::arg("query"), py::arg("key"))
      .def_property_readonly(
          "tiles",
          [](const BlockMask& mask) {
            const auto t = mask.tiles();
            return py::make_tuple(t.hidden, t.full, t.partial);
          },
          "How many tiles are hidden, full and partly visible.")
      .def_property_readonly("bytes", &BlockMask::bytes, "Of memory.");
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
      .def_property_readonly(
          "log_sum",
          [](const Attended& a) -> py::object {
            if (!a.log_sum) return py::none();
            if (a.log_sum.requires_grad()) return py::cast(a.log_sum);
            return array_of(a.log_sum.value());
          },
          "ln of the sum of softmax, [B, Tq] or [B, H, Tq]; None unless asked for.")
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
      "relative_keys, relative_values, local with centers and gaussian, edges, alpha, softcap, sink, off_by_one, "
      "dilation, global_keys, prefix, documents, blocks, modifiers and log_sum.");

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
        if (o.how.sink) out["sink"] = array_of(o.how.sink.grad());
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

// Var, its ops, Parameters, layers and Adam: enough to build and train a model in Python.
#include <map>

#include "arrays.hpp"
#include "fovea/attention/multi_head.hpp"
#include "fovea/error.hpp"
#include "fovea/nn.hpp"
#include "fovea/ops.hpp"
#include "fovea/train/adam.hpp"

namespace fovea::python {
namespace {

Activation activation_of(const std::string& name) {
  constexpr std::pair<const char*, Activation> known[] = {
      {"none", Activation::none},      {"relu", Activation::relu},   {"leaky-relu", Activation::leaky_relu},
      {"gelu", Activation::gelu},      {"gelu-tanh", Activation::gelu_tanh}, {"swish", Activation::swish}, {"tanh", Activation::tanh},
      {"sigmoid", Activation::sigmoid}};
  for (const auto& [spelled, value] : known) {
    if (name == spelled) return value;
  }
  throw UsageError("activation: \"" + name + "\" is not one of none, relu, leaky-relu, gelu, gelu-tanh, swish, tanh, sigmoid");
}

std::vector<std::int32_t> ids_of(const py::handle& array, Shape& shape) {
  const auto values = py::array_t<std::int32_t, py::array::c_style | py::array::forcecast>::ensure(array);
  if (!values) {
    PyErr_Clear();
    throw py::type_error("ids: an array of whole numbers is needed");
  }
  for (py::ssize_t axis = 0; axis < values.ndim(); ++axis) shape.push_back(values.shape(axis));
  return {values.data(), values.data() + values.size()};
}

Shape shape_of(const std::vector<std::int64_t>& sizes) {
  if (sizes.size() > static_cast<std::size_t>(Shape::kMaxRank)) throw ShapeError("shape: too many axes");
  Shape shape;
  for (const std::int64_t size : sizes) shape.push_back(size);
  return shape;
}

Init init_of(const std::string& name) {
  constexpr std::pair<const char*, Init> known[] = {{"zeros", Init::zeros},
                                                    {"ones", Init::ones},
                                                    {"xavier", Init::xavier},
                                                    {"recurrent", Init::recurrent},
                                                    {"embedding", Init::embedding}};
  for (const auto& [spelled, value] : known) {
    if (name == spelled) return value;
  }
  throw UsageError("init: \"" + name + "\" is not one of zeros, ones, xavier, recurrent, embedding");
}

}  // namespace

void bind_arrays(py::module_& m) {
  py::class_<Var> var(m, "Var", "An array that records how it was computed, for gradients.");
  var.def(py::init([](const py::object& value, bool requires_grad) {
            const Tensor t = tensor_of(value, "value");
            return requires_grad ? Var::parameter(t) : Var(t);
          }),
          py::arg("value"), py::arg("requires_grad") = true)
      .def_property_readonly("value", [](const Var& v) { return array_of(v.value()); })
      .def_property_readonly("grad", [](const Var& v) { return array_of(v.grad()); })
      .def_property_readonly("requires_grad", &Var::requires_grad)
      .def_property_readonly("shape",
                             [](const Var& v) {
                               py::tuple shape(v.rank());
                               for (int i = 0; i < v.rank(); ++i) shape[static_cast<std::size_t>(i)] = v.dim(i);
                               return shape;
                             })
      .def("zero_grad", &Var::zero_grad)
      .def(
          "backward",
          [](const Var& v, const py::object& grad) {
            const Tensor d = grad.is_none() ? Tensor::full(v.shape(), 1.0F) : tensor_of(grad, "grad");
            if (grad.is_none() && v.size() != 1)
              throw ShapeError("backward: a value of one number, or `grad`, is needed");
            unlocked([&] {
              backward(v, d);
              return 0;
            });
          },
          py::arg("grad") = py::none())
      .def("item", [](const Var& v) { return v.value().item(); })
      .def("__float__", [](const Var& v) { return static_cast<double>(v.value().item()); })
      .def(
          "__array__",
          [](const Var& v, const py::object& dtype) -> py::object {
            py::array a = array_of(v.value());
            return dtype.is_none() ? py::object(a) : a.attr("astype")(dtype);
          },
          py::arg("dtype") = py::none())
      .def("__repr__",
           [](const Var& v) { return "Var" + v.shape().text() + (v.requires_grad() ? "" : " (constant)"); });
  // VAR op OTHER and OTHER op VAR, where OTHER is a number, an array or a Var.
  const auto binary = [&var](const char* name, const char* reflected, const auto& op) {
    const auto is_number = [](const py::handle& o) { return py::isinstance<py::float_>(o) || py::isinstance<py::int_>(o); };
    var.def(name, [is_number, op](const Var& a, const py::object& b) {
      return is_number(b) ? op(a, b.cast<float>()) : op(a, var_of(b, "other"));
    });
    var.def(reflected, [is_number, op](const Var& a, const py::object& b) {
      return is_number(b) ? op(b.cast<float>(), a) : op(var_of(b, "other"), a);
    });
  };
  binary("__add__", "__radd__", [](const auto& a, const auto& b) { return a + b; });
  binary("__sub__", "__rsub__", [](const auto& a, const auto& b) { return a - b; });
  binary("__mul__", "__rmul__", [](const auto& a, const auto& b) { return a * b; });
  binary("__truediv__", "__rtruediv__", [](const auto& a, const auto& b) { return a / b; });
  var.def("__neg__", [](const Var& a) { return neg(a); })
      .def("__matmul__", [](const Var& a, const py::object& b) { return matmul(a, var_of(b, "other")); });
  var.attr("__array_ufunc__") = py::none();  // so that an array on the left leaves the operation to the Var

  const auto op = [&m](const char* name, Var (*f)(const Var&), const char* doc) {
    m.def(
        name, [f](const py::object& x) { return f(var_of(x, "x")); }, py::arg("x"), doc);
  };
  op("exp", static_cast<Var (*)(const Var&)>(&exp), "e^x");
  op("log", static_cast<Var (*)(const Var&)>(&log), "Natural logarithm.");
  op("tanh", static_cast<Var (*)(const Var&)>(&tanh), "Hyperbolic tangent.");
  op("sigmoid", &sigmoid, "1 / (1 + exp(-x))");
  op("relu", &relu, "max(x, 0)");
  op("gelu", &gelu, "x Phi(x), exact");
  op("gelu_tanh", &gelu_tanh, "x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2");
  op("swish", &swish, "x sigmoid(x)");
  op("softmax", &softmax, "Over the last axis.");
  op("log_softmax", &log_softmax, "Over the last axis.");
  const auto reduce = [&m](const char* name, Var (*all)(const Var&), Var (*along)(const Var&, int), const char* doc) {
    m.def(
        name,
        [all, along](const py::object& x, std::optional<int> axis) {
          const Var v = var_of(x, "x");
          return axis ? along(v, *axis) : all(v);
        },
        py::arg("x"), py::arg("axis") = py::none(), doc);
  };
  reduce("sum", &sum, &sum, "Of all values, or along an axis, which is dropped.");
  reduce("mean", &mean, &mean, "Of all values, or along an axis, which is dropped.");
  m.def(
      "matmul", [](const py::object& a, const py::object& b) { return matmul(var_of(a, "a"), var_of(b, "b")); },
      py::arg("a"), py::arg("b"), "The product of matrices, or of batches of them.");
  m.def(
      "reshape",
      [](const py::object& x, const std::vector<std::int64_t>& shape) {
        return reshape(var_of(x, "x"), shape_of(shape));
      },
      py::arg("x"), py::arg("shape"), "One axis may be -1.");
  m.def(
      "transpose", [](const py::object& x, int a, int b) { return transpose(var_of(x, "x"), a, b); }, py::arg("x"),
      py::arg("a"), py::arg("b"), "Exchanges two axes.");
  m.def(
      "slice",
      [](const py::object& x, int axis, std::int64_t begin, std::int64_t end) {
        return slice(var_of(x, "x"), axis, begin, end);
      },
      py::arg("x"), py::arg("axis"), py::arg("begin"), py::arg("end"), "begin to end - 1 of an axis.");
  m.def(
      "concat",
      [](const std::vector<py::object>& parts, int axis) {
        std::vector<Var> vars;
        for (const py::object& part : parts) vars.push_back(var_of(part, "parts"));
        return concat(vars, axis);
      },
      py::arg("parts"), py::arg("axis"), "Along an axis that is there.");
}

void bind_layers(py::module_& m) {
  py::class_<Parameters, std::shared_ptr<Parameters>>(m, "Parameters", "Every weight of a model by its name.")
      .def(py::init<std::uint64_t>(), py::arg("seed") = 1)
      .def(
          "get",
          [](Parameters& p, const std::string& name, const std::vector<std::int64_t>& shape, const std::string& init) {
            return p.get(name, shape_of(shape), init_of(init));
          },
          py::arg("name"), py::arg("shape"), py::arg("init") = "xavier", "The weight of this name, made if need be.")
      .def("names",
           [](const Parameters& p) {
             std::vector<std::string> names;
             for (const auto& entry : p.entries()) names.push_back(entry.name);
             return names;
           })
      .def("__getitem__",
           [](const Parameters& p, const std::string& name) {
             const Var* found = p.find(name);
             if (found == nullptr) throw py::key_error(name);
             return *found;
           })
      .def("__contains__", [](const Parameters& p, const std::string& name) { return p.find(name) != nullptr; })
      .def("__len__", [](const Parameters& p) { return p.entries().size(); })
      .def_property_readonly("count", &Parameters::count, "Numbers in all weights.")
      .def("zero_grad", &Parameters::zero_grad)
      .def(
          "save", [](const Parameters& p, const std::filesystem::path& file) { save_parameters(p, file); }, py::arg("file"))
      .def_static(
          "load", [](const std::filesystem::path& file) { return load_parameters(file); }, py::arg("file"));

  using Size = std::int64_t;
  using P = std::shared_ptr<Parameters>;
  py::class_<Linear>(m, "Linear", "f(x W + b) at every position.")
      .def(py::init([](const P& p, const std::string& name, Size in, Size out, bool bias) {
             return Linear(*p, name, in, out, {.bias = bias});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("inputs"), py::arg("outputs"), py::arg("bias") = true,
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const Linear& layer, const py::object& x, const std::string& activation) {
            const Var v = var_of(x, "x");
            const Activation f = activation_of(activation);
            return unlocked([&] { return layer(v, f); });
          },
          py::arg("x"), py::arg("activation") = "none")
      .def_property_readonly("weight", [](const Linear& l) { return l.weight.var; })
      .def_property_readonly("bias",
                             [](const Linear& l) -> py::object { return l.bias ? py::cast(l.bias) : py::none(); });
  py::class_<LayerNorm>(m, "LayerNorm", "Layer normalisation over the last axis.")
      .def(py::init([](const P& p, const std::string& name, Size width, float epsilon) {
             return LayerNorm(*p, name, width, {.epsilon = epsilon});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("width"), py::arg("epsilon") = 1e-5F, py::keep_alive<1, 2>())
      .def(
          "__call__", [](const LayerNorm& layer, const py::object& x) { return layer(var_of(x, "x")); }, py::arg("x"));
  py::class_<Embedding>(m, "Embedding", "A row of a table per token.")
      .def(py::init([](const P& p, const std::string& name, Size tokens, Size width, bool scaled) {
             return Embedding(*p, name, tokens, width, {.scaled = scaled});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("tokens"), py::arg("width"), py::arg("scaled") = true,
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const Embedding& layer, const py::object& ids) {
            Shape shape;
            const auto values = std::make_shared<std::vector<std::int32_t>>(ids_of(ids, shape));
            return layer(*values, shape);
          },
          py::arg("ids"))
      .def_property_readonly("table", [](const Embedding& e) { return e.table; });
  py::class_<MultiHead>(m, "MultiHead", "Multi-head attention (Vaswani et al. 2017).")
      .def(py::init([](const P& p, const std::string& name, Size dim, Size heads, Size kv_heads, Size memory_dim,
                       bool bias) {
             return MultiHead(
                 *p, name, {.dim = dim, .heads = heads, .kv_heads = kv_heads, .memory_dim = memory_dim, .bias = bias});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::arg("heads") = 1, py::arg("kv_heads") = 0,
           py::arg("memory_dim") = 0, py::arg("bias") = true, py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const MultiHead& layer, const py::object& x, const py::object& memory, bool causal,
             const py::object& lengths, bool weights) {
            const Var q = var_of(x, "x");
            const Var k = memory.is_none() ? q : var_of(memory, "memory");
            const std::vector<std::int64_t> real =
                lengths.is_none() ? std::vector<std::int64_t>() : integers_of(lengths, "lengths");
            AttendOptions how;
            how.causal = causal;
            how.lengths = real;
            how.want.weights = weights;
            return unlocked([&] { return layer(q, k, how); });
          },
          py::arg("x"), py::arg("memory") = py::none(), py::arg("causal") = false, py::arg("lengths") = py::none(),
          py::arg("weights") = false);
  const auto recurrent = [](const Recurrent& run) { return run.states; };
  py::class_<Gru>(m, "Gru", "A GRU over [B, T, inputs]; gives the states [B, T, hidden].")
      .def(
          py::init([](const P& p, const std::string& name, Size in, Size hidden) { return Gru(*p, name, in, hidden); }),
          py::arg("parameters"), py::arg("name"), py::arg("inputs"), py::arg("hidden"), py::keep_alive<1, 2>())
      .def(
          "__call__", [recurrent](const Gru& layer, const py::object& x) { return recurrent(layer(var_of(x, "x"))); },
          py::arg("x"));
  py::class_<Lstm>(m, "Lstm", "An LSTM over [B, T, inputs]; gives the states [B, T, hidden].")
      .def(py::init(
               [](const P& p, const std::string& name, Size in, Size hidden) { return Lstm(*p, name, in, hidden); }),
           py::arg("parameters"), py::arg("name"), py::arg("inputs"), py::arg("hidden"), py::keep_alive<1, 2>())
      .def(
          "__call__", [recurrent](const Lstm& layer, const py::object& x) { return recurrent(layer(var_of(x, "x"))); },
          py::arg("x"));
  py::class_<Adam>(m, "Adam", "Updates every weight from its gradient (Kingma and Ba 2015).")
      .def(
          py::init([](const P& p, float rate, float beta1, float beta2, float epsilon, float weight_decay, float clip) {
            return std::make_unique<Adam>(*p, AdamOptions{.rate = rate,
                                                          .beta1 = beta1,
                                                          .beta2 = beta2,
                                                          .epsilon = epsilon,
                                                          .weight_decay = weight_decay,
                                                          .clip = clip});
          }),
          py::arg("parameters"), py::arg("rate") = 1e-3F, py::arg("beta1") = 0.9F, py::arg("beta2") = 0.999F,
          py::arg("epsilon") = 1e-8F, py::arg("weight_decay") = 0.0F, py::arg("clip") = 0.0F, py::keep_alive<1, 2>())
      .def(
          "step", [](Adam& adam) { return unlocked([&] { return adam.step(); }); },
          "One step; the gradients are cleared. Returns their norm.")
      .def_property_readonly("steps", &Adam::steps);

  m.def(
      "cross_entropy",
      [](const py::object& x, const py::object& weight, const py::object& targets, const py::object& bias,
         float label_smoothing, std::int32_t padding) {
        const Var v = var_of(x, "x");
        const Var w = var_of(weight, "weight");
        const Var b = bias.is_none() ? Var() : var_of(bias, "bias");
        Shape shape;
        const std::vector<std::int32_t> ids = ids_of(targets, shape);
        return unlocked([&] {
          return linear_cross_entropy(v, w, b, ids, {.label_smoothing = label_smoothing, .padding = padding}).loss;
        });
      },
      py::arg("x"), py::arg("weight"), py::arg("targets"), py::arg("bias") = py::none(),
      py::arg("label_smoothing") = 0.0F, py::arg("padding") = 0,
      "softmax(x weight' + bias) against targets, summed: x [.., d], weight [vocabulary, d]; rows whose target is "
      "`padding` cost nothing.");
  m.def(
      "backward",
      [](const Var& loss) {
        unlocked([&] {
          backward(loss, Tensor::full(loss.shape(), 1.0F));
          return 0;
        });
      },
      py::arg("loss"));
}

}  // namespace fovea::python

// Mechanisms with weights of their own: pooling, pointing, co-attention, graphs, memories and the rest.
#include "arrays.hpp"
#include "fovea/attention.hpp"
#include "fovea/error.hpp"
#include "fovea/nn/parameters.hpp"

namespace fovea::python {
namespace {

using Size = std::int64_t;
using P = std::shared_ptr<Parameters>;

std::vector<Size> lengths_of(const py::object& lengths, const char* name = "lengths") {
  return lengths.is_none() ? std::vector<Size>() : integers_of(lengths, name);
}

Direction direction_of(const std::string& name) {
  if (name == "both") return Direction::both;
  if (name == "forward") return Direction::forward;
  if (name == "backward") return Direction::backward;
  throw UsageError("direction: \"" + name + "\" is not one of both, forward, backward");
}

void bind_poolings(py::module_& m) {
  py::class_<LearnedPooling>(m, "LearnedPooling", "Learned queries attend to a sequence (Lee et al. 2019).")
      .def(py::init([](const P& p, const std::string& name, Size dim, Size queries) {
             return LearnedPooling(*p, name, {.dim = dim, .queries = queries});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::arg("queries") = 1, py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const LearnedPooling& layer, const py::object& x, const py::object& lengths, bool weights) {
            const Var v = var_of(x, "x");
            const std::vector<Size> real = lengths_of(lengths);
            AttendOptions how;
            how.lengths = real;
            how.want.weights = weights;
            return unlocked([&] { return layer(v, how); });
          },
          py::arg("x"), py::arg("lengths") = py::none(), py::arg("weights") = false);
  py::class_<ContextPooling>(m, "ContextPooling", "One learned context vector attends (Yang et al. 2016).")
      .def(py::init([](const P& p, const std::string& name, Size dim, Size hidden) {
             return ContextPooling(*p, name, dim, hidden);
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::arg("hidden"), py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const ContextPooling& layer, const py::object& x, const py::object& lengths, bool weights) {
            const Var v = var_of(x, "x");
            const std::vector<Size> real = lengths_of(lengths);
            return unlocked([&] { return layer(v, real, {.weights = weights}); });
          },
          py::arg("x"), py::arg("lengths") = py::none(), py::arg("weights") = false);
  py::class_<MultiDimensionalPooling>(m, "MultiDimensionalPooling", "A weight per feature (Shen et al. 2018).")
      .def(py::init(
               [](const P& p, const std::string& name, Size dim) { return MultiDimensionalPooling(*p, name, dim); }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const MultiDimensionalPooling& layer, const py::object& x, const py::object& lengths) {
            const Var v = var_of(x, "x");
            const std::vector<Size> real = lengths_of(lengths);
            return unlocked([&] { return layer(v, real); });
          },
          py::arg("x"), py::arg("lengths") = py::none());
  using Document = HierarchicalAttention::Result;
  py::class_<Document>(m, "DocumentAttention", "A vector for each document, and the weights of both levels.")
      .def_readonly("document", &Document::document)
      .def_readonly("word_weights", &Document::word_weights)
      .def_readonly("sentence_weights", &Document::sentence_weights);
  py::class_<HierarchicalAttention>(m, "HierarchicalAttention", "Words, then sentences (Yang et al. 2016).")
      .def(py::init([](const P& p, const std::string& name, Size word_dim, Size hidden, Size sentence_dim) {
             return HierarchicalAttention(*p, name,
                                          {.word_dim = word_dim, .sentence_dim = sentence_dim, .hidden = hidden});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("word_dim"), py::arg("hidden"), py::arg("sentence_dim") = 0,
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const HierarchicalAttention& layer, const py::object& x, const py::object& words,
             const py::object& sentences, const py::object& encode) {
            const std::vector<Size> w = lengths_of(words, "words");
            const std::vector<Size> s = lengths_of(sentences, "sentences");
            std::function<Var(const Var&)> between;
            if (!encode.is_none()) between = [&](const Var& v) { return var_of(encode(v), "encode"); };
            return layer(var_of(x, "x"), {.words = w, .sentences = s}, between);  // encode is Python: the lock is kept
          },
          py::arg("x"), py::arg("words") = py::none(), py::arg("sentences") = py::none(),
          py::arg("encode") = py::none());
}

template <class Layer>
void bind_co_attention(py::module_& m, const char* name, const char* text) {
  py::class_<Layer>(m, name, text)
      .def(py::init([](const P& p, const std::string& weights, Size dim_a, Size dim_b, Size hidden) {
             return Layer(*p, weights, {.dim_a = dim_a, .dim_b = dim_b, .hidden = hidden});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim_a"), py::arg("dim_b"), py::arg("hidden"),
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const Layer& layer, const py::object& a, const py::object& b, const py::object& a_lengths,
             const py::object& b_lengths) {
            const Var x = var_of(a, "a");
            const Var y = var_of(b, "b");
            const std::vector<Size> of_a = lengths_of(a_lengths, "a_lengths");
            const std::vector<Size> of_b = lengths_of(b_lengths, "b_lengths");
            return unlocked([&] { return layer(x, y, of_a, of_b); });
          },
          py::arg("a"), py::arg("b"), py::arg("a_lengths") = py::none(), py::arg("b_lengths") = py::none());
}

void bind_pointing(py::module_& m) {
  py::class_<Pointer>(m, "Pointer", "Probabilities over the keys (Vinyals et al. 2015).")
      .def(py::init([](const P& p, const std::string& name, Size query_dim, Size key_dim, Size hidden) {
             return Pointer(*p, name, {.query_dim = query_dim, .key_dim = key_dim, .hidden = hidden});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("query_dim"), py::arg("key_dim"), py::arg("hidden"),
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const Pointer& layer, const py::object& query, const py::object& key, const py::object& lengths,
             const py::object& mask) {
            const Var q = var_of(query, "query");
            const Var k = var_of(key, "key");
            const std::vector<Size> real = lengths_of(lengths);
            const Mask hidden = mask_of(mask);
            return unlocked([&] { return layer(q, k, real, hidden); });
          },
          py::arg("query"), py::arg("key"), py::arg("lengths") = py::none(), py::arg("mask") = py::none());
  py::class_<CopyGate>(m, "CopyGate", "Whether to write or to copy (See et al. 2017).")
      .def(py::init([](const P& p, const std::string& name, Size context_dim, Size state_dim, Size input_dim) {
             return CopyGate(*p, name, {.context_dim = context_dim, .state_dim = state_dim, .input_dim = input_dim});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("context_dim"), py::arg("state_dim"), py::arg("input_dim"),
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const CopyGate& gate, const py::object& context, const py::object& state, const py::object& input) {
            return gate(var_of(context, "context"), var_of(state, "state"), var_of(input, "input"));
          },
          py::arg("context"), py::arg("state"), py::arg("input"));
  m.def(
      "copy_mixture",
      [](const py::object& vocabulary, const py::object& gate, const py::object& weights, const py::object& source,
         Size size) {
        const std::vector<Size> wide = integers_of(source, "source");
        const std::vector<std::int32_t> ids(wide.begin(), wide.end());
        return copy_mixture(var_of(vocabulary, "vocabulary"), var_of(gate, "gate"), var_of(weights, "weights"), {ids},
                            size);
      },
      py::arg("vocabulary"), py::arg("gate"), py::arg("weights"), py::arg("source"), py::arg("size"),
      "Words that are written or copied from the source (See et al. 2017).");
  m.def(
      "pointing_loss",
      [](const py::object& probabilities, const py::object& targets) {
        return pointing_loss(var_of(probabilities, "probabilities"), integers_of(targets, "targets"));
      },
      py::arg("probabilities"), py::arg("targets"), "-mean log p[target]; rows with a negative target do not count.");
  m.def(
      "coverage_loss",
      [](const py::object& weights, const py::object& before) {
        return coverage_loss(var_of(weights, "weights"), {.before = before.is_none() ? Var() : var_of(before, "before")});
      },
      py::arg("weights"), py::arg("before") = py::none(), "What attending again to the same keys costs.");
  using Covered = CoverageAttention::Result;
  py::class_<Covered>(m, "Covered", "What was read, and what has been attended to.")
      .def_readonly("context", &Covered::context)
      .def_readonly("weights", &Covered::weights)
      .def_readonly("coverage", &Covered::coverage)
      .def_readonly("loss", &Covered::loss);
  py::class_<CoverageAttention>(m, "CoverageAttention", "Additive attention with coverage (See et al. 2017).")
      .def(py::init([](const P& p, const std::string& name, Size query_dim, Size key_dim, Size hidden) {
             return CoverageAttention(*p, name, {.query_dim = query_dim, .key_dim = key_dim, .hidden = hidden});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("query_dim"), py::arg("key_dim"), py::arg("hidden"),
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const CoverageAttention& layer, const py::object& query, const py::object& key, const py::object& value,
             const py::object& lengths, const py::object& coverage) {
            const Var q = var_of(query, "query");
            const Var k = var_of(key, "key");
            const Var v = value.is_none() ? k : var_of(value, "value");
            const Var before = coverage.is_none() ? Var() : var_of(coverage, "coverage");
            const std::vector<Size> real = lengths_of(lengths);
            return unlocked([&] { return layer(q, k, v, real, before); });
          },
          py::arg("query"), py::arg("key"), py::arg("value") = py::none(), py::arg("lengths") = py::none(),
          py::arg("coverage") = py::none());
}

void bind_networks(py::module_& m) {
  py::class_<GraphAttention>(m, "GraphAttention", "Attention along the edges of a graph (Velickovic et al. 2018).")
      .def(py::init([](const P& p, const std::string& name, Size dim, Size out, Size heads) {
             return GraphAttention(*p, name, {.dim = dim, .out = out, .heads = heads});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::arg("out"), py::arg("heads") = 1,
           py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const GraphAttention& layer, const py::object& x, const py::object& row_start, const py::object& column,
             bool weights) {
            const Var v = var_of(x, "x");
            const std::vector<Size> rows = integers_of(row_start, "row_start");
            const std::vector<Size> columns = integers_of(column, "column");
            return unlocked([&] { return layer(v, {.row_start = rows, .column = columns}, {.weights = weights}); });
          },
          py::arg("x"), py::arg("row_start"), py::arg("column"), py::arg("weights") = false);
  py::class_<MultiDimensional>(m, "MultiDimensional", "A weight per feature (Shen et al. 2018).")
      .def(py::init([](const P& p, const std::string& name, Size dim) { return MultiDimensional(*p, name, dim); }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const MultiDimensional& layer, const py::object& x, const py::object& lengths,
             const std::string& direction) {
            const Var v = var_of(x, "x");
            const std::vector<Size> real = lengths_of(lengths);
            const Direction way = direction_of(direction);
            return unlocked([&] { return layer(v, real, way); });
          },
          py::arg("x"), py::arg("lengths") = py::none(), py::arg("direction") = "both");
  using Mixed = MultiRepresentational::Result;
  py::class_<Mixed>(m, "MixedEmbeddings", "The mixed embeddings, and the weights.")
      .def_readonly("mixed", &Mixed::mixed)
      .def_readonly("weights", &Mixed::weights);
  py::class_<MultiRepresentational>(m, "MultiRepresentational", "Several embeddings of a word (Kiela et al. 2018).")
      .def(py::init([](const P& p, const std::string& name, const std::vector<Size>& dims, Size dim) {
             return MultiRepresentational(*p, name, dims, dim);
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dims"), py::arg("dim"), py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const MultiRepresentational& layer, const std::vector<py::object>& embeddings) {
            std::vector<Var> vars;
            for (const py::object& e : embeddings) vars.push_back(var_of(e, "embeddings"));
            return unlocked([&] { return layer(vars); });
          },
          py::arg("embeddings"));
  using Read = MemoryNetwork::Result;
  py::class_<Read>(m, "MemoryRead", "The state after the last hop, and the attention of all.")
      .def_readonly("state", &Read::state)
      .def_readonly("hops", &Read::hops);
  py::class_<MemoryNetwork>(m, "MemoryNetwork", "Hops over a memory of keys and values (Miller et al. 2016).")
      .def(py::init([](const P& p, const std::string& name, Size dim, Size hops) {
             return MemoryNetwork(*p, name, {.dim = dim, .hops = hops});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::arg("hops") = 1, py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const MemoryNetwork& layer, const py::object& query,
             const std::vector<std::pair<py::object, py::object>>& memories, const py::object& lengths, bool weights) {
            const Var q = var_of(query, "query");
            std::vector<MemoryNetwork::Memory> read;
            for (const auto& [keys, values] : memories) {
              read.push_back({var_of(keys, "memories"), var_of(values, "memories")});
            }
            const std::vector<Size> real = lengths_of(lengths);
            return unlocked([&] { return layer(q, read, real, {.weights = weights}); });
          },
          py::arg("query"), py::arg("memories"), py::arg("lengths") = py::none(), py::arg("weights") = false);
  py::class_<AverageAttention>(m, "AverageAttention", "The mean of what came before, gated (Zhang et al. 2018).")
      .def(py::init([](const P& p, const std::string& name, Size dim, Size inner) {
             return AverageAttention(*p, name, {.dim = dim, .inner = inner});
           }),
           py::arg("parameters"), py::arg("name"), py::arg("dim"), py::arg("inner"), py::keep_alive<1, 2>())
      .def(
          "__call__",
          [](const AverageAttention& layer, const py::object& x) {
            const Var v = var_of(x, "x");
            Pass pass;
            return unlocked([&] { return layer(v, pass); });
          },
          py::arg("x"));
}

}  // namespace

void bind_mechanisms(py::module_& m) {
  bind_poolings(m);
  py::class_<CoAttended>(m, "CoAttended", "Both sequences as one vector each, and the weights.")
      .def_readonly("a", &CoAttended::a)
      .def_readonly("b", &CoAttended::b)
      .def_readonly("a_weights", &CoAttended::a_weights)
      .def_readonly("b_weights", &CoAttended::b_weights);
  bind_co_attention<ParallelCoAttention>(m, "ParallelCoAttention",
                                         "Two sequences attend to each other at once (Lu et al. 2016).");
  bind_co_attention<AlternatingCoAttention>(m, "AlternatingCoAttention",
                                            "Two sequences attend to each other in turn (Lu et al. 2016).");
  bind_pointing(m);
  bind_networks(m);
}

}  // namespace fovea::python

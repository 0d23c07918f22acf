#include "records.hpp"

#include <algorithm>

#include "view/svg/svg.hpp"

namespace fovea::python {
namespace {

// The matrix without a copy: `owner` keeps it alive. None where there is none.
py::object shared_matrix(const AttentionMatrix& m, const py::object& owner) {
  if (m.values.empty()) return py::none();
  return py::array_t<float>({m.rows, m.columns}, m.values.data(), owner);
}

// The largest weights and their keys, both [rows, count]. None where there are none.
py::object shared_largest(const LargestWeights& l, const py::object& owner) {
  if (!l) return py::none();
  return py::make_tuple(py::array_t<std::int64_t>({l.rows, l.count}, l.index.data(), owner),
                        py::array_t<float>({l.rows, l.count}, l.weight.data(), owner));
}

// Properties that records and maps have.
template <class Holder>
void bind_weights(py::class_<Holder>& c) {
  c.def_property_readonly(
       "weights", [](const py::object& self) { return shared_matrix(self.cast<const Holder&>().weights, self); },
       "[query, key]; None where it was not asked for.")
      .def_property_readonly(
          "largest", [](const py::object& self) { return shared_largest(self.cast<const Holder&>().largest, self); },
          "The keys and weights of the largest of each query, of long texts or with top_weights; else None.");
}

}  // namespace

py::object maps_of(const AttentionRecord& record, AttentionKind kind) {
  py::ssize_t layers = 0, heads = 0, rows = 0, columns = 0;
  for (const AttentionMap& map : record.maps) {
    if (map.kind != kind || map.weights.values.empty()) continue;
    layers = std::max<py::ssize_t>(layers, map.layer + 1);
    heads = std::max<py::ssize_t>(heads, map.head + 1);
    rows = map.weights.rows;
    columns = map.weights.columns;
  }
  if (layers == 0) return py::none();
  py::array_t<float> out({layers, heads, rows, columns});
  std::fill(out.mutable_data(), out.mutable_data() + out.size(), 0.0F);
  for (const AttentionMap& map : record.maps) {
    if (map.kind == kind)
      std::copy(map.weights.values.begin(), map.weights.values.end(), out.mutable_data(map.layer, map.head, 0, 0));
  }
  return out;
}

std::string picture(const AttentionRecord& record) {
  if (!record.has_weights() && record.labels.empty()) return {};
  return view::svg_document({view::svg_heat_map(record, chosen_weights(record))}, "attention",
                            "which tokens attended to which");
}

void bind_records(py::module_& m) {
  py::class_<AttentionMap> map(m, "AttentionMap", "The weights of one head of one layer.");
  map.def_property_readonly("kind", [](const AttentionMap& one) { return std::string(name_of(one.kind)); })
      .def_readonly("layer", &AttentionMap::layer)
      .def_readonly("head", &AttentionMap::head)
      .def_readonly("queries", &AttentionMap::queries)
      .def_readonly("keys", &AttentionMap::keys);
  bind_weights(map);
  py::class_<AttentionRecord> record(m, "AttentionRecord", "The tokens of an output and what they attended to.");
  record.def_readonly("source", &AttentionRecord::source)
      .def_readonly("target", &AttentionRecord::target)
      .def_property_readonly(
          "maps",
          [](const py::object& self) {
            py::list all;
            for (const AttentionMap& one : self.cast<const AttentionRecord&>().maps) {
              all.append(py::cast(&one, py::return_value_policy::reference_internal, self));
            }
            return all;
          },
          "Layer by layer and head by head, of the kinds that were asked for.")
      .def_property_readonly(
          "rows", [](const AttentionRecord& r) { return r.picture.rows; }, "Of a picture's regions; 0: it is text.")
      .def_property_readonly(
          "columns", [](const AttentionRecord& r) { return r.picture.columns; },
          "Of a picture's regions; 0: it is text.")
      .def_property_readonly(
          "cross", [](const AttentionRecord& r) { return maps_of(r, AttentionKind::cross); },
          "[layer, head, target, source]; None unless `kinds` asked for it.")
      .def_property_readonly(
          "encoder", [](const AttentionRecord& r) { return maps_of(r, AttentionKind::encoder); },
          "[layer, head, source, source]; None unless `kinds` asked for it.")
      .def_property_readonly(
          "decoder", [](const AttentionRecord& r) { return maps_of(r, AttentionKind::decoder); },
          "[layer, head, target, target]; None unless `kinds` asked for it.")
      .def("_repr_html_", &picture);
  bind_weights(record);
}

}  // namespace fovea::python

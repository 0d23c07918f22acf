#include "records.hpp"

#include <algorithm>

#include "view/svg/svg.hpp"

namespace fovea::python {

py::array matrix_of(const std::vector<std::vector<float>>& rows) {
  const auto height = static_cast<py::ssize_t>(rows.size());
  const py::ssize_t width = rows.empty() ? 0 : static_cast<py::ssize_t>(rows[0].size());
  py::array_t<float> out({height, width});
  for (py::ssize_t r = 0; r < height; ++r) {
    std::copy(rows[static_cast<std::size_t>(r)].begin(), rows[static_cast<std::size_t>(r)].end(),
              out.mutable_data(r, 0));
  }
  return out;
}

py::object maps_of(const AttentionRecord& record, AttentionKind kind) {
  py::ssize_t layers = 0, heads = 0, rows = 0, columns = 0;
  for (const AttentionMap& map : record.maps) {
    if (map.kind != kind) continue;
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
  if (record.source.empty()) return {};
  return view::svg_document({view::svg_heat_map(record, record.weights)}, "attention",
                            "which tokens attended to which");
}

}  // namespace fovea::python

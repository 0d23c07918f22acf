// Attention as arrays and as a picture.
#pragma once

#include <string>

#include "arrays.hpp"
#include "fovea/attention_record.hpp"

namespace fovea::python {

/// The maps of one kind as [layer, head, query, key]; None where there are none.
[[nodiscard]] py::object maps_of(const AttentionRecord& record, AttentionKind kind);
/// A record as SVG, for notebooks; empty where there is nothing to show.
[[nodiscard]] std::string picture(const AttentionRecord& record);
void bind_records(py::module_& m);

}  // namespace fovea::python

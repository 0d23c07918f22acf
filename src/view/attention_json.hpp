// Attention records as a part of a larger text of JSON.
#pragma once

#include <span>
#include <string>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// Appends the fields that to_json() of at least one sentence writes, without the braces around them; `out` grows in
/// place, so that whoever has reserved enough needs no more memory than that.
void append_record(std::string& out, std::span<const AttentionRecord> sentences, const AttentionJsonOptions& how);

}  // namespace fovea::view

// Attention records as part of a larger JSON text.
#pragma once

#include <span>
#include <string>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// Appends the fields of to_json() for at least one sentence, without the enclosing braces. `out` grows in place: with
/// enough memory reserved, nothing else is allocated for it.
void append_record(std::string& out, std::span<const AttentionRecord> sentences, const AttentionJsonOptions& how);

}  // namespace fovea::view

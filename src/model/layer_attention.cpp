#include "model/layer_attention.hpp"

#include <algorithm>

namespace fovea {

std::optional<SiteEditor> editor_of(const Interventions* interventions, AttentionKind kind, int layer,
                                    std::optional<std::int64_t> step) {
  if (interventions == nullptr || !interventions->touches(kind, layer)) return std::nullopt;
  return std::optional<SiteEditor>(std::in_place, *interventions, kind, layer, step);
}

void LayerAttention::ask(AttendOptions& how, std::int64_t keys) const {
  how.want.weights = report_.wanted && pass_.top == 0;
  how.want.top = report_.wanted ? std::min(pass_.top, keys) : 0;
  how.trace = pass_.trace;
  how.editor = editor_ ? &*editor_ : nullptr;
}

void LayerAttention::take(const Attended& result) const {
  if (!report_.wanted) return;
  if (pass_.top > 0) {
    report_.top.push_back(result.top);
  } else {
    report_.weights.push_back(result.weights);
  }
}

}  // namespace fovea

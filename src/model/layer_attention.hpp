// One layer's attention in a run: weights that are reported, weights that are changed.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/attention/attend.hpp"
#include "fovea/attention/interventions.hpp"
#include "fovea/attention/pass.hpp"

namespace fovea {

/// The editor of a layer's weights; none where the interventions (or null) change nothing there. `step`: the position
/// of all queries, in a decoder that writes token by token.
[[nodiscard]] std::optional<SiteEditor> editor_of(const Interventions* interventions, AttentionKind kind, int layer,
                                                  std::optional<std::int64_t> step = std::nullopt);

/// Weights of all layers: whole, or the largest of each query where Pass::top says so.
struct AttentionReport {
  AttentionKind kind;
  bool wanted;                   // false: nothing is reported
  std::vector<Var>& weights;     // gets [batch, heads, queries, keys] of each layer
  std::vector<TopWeights>& top;  // the same where Pass::top is above 0
};

/// Sets up one call of attend() for a report, the pass's trace and its interventions.
class LayerAttention {
 public:
  LayerAttention(const Pass& pass, const AttentionReport& report, int layer)
      : pass_(pass), report_(report), editor_(editor_of(pass.interventions, report.kind, layer)) {}
  /// Sets `how`, which borrows from this object.
  void ask(AttendOptions& how, std::int64_t keys) const;
  /// Adds the result's weights to the report.
  void take(const Attended& result) const;

 private:
  const Pass& pass_;
  const AttentionReport& report_;
  std::optional<SiteEditor> editor_;
};

}  // namespace fovea

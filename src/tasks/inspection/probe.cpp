// What removing each head and each edge does to the probability of an output.
#include <algorithm>
#include <cmath>
#include <mutex>

#include "fovea/error.hpp"
#include "fovea/inspector.hpp"
#include "fovea/text.hpp"
#include "fovea/threads.hpp"
#include "tasks/translation/loaded_translator.hpp"

namespace fovea {
namespace {

using What = AttentionEdit::What;

// Every head of the record's maps.
void add_heads(const AttentionRecord& record, std::vector<Removal>& out) {
  for (const AttentionMap& map : record.maps) {
    out.push_back({{.what = What::silence, .kind = map.kind, .layer = map.layer, .head = map.head}, {}, {}, 0});
  }
}

// Every edge of every kind; those that no head gives weight, because they are masked, are left out.
void add_edges(const AttentionRecord& record, std::vector<Removal>& out) {
  for (const AttentionKindInfo& info : attention_kinds) {
    std::vector<AttentionMap> maps;
    for (const AttentionMap& map : record.maps) {
      if (map.kind == info.kind) maps.push_back(map);
    }
    if (maps.empty()) continue;
    const AttentionMatrix mean = mean_of(maps);
    for (std::int64_t q = 0; q < mean.rows; ++q) {
      for (std::int64_t k = 0; k < mean.columns; ++k) {
        if (!(mean.at(q, k) > 0)) continue;
        out.push_back({{.what = What::cut, .kind = info.kind, .query = q, .key = k},
                       maps[0].queries[static_cast<std::size_t>(q)],
                       maps[0].keys[static_cast<std::size_t>(k)],
                       0});
      }
    }
  }
}

}  // namespace

Probe Inspector::probe(const std::string& line, const ProbeOptions& options,
                       const std::function<void(std::int64_t, std::int64_t)>& progress) const {
  GenerateOptions how = options.decoding;
  how.interventions = {};
  const GenerationInput read = translator_.loaded_->read_line(line, 0);
  if (read.ids.empty()) throw UsageError("probe: the line holds no text");
  const ModelRun found = options.target.empty() ? run(line, how) : run_given(line, options.target);
  Probe probe;
  probe.output = found.output;
  const std::vector<std::int32_t>& target = found.target_ids;
  probe.log_probability = score(read.ids, target, {});
  if (options.heads) add_heads(found.attention, probe.removals);
  if (options.edges) add_edges(found.attention, probe.removals);
  std::mutex mutex;
  std::int64_t done = 0;
  const auto all = static_cast<std::int64_t>(probe.removals.size());
  parallel_for(all, 1, [&](std::int64_t from, std::int64_t to) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      Removal& removal = probe.removals[i];
      removal.change = score(read.ids, target, {.attention = {removal.edit}}) - probe.log_probability;
      const std::lock_guard lock(mutex);
      if (progress) progress(++done, all);
    }
  });
  std::stable_sort(probe.removals.begin(), probe.removals.end(),
                   [](const Removal& a, const Removal& b) { return std::abs(a.change) > std::abs(b.change); });
  return probe;
}

}  // namespace fovea

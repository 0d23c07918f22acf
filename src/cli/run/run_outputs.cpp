#include "cli/run/run_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "base/processes.hpp"
#include "fovea/error.hpp"

namespace fovea::cli {

RunOutputs::RunOutputs(const RunOptions& options, const Streams& streams) : options_(options), streams_(streams) {
  if (!processes().first()) return;
  if (!options.attention_file.empty()) attention_.emplace(options.attention_file);
  if (!options.alignments_file.empty()) alignments_.emplace(options.alignments_file);
}

void RunOutputs::write(const SharedInput& input, SharedInput::Outputs own, std::span<const AttentionRecord> records) {
  if (!options_.attention_file.empty()) own.attention = view::attention_lines(records, options_.lists_heads());
  const SharedInput::Outputs all = input.collect(std::move(own));
  if (attention_) attention_->write(all.attention);
  if (alignments_) alignments_->write(all.alignments);
  streams_.err << all.err << std::flush;
  if (!(streams_.out << all.out).flush()) throw Error("standard output: cannot write");
}

void RunOutputs::commit() {
  for (auto* file : {&attention_, &alignments_}) {
    if (*file) (*file)->prepare();
  }
  for (auto* file : {&attention_, &alignments_}) {
    if (*file) (*file)->commit();
  }
}

AttentionRecord of_asked_kind(const RunOptions& o, AttentionRecord record) {
  if (o.kind == "all") {
    if (record.maps.empty()) throw UsageError("--kind: the model has no attention to write");
    return record;
  }
  if (o.kind != "cross") {
    const AttentionKind wanted = attention_kind(o.kind);
    if (std::none_of(record.maps.begin(), record.maps.end(), [&](const auto& map) { return map.kind == wanted; })) {
      throw UsageError(wanted == AttentionKind::encoder || wanted == AttentionKind::decoder
                           ? fmt::format("--kind: the model's {} does not attend to itself", o.kind)
                           : fmt::format("--kind: the model has no {} attention", o.kind));
    }
    record = record_of_kind(record, wanted);
  }
  if (!o.all_heads) record.maps.clear();
  return record;
}

}  // namespace fovea::cli

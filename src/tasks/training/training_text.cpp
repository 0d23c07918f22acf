#include "tasks/training/training_text.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "tasks/training/streamed_text.hpp"
#include "text/columns.hpp"
#include "text/hold_out.hpp"
#include "text/labelled.hpp"

namespace fovea {
namespace {

text::ParallelText read_text(const TrainingJob& job, const std::string& pairs, const std::string& source,
                             const std::string& target) {
  if (!pairs.empty()) return text::read_columns(pairs, job.columns);
  if (job.task == Task::classify && target.empty()) return text::read_labelled(source);
  return text::read_parallel(source, target);
}

// Of one kind of text: one file of pairs, or a source and a target.
void check_fields(const TrainingJob& job, const std::string& valid, const std::string& pairs, const std::string& source,
                  const std::string& target) {
  if (!pairs.empty() && !(source.empty() && target.empty())) {
    throw UsageError(fmt::format("{0}pairs: it has both sides; leave out `{0}source` and `{0}target`", valid));
  }
  if (pairs.empty() && source.empty() && !target.empty()) {
    throw UsageError(fmt::format("{0}source: it goes with `{0}target`", valid));
  }
  if (!source.empty() && target.empty() && job.task != Task::classify) {
    throw UsageError(fmt::format("{0}target: it goes with `{0}source`", valid));
  }
}

}  // namespace

void check_text_fields(const TrainingJob& job) {
  check_fields(job, "", job.pairs, job.source, job.target);
  check_stream_fields(job);
  check_fields(job, "valid_", job.valid_pairs, job.valid_source, job.valid_target);
  if (job.pairs.empty() && job.source.empty()) {
    throw UsageError("source: text to train on is needed: `source` and `target`, or `pairs`");
  }
  if (job.columns != std::array<int, 2>{0, 0} && job.pairs.empty() && job.valid_pairs.empty()) {
    throw UsageError("columns: it goes with `pairs`");
  }
}

TrainingText read_training_text(const TrainingJob& job, std::vector<std::string>& notes) {
  TrainingText text;
  text.train = read_text(job, job.pairs, job.source, job.target);
  if (!job.valid_pairs.empty() || !job.valid_source.empty()) {
    text.valid = read_validation_text(job);
    return text;
  }
  const std::size_t all = text.train.source.size();
  text.valid = text::hold_out(text.train, job.options.seed);
  notes.push_back(fmt::format("held out {} of {} lines to validate on, chosen by `seed` {}; none of them is trained on",
                              text.valid.source.size(), all, job.options.seed));
  return text;
}

text::ParallelText read_validation_text(const TrainingJob& job) {
  return read_text(job, job.valid_pairs, job.valid_source, job.valid_target);
}

}  // namespace fovea

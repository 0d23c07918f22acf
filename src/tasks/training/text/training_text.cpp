#include "tasks/training/text/training_text.hpp"

#include <fmt/format.h>

#include "base/option_text.hpp"
#include "fovea/error.hpp"
#include "tasks/training/text/streamed_text.hpp"
#include "text/columns.hpp"
#include "text/hold_out.hpp"
#include "text/labelled.hpp"

namespace fovea {
namespace {

text::ParallelText read_text(const TrainingJob& job, const std::string& pairs, const std::string& source,
                             const std::string& target) {
  if (!pairs.empty()) return text::read_columns(pairs, job.columns);
  if (std::holds_alternative<ClassifyTraining>(job.task) && target.empty()) return text::read_labelled(source);
  return text::read_parallel(source, target);
}

// Of one kind of text: one file of pairs, or a source and a target.
void check_fields(const TrainingJob& job, const std::string& valid, const std::string& pairs, const std::string& source,
                  const std::string& target) {
  const std::string prefix = member_name(valid);
  if (!pairs.empty() && !(source.empty() && target.empty())) {
    throw UsageError(prefix + "pairs", fmt::format("has both sides; leave out {0}source and {0}target", valid));
  }
  if (pairs.empty() && source.empty() && !target.empty()) {
    throw UsageError(prefix + "source", fmt::format("is missing; {}target needs it", valid));
  }
  if (!source.empty() && target.empty() && !std::holds_alternative<ClassifyTraining>(job.task)) {
    throw UsageError(prefix + "target", fmt::format("is missing; {}source needs it", valid));
  }
}

}  // namespace

void check_text_fields(const TrainingJob& job) {
  check_fields(job, "", job.pairs, job.source, job.target);
  check_stream_fields(job);
  check_fields(job, "valid-", job.valid_pairs, job.valid_source, job.valid_target);
  if (job.pairs.empty() && job.source.empty()) {
    throw UsageError("source", "is missing: text to train on is needed, source and target, or pairs");
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
  notes.push_back(fmt::format("held out {} of {} lines to validate on, chosen by seed {}; none of them is trained on",
                              text.valid.source.size(), all, job.options.seed));
  return text;
}

text::ParallelText read_validation_text(const TrainingJob& job) {
  return read_text(job, job.valid_pairs, job.valid_source, job.valid_target);
}

}  // namespace fovea

// report.html: the page that shows a training.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fovea/training_job.hpp"
#include "fovea/translator.hpp"

namespace fovea {

/// One validated line with what the best model makes of it.
struct ReportedLine {
  std::string source, reference, output;
  AttentionRecord attention;
};

[[nodiscard]] std::string training_report(const TrainingJob& job, const std::vector<nlohmann::json>& log,
                                          const std::vector<ReportedLine>& lines, std::int64_t weights);

}  // namespace fovea

// The report of a training run as one self-contained page.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/chart/chart.hpp"

namespace fovea::view {

/// One held-out line: what went in, what came out, what should have, and what the model attended to.
struct ReportSample {
  std::string source;
  std::string output;
  std::string reference;      // may be empty
  AttentionRecord attention;  // without tokens when the model has none
};

struct ReportPage {
  std::string title;                                            // "demo/model"
  std::string lead;                                             // "transformer-tiny, trained for 3 minutes"
  std::vector<std::pair<std::string, std::string>> highlights;  // {"BLEU", "34.2"}: shown large
  std::vector<Chart> charts;                                    // loss, score, speed …
  std::vector<ReportSample> samples;
  std::vector<std::pair<std::string, std::string>> settings;  // every option with its value
};

[[nodiscard]] std::string report_html(const ReportPage& report);

}  // namespace fovea::view

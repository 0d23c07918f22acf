// The report of a training run as one self-contained page.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fovea/attention_record.hpp"
#include "view/chart/chart.hpp"

namespace fovea::view {

/// One held-out line with the model's output.
struct ReportSample {
  std::string source;
  std::string output;
  std::string reference;      // may be empty
  AttentionRecord attention;  // without tokens for a model without attention
};

/// A chart over the training steps.
struct ReportChart {
  std::string name;            // "loss"
  std::vector<Series> series;  // named as in web/words/report.js
  bool from_zero = false;
};

/// The numbers of the report. Names are keys of web/words/report.js, which has their words.
struct ReportPage {
  std::string title;                                    // of the model folder
  std::string encoder;                                  // its kind
  std::string decoder;                                  // its kind; empty: a classifier
  std::string pooling;                                  // of a classifier
  std::int64_t labels = 0;                              // of a classifier
  std::int64_t weights = 0;                             // parameters of the model
  std::vector<std::pair<std::string, double>> figures;  // {"bleu", 34.2}: shown large
  std::vector<ReportChart> charts;
  std::vector<ReportSample> samples;
  std::vector<std::pair<std::string, std::string>> settings;  // every option with its value
};

[[nodiscard]] std::string report_html(const ReportPage& report);

}  // namespace fovea::view

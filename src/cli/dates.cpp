// fovea dates --count N [--seed S] [--split train|valid|test] [--source FILE --target FILE]
//
// Makes the demo's corpus: dates as people write them, in English and Chinese, and the same in ISO form. Without files
// it prints the pairs, a tab between them.
#include <ostream>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "cli/options/whole_number.hpp"
#include "cli/outputs.hpp"
#include "fovea/error.hpp"
#include "text/dates.hpp"

namespace fovea::cli {
namespace {

struct DatesOptions {
  std::int64_t count = 10;
  std::uint64_t seed = 1;
  std::string split = "train";
  std::string source, target;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) (out += line) += '\n';
  return out;
}

void dates(const DatesOptions& options, const Streams& streams) {
  if (options.source.empty() != options.target.empty()) {
    throw UsageError("--source and --target go together; without both the pairs are printed");
  }
  check_outputs_differ({{"--source", &options.source}, {"--target", &options.target}});
  const text::DateLines lines = text::make_dates(options.count, options.seed, text::date_split(options.split));
  if (options.source.empty()) {
    for (std::size_t i = 0; i < lines.source.size(); ++i)
      streams.out << lines.source[i] << '\t' << lines.target[i] << '\n';
    return;
  }
  write_whole_files({{options.source, joined(lines.source)}, {options.target, joined(lines.target)}});
}

}  // namespace

void add_dates(CLI::App& app, const Streams& streams) {
  auto* command = app.add_subcommand("dates", "make a corpus of dates as people write them and in ISO form");
  const auto options = std::make_shared<DatesOptions>();
  command->add_option("--count", options->count, "how many pairs (10)");
  command->add_option("--seed", options->seed, "the same seed gives the same pairs (1)")->check(whole_number());
  command->add_option("--split", options->split, "train, valid or test; they never share a line (train)")
      ->check(CLI::IsMember({"train", "valid", "test"}));
  command->add_option("--source", options->source, "file for the dates as written");
  command->add_option("--target", options->target, "file for the dates in ISO form");
  command->callback([options, streams] { dates(*options, streams); });
}

}  // namespace fovea::cli

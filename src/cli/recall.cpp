// fovea recall --source FILE --target FILE [--order N] [--beam N] [--least N] < in > out
//
// Every token of standard input with what a memory of the pairs would write for it. A model that is trained on such
// lines need not learn by heart what can be looked up.
#include <fmt/format.h>

#include <ostream>

#include "cli/command.hpp"
#include "cli/input.hpp"
#include "fovea/error.hpp"
#include "text/lines.hpp"
#include "text/recall.hpp"

namespace fovea::cli {
namespace {

struct Options {
  std::string source, target;
  text::RecallOptions how;
};

void recall(const Options& o, const Streams& streams) {
  const auto sources = text::read_lines(o.source);
  const auto targets = text::read_lines(o.target);
  if (sources.size() != targets.size()) {
    throw FileError(fmt::format("{} has {} lines, {} has {}: they must pair up", o.source, sources.size(), o.target,
                                targets.size()));
  }
  text::Recall memory(sources, targets, o.how);
  std::int64_t number = 0;
  for (std::string line; next_line(streams.in, line, number);) {
    streams.out << memory.remind(line) << '\n';
    if (!has_more(streams.in) && !streams.out.flush()) throw Error("standard output: cannot write");
  }
}

}  // namespace

void add_recall(CLI::App& app, const Streams& streams) {
  auto* sub = app.add_subcommand("recall", "write beside each token what a memory of pairs would make of it");
  const auto o = std::make_shared<Options>();
  sub->add_option("--source", o->source, "lines to remember, plain or .gz")->required();
  sub->add_option("--target", o->target, "what stands for each of them")->required();
  sub->add_option("--order", o->how.order, "how many tokens on end are remembered")->check(CLI::Range(1, 12));
  sub->add_option("--beam", o->how.beam, "ways to read a line that are followed at a time")->check(CLI::Range(1, 1000));
  sub->add_option("--least", o->how.least, "leave out what a token stood for less often")
      ->check(CLI::Range(1, 1000000));
  sub->callback([o, streams] { recall(*o, streams); });
}

}  // namespace fovea::cli

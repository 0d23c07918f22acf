#include "cli/io/shared_input.hpp"

#include <utility>

#include "cli/io/input.hpp"
#include "tasks/shared_lines.hpp"

namespace fovea::cli {

SharedInput::SharedInput(const Streams& streams, std::size_t block)
    : processes_(processes()), input_(streams.in), block_(block) {}

bool SharedInput::next() {
  const std::int64_t before = read_;
  lines_.clear();
  if (processes_.first()) {
    const std::size_t most = block_ * static_cast<std::size_t>(processes_.count());
    for (std::string line; next_line(input_.stream(), line, read_);) {
      lines_.push_back(std::move(line));
      if (lines_.size() == most || !has_more(input_.stream())) break;
    }
  }
  if (!processes_.alone()) {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    text = broadcast(processes_, text);
    lines_ = split_lines(text);
    read_ = before + static_cast<std::int64_t>(lines_.size());
  }
  const LineRange own = own_lines(processes_, lines_.size());
  const bool any = !lines_.empty();
  if (!processes_.alone()) lines_ = own.of(lines_);
  first_line_ = before + static_cast<std::int64_t>(own.begin);
  return any;
}

SharedInput::Outputs SharedInput::collect(Outputs own) const {
  if (processes_.alone()) return own;
  Outputs all;
  for (std::string Outputs::*part : {&Outputs::out, &Outputs::err, &Outputs::attention, &Outputs::alignments}) {
    for (const std::string& text : gather_at_first(processes_, own.*part)) all.*part += text;
  }
  return all;
}

}  // namespace fovea::cli

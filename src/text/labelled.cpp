#include "text/labelled.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "text/lines.hpp"

namespace fovea::text {

ParallelText read_labelled(const std::string& path) {
  static const std::string mark = "__label__";
  ParallelText out{path, path, {}, {}};
  LineReader reader(path);
  for (std::string line; reader.next(line);) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    if (!line.starts_with(mark) || end == mark.size()) {
      throw FileError(
          fmt::format("{}: a line begins with __label__ and a label, as in \"__label__food soup\"; or give "
                      "the labels in a file of their own",
                      reader.where()));
    }
    const std::size_t begin = std::min(line.find_first_not_of(" \t", end), line.size());
    if (line.compare(begin, mark.size(), mark) == 0) {
      throw FileError(fmt::format("{}: more than one label; each text has exactly one", reader.where()));
    }
    out.target.push_back(line.substr(mark.size(), end - mark.size()));
    out.source.push_back(line.substr(begin));
  }
  if (out.source.empty()) throw FileError(path + " holds no lines");
  return out;
}

}  // namespace fovea::text

#include "tasks/shared_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"

namespace fovea {

LineRange own_lines(const Processes& processes, std::size_t count) {
  const auto all = static_cast<std::size_t>(processes.count());
  const auto rank = static_cast<std::size_t>(processes.rank());
  return {count * rank / all, count * (rank + 1) / all};
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> shared_lines(Processes& processes, std::size_t count,
                                      const std::function<std::vector<std::string>(LineRange)>& work) {
  if (processes.alone()) return work({0, count});
  std::string own;
  for (const std::string& output : work(own_lines(processes, count))) own += output + "\n";
  std::string all;
  for (const std::string& part : gather(processes, own)) all += part;
  std::vector<std::string> outputs = split_lines(all);
  if (outputs.size() != count) {
    throw Error(fmt::format("{} lines were shared out, {} outputs came back", count, outputs.size()));
  }
  return outputs;
}

}  // namespace fovea

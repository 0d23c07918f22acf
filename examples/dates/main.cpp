// example_dates [--count N] [--seed S] [--split train|valid|test] [--source FILE --target FILE]
//
// Generates the corpus of the demo and the tutorial: dates as people write them, in English and Chinese, and the same
// dates in ISO form. Without files it prints the pairs, a tab between them.
#include <charconv>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dates.hpp"

namespace {

struct Options {
  std::int64_t count = 10;
  std::uint64_t seed = 1;
  std::string split = "train";
  std::string source, target;
};

template <class Number>
Number whole_number(std::string_view option, std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(std::string(option) + ": must be a whole number, is " + std::string(text));
  }
  return number;
}

Options parse(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); i += 2) {
    const std::string& option = arguments[i];
    if (i + 1 == arguments.size()) throw std::invalid_argument(option + ": needs a value");
    const std::string& value = arguments[i + 1];
    if (option == "--count") {
      options.count = whole_number<std::int64_t>(option, value);
    } else if (option == "--seed") {
      options.seed = whole_number<std::uint64_t>(option, value);
    } else if (option == "--split") {
      options.split = value;
    } else if (option == "--source") {
      options.source = value;
    } else if (option == "--target") {
      options.target = value;
    } else {
      throw std::invalid_argument(option + ": must be --count, --seed, --split, --source or --target");
    }
  }
  if (options.source.empty() != options.target.empty()) {
    throw std::invalid_argument("--source and --target: must be given together");
  }
  return options;
}

void write(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream out(path, std::ios::binary);
  for (const std::string& line : lines) out << line << '\n';
  if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const Options options = parse({arguments + 1, arguments + count});
    const dates::Lines lines = dates::make_lines(options.count, options.seed, dates::split_named(options.split));
    if (!options.source.empty()) {
      write(options.source, lines.source);
      write(options.target, lines.target);
      return 0;
    }
    for (std::size_t i = 0; i < lines.source.size(); ++i)
      std::cout << lines.source[i] << '\t' << lines.target[i] << '\n';
    if (!std::cout.flush()) throw std::runtime_error("standard output: cannot be written");
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "example_dates: " << error.what() << '\n';
    return dynamic_cast<const std::invalid_argument*>(&error) != nullptr ? 2 : 1;
  }
}

// translate_speed MODEL LINES fp32|int8 THREADS: Fovea's side of bench/ctranslate2.py.
//
// For each "BATCH BEAM SECONDS" on standard input it translates BATCH lines a call for so long and prints sentences per
// second; for "write BEAM FILE" it writes the outputs of all lines.
#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>

#include "fovea/fovea.hpp"

int main(int count, char** arguments) {
  if (count != 5) return 2;
  fovea::set_threads(std::stoi(arguments[4]));
  const bool small = arguments[3] == std::string("int8");
  const fovea::Translator translator(arguments[1], {.type = small ? fovea::Storage::int8 : fovea::Storage::f32});
  std::vector<std::string> lines;
  std::ifstream file(arguments[2]);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::size_t at = 0;
  for (std::string request; std::getline(std::cin, request);) {
    std::istringstream words(request);
    std::string first;
    words >> first;
    if (first == "write") {
      int beam = 1;
      std::string to;
      words >> beam >> to;
      std::ofstream out(to);
      for (const auto& one : translator.translate(lines, {.beam = beam, .scores = beam > 1}))
        out << one[0].text << '\n';
      std::cout << 0 << std::endl;
      continue;
    }
    const std::size_t batch = std::stoul(first);
    int beam = 1;
    double seconds = 1;
    words >> beam >> seconds;
    const auto start = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
    std::size_t done = 0;
    do {
      if (at + batch > lines.size()) at = 0;
      (void)translator.translate(std::span(lines).subspan(at, batch), {.beam = beam, .scores = beam > 1});
      at += batch;
      done += batch;
    } while (passed() < seconds);
    std::cout << static_cast<double>(done) / passed() << std::endl;
  }
}

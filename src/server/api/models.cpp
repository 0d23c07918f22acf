#include "server/api/models.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "text/languages.hpp"

namespace fovea::server {
namespace {

// Long enough for any sentence people write, short enough that one line never takes seconds: search writes up to twice
// as many tokens as it reads, and there is a token per character at worst.
constexpr std::size_t kLongest = 400;

std::size_t longest_line(const ModelConfig& config) {
  // The source and its translation must fit into the positions that the model has learned.
  std::size_t longest = kLongest;
  for (const std::int64_t positions : {config.longest_source(), config.longest_target()}) {
    if (positions > 0)
      longest = std::min(longest, static_cast<std::size_t>(std::max<std::int64_t>(64, positions) - 32) / 2);
  }
  return longest;
}

// Whether a model's code covers what a client asks for.
bool covers(const std::string& code, const std::string& asked) {
  return code == asked || (!text::is_language(code) && text::is_language(asked));
}

}  // namespace

ModelPlace ModelPlace::parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  const auto pair = text::language_pair(text.substr(0, equals));
  if (equals == std::string::npos || (!pair && std::filesystem::is_directory(text))) return {text, "", ""};
  if (!pair || equals + 1 == text.size()) {
    throw UsageError(
        fmt::format("model: \"{}\" is neither a folder nor languages and a folder, as in en-de=DIR", text));
  }
  return {text.substr(equals + 1), pair->first, pair->second};
}

int Model::layers() const {
  return translator->attends() ? translator->config().attention_layers() : 0;
}

int Model::heads() const {
  return translator->attends() ? translator->config().attention_heads() : 0;
}

Models::Models(const std::vector<ModelPlace>& places, int most_waiting, Metrics& metrics) {
  for (const ModelPlace& place : places) {
    Model model;
    try {
      model.translator = std::make_shared<const Translator>(place.folder);
    } catch (...) {
      metrics.loaded(false);
      throw;
    }
    metrics.loaded(true);
    model.source = place.source;
    model.target = place.target;
    if (model.source.empty()) {
      const auto pair = text::language_pair(model.translator->config().languages);
      model.source = pair ? pair->first : "source";
      model.target = pair ? pair->second : "target";
    }
    model.name = model.source + "-" + model.target;
    for (const Model& other : all_) {
      if (other.name == model.name) {
        throw UsageError(fmt::format("model: two models translate {}; name the languages of one, as in en-de={}",
                                     model.name, place.folder.string()));
      }
    }
    model.longest = longest_line(model.translator->config());
    model.batcher = std::make_unique<Batcher>(model.translator, model.name, most_waiting, metrics);
    for (const std::string& code : {model.source, model.target}) {
      if (std::find(codes_.begin(), codes_.end(), code) == codes_.end()) codes_.push_back(code);
    }
    all_.push_back(std::move(model));
  }
}

std::vector<std::string> Models::sources() const {
  std::vector<std::string> out;
  for (const Model& m : all_) {
    if (std::find(out.begin(), out.end(), m.source) == out.end()) out.push_back(m.source);
  }
  return out;
}

std::vector<std::string> Models::targets_of(const std::string& source) const {
  std::vector<std::string> out;
  for (const Model& m : all_) {
    if (m.source == source) out.push_back(m.target);
  }
  std::sort(out.begin(), out.end());
  return out;
}

const Model* Models::find(const std::string& source, const std::string& target) const {
  const Model* loose = nullptr;
  for (const Model& m : all_) {
    if (m.source == source && m.target == target) return &m;
    if (loose == nullptr && covers(m.source, source) && covers(m.target, target)) loose = &m;
  }
  return loose;
}

bool Models::knows_source(const std::string& code) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Model& m) { return covers(m.source, code); }) ||
         std::find(codes_.begin(), codes_.end(), code) != codes_.end();
}

bool Models::knows_target(const std::string& code) const {
  return std::any_of(all_.begin(), all_.end(), [&](const Model& m) { return covers(m.target, code); }) ||
         std::find(codes_.begin(), codes_.end(), code) != codes_.end();
}

int Models::waiting() const {
  int count = 0;
  for (const Model& m : all_) count += m.batcher->waiting();
  return count;
}

void Models::abandon() {
  for (const Model& m : all_) m.batcher->abandon();
}

void Models::close() {
  for (const Model& m : all_) m.batcher->close();
}

}  // namespace fovea::server

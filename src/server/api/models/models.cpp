#include "server/api/models/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"
#include "server/api/models/caption_model.hpp"
#include "server/api/models/chat_model.hpp"
#include "server/api/models/classifier_model.hpp"
#include "server/api/models/translation_model.hpp"
#include "server/http/fields.hpp"
#include "text/languages.hpp"
#include "text/unicode.hpp"

namespace fovea::server {
namespace {

// Whether a model's code matches the requested language.
bool covers(const std::string& code, const std::string& asked) {
  return code == asked || (!text::is_language(code) && text::is_language(asked));
}

// How a model of each task is loaded.
std::unique_ptr<Model> load(const ModelPlace& place) {
  const Task task = read_model_config(place.folder).task();
  switch (task) {
    case Task::generate:
      return TranslationModel::load(place);
    case Task::classify:
      return ClassifierModel::load(place);
    case Task::caption:
      return CaptionModel::load(place);
    case Task::chat:
      return ChatModel::load(place);
    default:
      throw UsageError("model",
                       fmt::format("{} has the task {}, which is not served", place.folder.string(), enum_text(task)));
  }
}

// Short lines of the validation text that training wrote into the model folder.
std::vector<std::string> read_examples(const std::filesystem::path& folder) {
  constexpr std::size_t most_lines = 4;
  constexpr std::size_t longest = 200;
  std::vector<std::string> lines;
  std::ifstream in(folder / "examples.txt", std::ios::binary);
  std::string text(most_lines * longest, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  std::istringstream all(text);
  for (std::string line; lines.size() < most_lines && std::getline(all, line);) {
    if (!line.empty() && line.size() <= longest && text::invalid_utf8(line) == std::string_view::npos) {
      lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace

ModelPlace ModelPlace::parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || std::filesystem::is_directory(text)) return {text, ""};
  const std::string name = text.substr(0, equals);
  const bool plain = !name.empty() && name.size() <= 100 && name.find('/') == std::string::npos;
  if (!plain || equals + 1 == text.size()) {
    throw UsageError(
        "model",
        fmt::format("\"{}\" is neither a folder nor a name and a folder, as in en-de=DIR or topics=DIR", text));
  }
  return {text.substr(equals + 1), name};
}

std::string ModelPlace::name_or_folder() const {
  if (!name.empty()) return name;
  const auto whole = std::filesystem::weakly_canonical(folder);
  return whole.has_filename() ? whole.filename().string() : whole.parent_path().filename().string();
}

nlohmann::json Model::describe() const {
  nlohmann::json json = {{"name", name_}, {"task", enum_text(task_)}, {"examples", examples_}};
  add_description(json);
  return json;
}

void Model::open(int most_waiting, Metrics& metrics) {
  batcher_ = std::make_unique<Batcher>(*this, name_, most_waiting, metrics);
}

Models::Models(const std::vector<ModelPlace>& places, int most_waiting, Metrics& metrics) {
  for (const ModelPlace& place : places) {
    std::unique_ptr<Model> model;
    try {
      model = load(place);
      model->set_examples(read_examples(place.folder));
    } catch (...) {
      metrics.loaded(false);
      throw;
    }
    metrics.loaded(true);
    add(std::move(model), place);
  }
  for (const auto& model : all_)
    model->open(most_waiting, metrics);  // the last step: nothing may throw after threads have started
}

Models::~Models() {
  close();  // a thread must not outlive the members of the derived class
}

void Models::add(std::unique_ptr<Model> model, const ModelPlace& place) {
  const auto* translation = dynamic_cast<const TranslationModel*>(model.get());
  for (const auto& other : all_) {
    if (other->name() != model->name()) continue;
    if (translation != nullptr && other->task() == Task::generate) {
      throw UsageError("model", fmt::format("two models translate {}; name the languages of one, as in en-de={}",
                                            model->name(), place.folder.string()));
    }
    throw UsageError("model", fmt::format("two models are called {}; name one of them, as in other={}", model->name(),
                                          place.folder.string()));
  }
  if (translation != nullptr) {
    translations_.push_back(translation);
    for (const std::string& code : {translation->source(), translation->target()}) {
      if (std::find(codes_.begin(), codes_.end(), code) == codes_.end()) codes_.push_back(code);
    }
  }
  all_.push_back(std::move(model));
}

const Model& Models::find(Task task, const std::string& name) const {
  std::string there;
  for (const auto& model : all_) {
    if (model->task() != task) continue;
    if (name.empty() || model->name() == name) return *model;
    there += (there.empty() ? "" : ", ") + model->name();
  }
  if (there.empty()) throw Refusal(400, fmt::format("no model that is loaded has the task \"{}\"", enum_text(task)));
  throw Refusal(400, fmt::format("Invalid request: model \"{}\" is not one of {}", name, there));
}

std::vector<std::string> Models::sources() const {
  std::vector<std::string> out;
  for (const TranslationModel* m : translations_) {
    if (std::find(out.begin(), out.end(), m->source()) == out.end()) out.push_back(m->source());
  }
  return out;
}

std::vector<std::string> Models::targets_of(const std::string& source) const {
  std::vector<std::string> out;
  for (const TranslationModel* m : translations_) {
    if (m->source() == source) out.push_back(m->target());
  }
  std::sort(out.begin(), out.end());
  return out;
}

const TranslationModel* Models::translation(const std::string& source, const std::string& target) const {
  const TranslationModel* loose = nullptr;
  for (const TranslationModel* m : translations_) {
    if (m->source() == source && m->target() == target) return m;
    if (loose == nullptr && covers(m->source(), source) && covers(m->target(), target)) loose = m;
  }
  return loose;
}

bool Models::knows_source(const std::string& code) const {
  return std::any_of(translations_.begin(), translations_.end(),
                     [&](const TranslationModel* m) { return covers(m->source(), code); }) ||
         std::find(codes_.begin(), codes_.end(), code) != codes_.end();
}

bool Models::knows_target(const std::string& code) const {
  return std::any_of(translations_.begin(), translations_.end(),
                     [&](const TranslationModel* m) { return covers(m->target(), code); }) ||
         std::find(codes_.begin(), codes_.end(), code) != codes_.end();
}

int Models::waiting() const {
  int count = 0;
  for (const auto& m : all_) count += m->batcher().waiting();
  return count;
}

void Models::abandon() {
  for (const auto& m : all_) m->batcher().abandon();
}

void Models::close() {
  for (const auto& m : all_) m->close();
}

}  // namespace fovea::server

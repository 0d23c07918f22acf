// GET /models, GET /languages and GET /frontend/settings.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/version.hpp"
#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/models/translation_model.hpp"
#include "text/languages.hpp"

namespace fovea::server {

namespace {

nlohmann::json descriptions(const Models& models) {
  auto list = nlohmann::json::array();
  for (const auto& model : models.all()) list.push_back(model->describe());
  return list;
}

}  // namespace

void Api::list_models(const Shared& call) {
  finish(call, {200, descriptions(*call->models).dump()});
}

void Api::languages(const Shared& call) {
  const auto models = call->models;
  auto list = nlohmann::json::array();
  for (const std::string& code : models->codes()) {
    list.push_back({{"code", code}, {"name", text::language_name(code)}, {"targets", models->targets_of(code)}});
  }
  finish(call, {200, list.dump()});
}

void Api::settings(const Shared& call) {
  const auto models = call->models;
  const auto language = [](const std::string& code) {
    return nlohmann::json{{"code", code}, {"name", text::language_name(code)}};
  };
  nlohmann::json json = {
      {"charLimit", options_.char_limit},
      {"frontendTimeout", 500},
      {"apiKeys", access_.needs_key()},
      {"keyRequired", access_.needs_key()},
      {"suggestions", false},
      {"filesTranslation", false},
      {"supportedFilesFormat", nlohmann::json::array()},
      {"fovea",
       {{"version", version()},
        {"beam", std::min(options_.beam, kWidestBeam)},
        {"learn", options_.learn},
        {"models", descriptions(*models)}}},
  };
  json["language"] = nlohmann::json::object();  // empty without translation models
  if (!models->translations().empty()) {
    const TranslationModel& first = *models->translations().front();
    json["language"] = {{"source", language(first.source())}, {"target", language(first.target())}};
  }
  finish(call, {200, json.dump()});
}

}  // namespace fovea::server

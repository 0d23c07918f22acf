// GET /languages and GET /frontend/settings.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "fovea/version.hpp"
#include "server/api/api.hpp"
#include "text/languages.hpp"

namespace fovea::server {

Response Api::languages() const {
  const auto models = this->models();
  auto list = nlohmann::json::array();
  for (const std::string& code : models->codes()) {
    list.push_back({{"code", code}, {"name", text::language_name(code)}, {"targets", models->targets_of(code)}});
  }
  return {200, list.dump()};
}

Response Api::settings() const {
  const auto models = this->models();
  const Model& first = models->all().front();
  auto list = nlohmann::json::array();
  for (const Model& m : models->all()) {
    list.push_back({{"name", m.name},
                    {"source", m.source},
                    {"target", m.target},
                    {"layers", m.layers()},
                    {"heads", m.heads()},
                    {"task", "generate"}});
  }
  const auto language = [](const std::string& code) {
    return nlohmann::json{{"code", code}, {"name", text::language_name(code)}};
  };
  const nlohmann::json json = {
      {"charLimit", options_.char_limit},
      {"frontendTimeout", 500},
      {"apiKeys", access_.needs_key()},
      {"keyRequired", access_.needs_key()},
      {"suggestions", false},
      {"filesTranslation", false},
      {"supportedFilesFormat", nlohmann::json::array()},
      {"language", {{"source", language(first.source)}, {"target", language(first.target)}}},
      {"fovea", {{"version", version()}, {"beam", std::min(options_.beam, kWidestBeam)}, {"models", std::move(list)}}},
  };
  return {200, json.dump()};
}

}  // namespace fovea::server

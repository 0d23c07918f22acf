#include "model/config_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "fovea/error.hpp"

namespace fovea {
namespace {

using Json = nlohmann::json;

template <class Config>
Json fields_json(const Config& config, const Json& defaults) {
  Json json = {{"kind", Config::kind}};
  Config::fields(config, [&]<class T>(const T& value, const Field& field) {
    if (!field.uses.here) return;
    Json text;
    if constexpr (std::is_enum_v<T>) {
      text = enum_text(value);
    } else {
      text = value;
    }
    const bool usual = defaults.is_object() && defaults.value(field.name, Json()) == text;
    if (!field.may_be_absent || !usual) json[field.name] = std::move(text);
  });
  return json;
}

template <class Config>
Json fields_json(const Config& config) {
  return fields_json(config, fields_json(Config{}, nullptr));
}

template <class... Kinds>
Json variant_json(const std::variant<Kinds...>& config) {
  return std::visit([](const auto& c) { return fields_json(c); }, config);
}

// One object of the file: each field is taken once, and an unknown field is an error.
class Reader {
 public:
  Reader(const Json& json, std::string file, std::string path) : json_(json), file_(std::move(file)), path_(path) {
    if (!json.is_object()) throw FileError(fmt::format("{}: \"{}\" is not an object", file_, path_));
  }

  const Json& take(const char* name) {
    const auto found = json_.find(name);
    if (found == json_.end())
      throw FileError(fmt::format("{}: \"{}\" is missing; {}", file_, inner(name), kOtherVersion));
    taken_.insert(name);
    return *found;
  }

  template <class T>
  void read(const char* name, T& value) {
    const Json& field = take(name);
    try {
      if constexpr (std::is_enum_v<T>) {
        value = enum_value<T>(field.get<std::string>(), inner(name));
      } else if constexpr (std::is_same_v<T, int>) {
        // As it is written: nlohmann-json would cut off what does not fit.
        const double number = field.is_number_integer() ? field.get<double>() : NAN;
        if (!(std::abs(number) <= std::numeric_limits<int>::max())) {
          throw FileError(
              fmt::format("{}: \"{}\" is {}, not a whole number that fits", file_, inner(name), field.dump()));
        }
        value = field.get<int>();
      } else {
        value = field.get<T>();
      }
    } catch (const UsageError& error) {
      throw FileError(fmt::format("{}: {}", file_, error.what()));
    } catch (const Json::exception&) {
      throw FileError(fmt::format("{}: \"{}\" has the wrong type", file_, inner(name)));
    }
  }

  template <class Config>
  void fields(Config& config) {
    Config::fields(config, [this](auto& value, const Field& field) {
      if (field.uses.here && (!field.may_be_absent || json_.contains(field.name))) read(field.name, value);
    });
  }

  template <class... Kinds>
  void variant(std::variant<Kinds...>& config) {
    std::string kind;
    read("kind", kind);
    const bool known = ((kind == Kinds::kind ? (config = Kinds{}, true) : false) || ...);
    if (!known) {
      throw FileError(fmt::format("{}: \"{}\" is \"{}\", which this version of Fovea does not have; {}", file_,
                                  inner("kind"), kind, kOtherVersion));
    }
    std::visit(
        [this]<class Config>(Config& c) {
          fields(c);
          if constexpr (std::is_same_v<Config, TransformerConfig>) read_approximate_gelu(c);
        },
        config);
  }

  // Version 0.2 wrote gelu-tanh as gelu with a field of its own.
  void read_approximate_gelu(TransformerConfig& config) {
    if (!json_.contains("approximate-gelu")) return;
    bool approximate = false;
    read("approximate-gelu", approximate);
    if (approximate) config.activation = Activation::gelu_tanh;
  }

  [[nodiscard]] Reader object(const char* name) { return {take(name), file_, inner(name)}; }

  void finish() const {
    for (const auto& [name, value] : json_.items()) {
      if (taken_.contains(name)) continue;
      throw FileError(fmt::format("{}: \"{}\" is not known here; {}", file_, inner(name.c_str()), kOtherVersion));
    }
  }

 private:
  [[nodiscard]] std::string inner(const char* name) const { return path_.empty() ? name : path_ + "." + name; }

  const Json& json_;
  std::string file_, path_;
  std::set<std::string> taken_;
};

}  // namespace

Json to_json(const ModelConfig& config) {
  Json json = {{"source", variant_json(config.source)},
               {"encoder", variant_json(config.encoder)},
               {"head", variant_json(config.head)},
               {"shared-vocabulary", config.shared_vocabulary},
               {"languages", config.languages}};
  if (const auto* generator = std::get_if<GeneratorConfig>(&config.head)) {
    json["head"]["decoder"] = variant_json(generator->decoder);
  }
  return json;
}

ModelConfig model_config_from_json(const Json& json, const std::string& file) {
  ModelConfig config;
  Reader model(json, file, "model");
  Reader source = model.object("source");
  source.variant(config.source);
  source.finish();
  Reader encoder = model.object("encoder");
  encoder.variant(config.encoder);
  encoder.finish();
  Reader head = model.object("head");
  head.variant(config.head);
  if (auto* generator = std::get_if<GeneratorConfig>(&config.head)) {
    Reader decoder = head.object("decoder");
    decoder.variant(generator->decoder);
    decoder.finish();
  }
  head.finish();
  model.read("shared-vocabulary", config.shared_vocabulary);
  model.read("languages", config.languages);
  model.finish();
  try {
    config.check();
  } catch (const UsageError& error) {
    throw FileError(fmt::format("{}: {}", file, error.what()));
  }
  return config;
}

}  // namespace fovea

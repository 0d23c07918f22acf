#include "train/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json.hpp"
#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"

namespace fovea {
namespace {

using nlohmann::json;

json to_json(const TrainState& s) {
  return {{"step", s.step},         {"epoch", s.epoch},
          {"batch", s.batch},       {"seconds", s.seconds},
          {"tokens", s.tokens},     {"best", s.best},
          {"has_best", s.has_best}, {"without_improvement", s.without_improvement},
          {"halvings", s.halvings}, {"validated_step", s.validated_step},
          {"skipped", s.skipped},   {"skipped_in_a_row", s.skipped_in_a_row},
          {"finished", s.finished}, {"warmup", s.warmup}};
}

// As it is written: nlohmann-json would cut off what does not fit.
template <class T>
void count(const json& j, const char* name, T& value) {
  const json& given = j.at(name);
  const double number = given.is_number_integer() ? given.get<double>() : NAN;
  if (!(number >= 0 && number <= std::min(9e15, static_cast<double>(std::numeric_limits<T>::max())))) {
    throw FileError(fmt::format("the state of the training has \"{}\" {}", name, given.dump()));
  }
  given.get_to(value);
}

TrainState state_from(const json& j) {
  TrainState s;
  count(j, "step", s.step);
  count(j, "epoch", s.epoch);
  count(j, "batch", s.batch);
  j.at("seconds").get_to(s.seconds);
  count(j, "tokens", s.tokens);
  j.at("best").get_to(s.best);
  j.at("has_best").get_to(s.has_best);
  count(j, "without_improvement", s.without_improvement);
  count(j, "halvings", s.halvings);
  count(j, "skipped", s.skipped);
  count(j, "skipped_in_a_row", s.skipped_in_a_row);
  j.at("finished").get_to(s.finished);
  if (!j.at("validated_step").is_number_integer())
    throw FileError("the state of the training has no \"validated_step\"");
  j.at("validated_step").get_to(s.validated_step);
  if (j.contains("warmup")) count(j, "warmup", s.warmup);
  return s;
}

json training_json(const Safetensors& in, const std::filesystem::path& file) {
  const auto training = in.metadata().find("training");
  if (training == in.metadata().end()) throw FileError(file.string() + ": not a training checkpoint");
  json meta = parse_json(training->second, file.string() + ": the state of the training");
  try {
    (void)state_from(meta);
    (void)meta.at("mean").get<bool>();
    std::int64_t recent = 0;
    count(meta, "recent", recent);
  } catch (const FileError& error) {
    throw FileError(fmt::format("{}: {}", file.string(), error.what()));
  } catch (const json::exception&) {
    throw FileError(file.string() + ": the state of the training cannot be read");
  }
  return meta;
}

// In what a training was given something else than now, as "seed 1, not 2".
std::string difference(const json& a, const json& b, const std::string& path) {
  for (const auto& [name, value] : b.items()) {
    const json was = a.is_object() ? a.value(name, json()) : json();
    if (was == value) continue;
    if (value.is_object() && was.is_object()) return difference(was, value, path + name + ".");
    if (name == "text" || name == "pairs" || name == "tokens") return "other training text";
    if (name == "validation") return "other text to validate on";
    return fmt::format("{}{} {}, not {}", path, name, was.is_null() ? "nothing" : was.dump(), value.dump());
  }
  for (const auto& [name, value] : a.items()) {
    if (!b.contains(name)) return fmt::format("{}{} {}", path, name, value.dump());
  }
  return {};
}

void check_made_with(const Safetensors& in, const std::filesystem::path& file, const std::string& fingerprint) {
  const auto made_with = in.metadata().find("fingerprint");
  if (made_with == in.metadata().end()) throw FileError(file.string() + ": does not say what it was made with");
  if (made_with->second == fingerprint) return;
  const std::string what = file.string() + ": what the training was given";
  const std::string other = difference(parse_json(made_with->second, what), parse_json(fingerprint, what), "");
  if (!other.empty()) throw UsageError("resume", fmt::format("{} was made with {}", file.string(), other));
}

void add_all(SafetensorsWriter& writer, const std::string& group, const std::vector<Tensor>& tensors,
             const Parameters& parameters) {
  for (std::size_t i = 0; i < tensors.size(); ++i) writer.add(group + "/" + parameters.entries()[i].name, tensors[i]);
}

std::vector<Tensor> read_all(const Safetensors& file, const std::string& group, const Parameters& parameters,
                             const std::string& path) {
  std::vector<Tensor> tensors;
  for (const auto& entry : parameters.entries()) {
    const Tensor t = file.tensor(group + "/" + entry.name);
    if (!(t.shape() == entry.weight.shape())) {
      throw FileError(fmt::format("{}: {}/{} has shape {}, {} is needed", path, group, entry.name, t.shape().text(),
                                  entry.weight.shape().text()));
    }
    tensors.push_back(t.clone());
  }
  return tensors;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& file, const Checkpoint& checkpoint, const Parameters& parameters,
                      const std::string& fingerprint) {
  SafetensorsWriter writer;
  json meta = to_json(checkpoint.state);
  meta["mean"] = !checkpoint.mean.empty();
  meta["recent"] = checkpoint.recent.size();
  writer.set_metadata("training", meta.dump());
  writer.set_metadata("fingerprint", fingerprint);
  add_all(writer, "weight", checkpoint.weights, parameters);
  add_all(writer, "first", checkpoint.first_moments, parameters);
  add_all(writer, "second", checkpoint.second_moments, parameters);
  add_all(writer, "mean", checkpoint.mean, parameters);
  for (std::size_t i = 0; i < checkpoint.recent.size(); ++i) {
    add_all(writer, "recent" + std::to_string(i), checkpoint.recent[i], parameters);
  }
  writer.write(file);
}

TrainState read_train_state(const std::filesystem::path& file, const std::string& fingerprint) {
  const Safetensors in(file);
  check_made_with(in, file, fingerprint);
  return state_from(training_json(in, file));
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const Parameters& parameters,
                           const std::string& fingerprint) {
  const Safetensors in(file);
  const json meta = training_json(in, file);
  check_made_with(in, file, fingerprint);
  Checkpoint checkpoint;
  checkpoint.state = state_from(meta);
  const bool mean = meta.value("mean", false);
  const auto recent = meta.value("recent", std::size_t{0});
  if (recent > 1000) throw FileError(file.string() + ": more than 1000 recent checkpoints");
  checkpoint.weights = read_all(in, "weight", parameters, file.string());
  checkpoint.first_moments = read_all(in, "first", parameters, file.string());
  checkpoint.second_moments = read_all(in, "second", parameters, file.string());
  if (mean) checkpoint.mean = read_all(in, "mean", parameters, file.string());
  for (std::size_t i = 0; i < recent; ++i) {
    checkpoint.recent.push_back(read_all(in, "recent" + std::to_string(i), parameters, file.string()));
  }
  return checkpoint;
}

}  // namespace fovea

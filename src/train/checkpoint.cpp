#include "train/checkpoint.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"

namespace fovea {
namespace {

using nlohmann::json;

json to_json(const TrainState& s) {
  return {{"step", s.step},         {"epoch", s.epoch},
          {"batch", s.batch},       {"seconds", s.seconds},
          {"tokens", s.tokens},     {"best", s.best},
          {"has_best", s.has_best}, {"disappointments", s.disappointments},
          {"halvings", s.halvings}, {"finished", s.finished}};
}

TrainState state_from(const json& j) {
  TrainState s;
  j.at("step").get_to(s.step);
  j.at("epoch").get_to(s.epoch);
  j.at("batch").get_to(s.batch);
  j.at("seconds").get_to(s.seconds);
  j.at("tokens").get_to(s.tokens);
  j.at("best").get_to(s.best);
  j.at("has_best").get_to(s.has_best);
  j.at("disappointments").get_to(s.disappointments);
  j.at("halvings").get_to(s.halvings);
  j.at("finished").get_to(s.finished);
  return s;
}

json training_json(const Safetensors& in, const std::filesystem::path& file) {
  const auto training = in.metadata().find("training");
  if (training == in.metadata().end()) throw FileError(file.string() + ": not a training checkpoint");
  json meta = json::parse(training->second, nullptr, false);
  try {
    const TrainState s = state_from(meta);
    for (const std::int64_t count :
         {s.step, s.epoch, s.batch, s.tokens, std::int64_t{s.disappointments}, std::int64_t{s.halvings}}) {
      if (count < 0)
        throw FileError(fmt::format("{}: the state of the training has a count of {}", file.string(), count));
    }
    (void)meta.at("mean").get<bool>();
    (void)meta.at("recent").get<std::size_t>();
  } catch (const json::exception&) {
    throw FileError(file.string() + ": the state of the training cannot be read");
  }
  return meta;
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

TrainState read_train_state(const std::filesystem::path& file) {
  const Safetensors in(file);
  return state_from(training_json(in, file));
}

Checkpoint read_checkpoint(const std::filesystem::path& file, const Parameters& parameters,
                           const std::string& fingerprint) {
  const Safetensors in(file);
  const json meta = training_json(in, file);
  const auto made_with = in.metadata().find("fingerprint");
  if (made_with == in.metadata().end() || made_with->second != fingerprint) {
    throw UsageError(
        fmt::format("--resume: {} was made with another model, other text or another seed", file.string()));
  }
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

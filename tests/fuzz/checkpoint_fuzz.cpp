// Any bytes as a training's checkpoint: the whole file, or its state and what it was made with (up to a NUL, and behind
// it) in a frame whose arrays fit (the first byte chooses). A checkpoint of the model's shapes or an Error, never
// anything else.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "fuzz_folder.hpp"
#include "train/checkpoint.hpp"

namespace {

const std::string kFingerprint = R"({"model":{"dim":4},"seed":1})";

struct Training {
  fovea::Parameters parameters{1};
  FuzzFolder folder;
  std::filesystem::path file = folder.path / "checkpoint.safetensors";

  Training() {
    (void)parameters.get("a", {2, 2}, fovea::Init::ones);
    (void)parameters.get("b", {3}, fovea::Init::zeros);
  }

  void write_framed(const std::string& state, const std::string& made_with) const {
    fovea::SafetensorsWriter writer;
    writer.set_metadata("training", state);
    writer.set_metadata("fingerprint", made_with.empty() ? kFingerprint : made_with);
    for (const char* group : {"weight", "first", "second", "mean", "recent0"}) {
      for (const auto& entry : parameters.entries()) {
        writer.add(std::string(group) + "/" + entry.name, entry.weight.value());
      }
    }
    writer.write(file);
  }
};

void check(const fovea::Checkpoint& checkpoint, const fovea::Parameters& parameters) {
  const fovea::TrainState& s = checkpoint.state;
  if (s.step < 0 || s.epoch < 0 || s.batch < 0 || s.tokens < 0 || s.halvings < 0 || s.warmup < 0) std::abort();
  for (const auto* group : {&checkpoint.weights, &checkpoint.first_moments, &checkpoint.second_moments}) {
    if (group->size() != parameters.entries().size()) std::abort();
    for (std::size_t i = 0; i < group->size(); ++i) {
      if (!((*group)[i].shape() == parameters.entries()[i].weight.shape())) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Training training;
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 2 == 0) {
      const std::size_t end = std::min(bytes.find('\0'), bytes.size());
      training.write_framed(bytes.substr(0, end), bytes.substr(std::min(end + 1, bytes.size())));
    } else {
      (void)training.folder.write("checkpoint.safetensors", bytes);
    }
    (void)fovea::read_train_state(training.file, kFingerprint);
    check(fovea::read_checkpoint(training.file, training.parameters, kFingerprint), training.parameters);
  } catch (const fovea::Error&) {
  }
  return 0;
}

// A matrix in int8 is an I8 tensor NAME, and a float tensor NAME.scale that it is multiplied by.
#include "fovea/nn/parameters_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/error.hpp"
#include "fovea/safetensors.hpp"
#include "nn/storage_of.hpp"

namespace fovea {
namespace {

constexpr const char* kScale = ".scale";

bool is_scale(const Safetensors& file, const std::string& name) {
  const std::string_view suffix = kScale;
  if (!name.ends_with(suffix)) return false;
  const std::string of = name.substr(0, name.size() - suffix.size());
  return file.contains(of) && file.entry(of).dtype == "I8";
}

// The scale of the tensor `of`, checked.
Tensor read_scale(const Safetensors& file, const Safetensors::Entry& of, const std::filesystem::path& path) {
  const auto fail = [&](const std::string& what) {
    throw FileError(fmt::format("{}: weight {}{}: {}", path.string(), of.name, kScale, what));
  };
  if (of.shape.rank() != 2) {
    throw FileError(
        fmt::format("{}: weight {}: {} in I8; only matrices are stored so", path.string(), of.name, of.shape.text()));
  }
  const std::string name = of.name + kScale;
  if (!file.contains(name)) fail("is missing, but the weight is in I8");
  const Tensor scale = file.tensor(name);
  if (!(scale.shape() == Shape{1, of.shape[1]}) && !(scale.shape() == Shape{of.shape[0], 1})) {
    fail(fmt::format("shape is {}, [1,{}] or [{},1] is needed", scale.shape().text(), of.shape[1], of.shape[0]));
  }
  for (const float v : scale.values()) {
    if (!(std::isfinite(v) && v >= 0)) fail(fmt::format("{} is not a scale: it must be a finite number from 0", v));
  }
  return scale.clone();
}

// Version 0.2 could also write matrices as its kernels had them in memory: U8, described in the metadata.
void refuse_packed(const Safetensors& file, const Safetensors::Entry& entry, const std::filesystem::path& path) {
  if (entry.dtype != "U8" || !file.metadata().contains(entry.name)) return;
  throw FileError(fmt::format(
      "{}: weight {} is packed for the products of version 0.2; run fovea quantize on the original model again",
      path.string(), entry.name));
}

}  // namespace

void save_parameters(const Parameters& parameters, const std::filesystem::path& file, Storage storage) {
  SafetensorsWriter writer;
  for (const Parameters::Entry& entry : parameters.entries()) {
    const Storage as = storage_of(entry, storage);
    if (as == Storage::int8) {
      const Int8Matrix rounded = to_int8(entry);
      writer.add(entry.name, entry.shape, rounded.q);
      writer.add(entry.name + kScale, rounded.scale);
    } else if (as == Storage::f16) {
      writer.add_f16(entry.name, entry.values());
    } else {
      writer.add(entry.name, entry.values());
    }
  }
  writer.write(file);
}

Parameters load_parameters(const std::filesystem::path& file, bool in_place) {
  const auto opened = std::make_shared<const Safetensors>(file);
  const Safetensors& weights = *opened;
  Parameters parameters(0);
  for (const auto& entry : weights.entries()) {
    refuse_packed(weights, entry, file);
    if (is_scale(weights, entry.name)) continue;
    if (entry.dtype == "I8") {
      parameters.stored_ = Storage::int8;
      const Tensor scale = read_scale(weights, entry, file);
      Int8Matrix matrix{entry.shape[0], entry.shape[1], weights.int8(entry.name), scale, opened};
      if (in_place) {
        parameters.put(entry.name, std::move(matrix));
      } else {
        parameters.put(entry.name, matrix.values());
      }
      continue;
    }
    if (entry.dtype == "F16" && parameters.stored_ == Storage::f32) parameters.stored_ = Storage::f16;
    // Copied unless `in_place`: a file that is written over while it is mapped would change, or end, under a running
    // program.
    const Tensor values = weights.tensor(entry.name);
    parameters.put(entry.name, in_place ? values : values.clone());
  }
  if (in_place) parameters.file_ = opened;
  parameters.seal();
  return parameters;
}

}  // namespace fovea

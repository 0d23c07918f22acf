// --type of the commands that have it.
#pragma once

#include <fmt/format.h>

#include <string>

#include "cli/command.hpp"
#include "fovea/error.hpp"
#include "fovea/model/folder.hpp"

namespace fovea::cli {

[[nodiscard]] inline Storage storage_value(const std::string& name) {
  for (const Storage storage : {Storage::f32, Storage::f16, Storage::int8}) {
    if (name == name_of(storage)) return storage;
  }
  throw UsageError(fmt::format("--type: \"{}\" is not one of fp32, f16, int8", name));
}

/// Adds --type to a command that loads a model.
inline void add_type(CLI::App& command, LoadOptions& how) {
  command.add_option_function<std::string>(
      "--type", [&how](const std::string& name) { how.type = storage_value(name); },
      "how matrices are stored and multiplied: fp32, f16 or int8; default: as the folder has them");
}

}  // namespace fovea::cli

// What a Completer holds, and a text on its way through it.
#pragma once

#include <cstdint>
#include <vector>

#include "fovea/completer.hpp"
#include "fovea/model/language_model.hpp"
#include "tasks/model_copies.hpp"

namespace fovea {

struct Completer::Loaded : PackedModel<LanguageModel> {
  using PackedModel::PackedModel;
};

struct Completer::Prompt {
  std::size_t number = 0;
  std::vector<std::int32_t> ids;
};

}  // namespace fovea

// Names of what a training is given, as options and files spell them.
#pragma once

#include "fovea/fields.hpp"
#include "fovea/training_job.hpp"

namespace fovea {

template <>
std::span<const EnumName<ValidateBy>> enum_names<ValidateBy>();
template <>
std::span<const EnumName<TokenizerKind>> enum_names<TokenizerKind>();

}  // namespace fovea

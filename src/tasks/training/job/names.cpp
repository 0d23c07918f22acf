#include "tasks/training/job/names.hpp"

namespace fovea {

template <>
std::span<const EnumName<ValidateBy>> enum_names<ValidateBy>() {
  static constexpr EnumName<ValidateBy> names[] = {{ValidateBy::loss, "loss"},
                                                   {ValidateBy::bleu, "bleu"},
                                                   {ValidateBy::rouge, "rouge"},
                                                   {ValidateBy::accuracy, "accuracy"}};
  return names;
}

template <>
std::span<const EnumName<TokenizerKind>> enum_names<TokenizerKind>() {
  static constexpr EnumName<TokenizerKind> names[] = {{TokenizerKind::sentencepiece, "sentencepiece"},
                                                      {TokenizerKind::word, "word"},
                                                      {TokenizerKind::character, "char"},
                                                      {TokenizerKind::label, "label"}};
  return names;
}

}  // namespace fovea

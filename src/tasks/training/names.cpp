#include "tasks/training/names.hpp"

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
std::span<const EnumName<ScheduleKind>> enum_names<ScheduleKind>() {
  static constexpr EnumName<ScheduleKind> names[] = {{ScheduleKind::inverse_sqrt, "inverse-sqrt"},
                                                     {ScheduleKind::cosine, "cosine"},
                                                     {ScheduleKind::linear, "linear"},
                                                     {ScheduleKind::plateau, "plateau"},
                                                     {ScheduleKind::constant, "constant"}};
  return names;
}

}  // namespace fovea

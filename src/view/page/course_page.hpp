// The course as one page.
#pragma once

#include <string>
#include <string_view>

namespace fovea::view {

/// The course as one self-contained page without a server. `recorded`: the models' answers by lesson, JSON of
/// learning::Course::record().
[[nodiscard]] std::string course_page(std::string_view recorded);

}  // namespace fovea::view

// The course as one page.
#pragma once

#include <string>
#include <string_view>

namespace fovea::view {

/// The course as one self-contained page. `recorded`: the JSON of what its lessons' models answered, by lesson, since
/// there is no server to ask.
[[nodiscard]] std::string course_page(std::string_view recorded);

}  // namespace fovea::view

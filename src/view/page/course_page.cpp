#include "view/page/course_page.hpp"

#include "view/page/page.hpp"

namespace fovea::view {

std::string course_page(std::string_view recorded) {
  return html_page({.kind = "course", .title = "Fovea", .data = {{"recorded", std::string(recorded)}}});
}

}  // namespace fovea::view

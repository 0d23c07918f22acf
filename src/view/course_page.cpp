#include "view/course_page.hpp"

#include "view/page.hpp"

namespace fovea::view {

std::string course_page(std::string_view recorded) {
  PageParts parts;
  parts.kind = "course";
  parts.title = "Fovea";
  parts.body = "<div id=\"view-learn\"><noscript>This page computes with JavaScript.</noscript></div>\n" +
               data_element("recorded", recorded);
  return html_page(parts);
}

}  // namespace fovea::view

#include "view/course_page.hpp"

#include "view/page.hpp"

namespace fovea::view {

std::string course_page(std::string_view recorded) {
  PageParts parts;
  parts.title = "Fovea";
  parts.lead = "A course on attention";
  parts.body = "<div id=\"view-learn\"><noscript>This page computes with JavaScript.</noscript></div>\n" +
               data_element("recorded", recorded);
  parts.styles = {"learn.css"};
  parts.scripts = {"learn_words.js",  "learn_math.js",     "learn_draw.js",      "learn_plane.js",     "learn.js",
                   "lesson_fixed.js", "lesson_softmax.js", "lesson_scores.js",   "lesson_steps.js",    "lesson_qkv.js",
                   "lesson_root.js",  "lesson_heads.js",   "lesson_encoders.js", "lesson_backward.js", "learn_page.js"};
  return html_page(parts);
}

}  // namespace fovea::view

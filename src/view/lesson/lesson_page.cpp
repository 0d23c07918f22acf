#include "view/lesson/lesson.hpp"
#include "view/page.hpp"

namespace fovea::view {

std::string lesson_page(const Lesson& lesson) {
  const LessonWords words(lesson.language);
  PageParts parts;
  parts.kind = "lesson";
  parts.title = words(lesson.title);
  parts.lead = words(lesson.lead);
  parts.language = words.tag();
  parts.body = "<div id=\"lesson-here\"><noscript>This page draws with JavaScript.</noscript></div>\n" +
               data_element("lesson", lesson_json(lesson));
  return html_page(parts);
}

}  // namespace fovea::view

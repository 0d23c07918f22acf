#include "view/lesson/lesson.hpp"
#include "view/page/page.hpp"

namespace fovea::view {

std::string lesson_page(const Lesson& lesson) {
  const LessonWords words(lesson.language);
  return html_page({.kind = "lesson",
                    .title = words(lesson.title),
                    .lead = words(lesson.lead),
                    .language = words.tag(),
                    .data = {{"lesson", lesson_json(lesson)}}});
}

}  // namespace fovea::view

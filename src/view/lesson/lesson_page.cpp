#include <fmt/format.h>

#include "view/lesson/lesson.hpp"
#include "view/page.hpp"
#include "view/text.hpp"

namespace fovea::view {

std::string lesson_page(const Lesson& lesson) {
  PageParts parts;
  parts.title = lesson.title;
  parts.lead = lesson.lead;
  parts.language = lesson.language;
  std::string& body = parts.body;
  body = "<style>\n" + table_styles() + "</style>\n";
  int number = 0;
  for (const LessonStep& step : lesson.steps) {
    body += fmt::format(
        "<section class=\"card step\"><h2><span class=\"number\">{}</span>{}</h2>\n<p>{}</p>\n<p "
        "class=\"formula\"{}>{}</p>\n",
        ++number, symbol_markup(step.title), escape_markup(step.text), step.formula.empty() ? " hidden" : "",
        symbol_markup(step.formula));
    body += fmt::format("<div class=\"matrices\"{}>\n", lesson.folded ? " data-folded" : "");
    for (const NumberTable& table : step.tables) body += html_table(table);
    body += "</div>\n";
    for (const std::string& example : step.examples)
      body += "<p class=\"example\">" + escape_markup(example) + "</p>\n";
    body += "</section>\n";
  }
  if (!lesson.picture.source.empty()) {
    body += "<section class=\"card\"><h2>" + escape_markup(lesson.picture_title) + "</h2><p>" +
            escape_markup(lesson.closing) + "</p>\n<div id=\"attention\"" +
            (lesson.same_side ? " data-kind=\"encoder\"" : "") + "></div></section>\n" +
            data_element("pictures", records_json({lesson.picture}));
  } else if (!lesson.closing.empty()) {
    body += "<p>" + escape_markup(lesson.closing) + "</p>\n";
  }
  body += "<p class=\"working\" id=\"working\" role=\"status\" hidden></p>\n";
  parts.kind = "lesson";
  return html_page(parts);
}

}  // namespace fovea::view

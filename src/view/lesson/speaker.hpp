// Words in the language of a lesson.
#pragma once

#include <fmt/format.h>

#include <string>

#include "view/lesson/lesson.hpp"

namespace fovea::view {

class Speaker {
 public:
  explicit Speaker(LessonLanguage language) : chinese_(language == LessonLanguage::chinese) {}
  [[nodiscard]] const char* operator()(const char* english, const char* chinese) const {
    return chinese_ ? chinese : english;
  }
  /// The same with {} filled in.
  template <class... Values>
  [[nodiscard]] std::string fill(const char* english, const char* chinese, const Values&... values) const {
    return fmt::format(fmt::runtime(chinese_ ? chinese : english), values...);
  }
  [[nodiscard]] std::string tag() const { return chinese_ ? "zh-Hans" : "en"; }

 private:
  bool chinese_;
};

}  // namespace fovea::view

#include "tasks/generation/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr int kPicturesAtOnce = 16;  // decoded together by one thread

constexpr std::pair<Task, std::string_view> kModels[] = {{Task::generate, "a translation model"},
                                                         {Task::chat, "a chat model"},
                                                         {Task::caption, "a caption model"},
                                                         {Task::complete, "a language model"},
                                                         {Task::classify, "a classifier"}};

}  // namespace

std::string TaskOption::command_line_name() const {
  std::string text = "--" + std::string(option.empty() ? name : option);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

void TaskOption::check(Task task, std::string_view shown) const {
  if (tasks.has(task)) return;
  std::string_view given;
  std::string possible;
  for (const auto& [of, model] : kModels) {
    if (of == task) given = model;
    if (tasks.has(of)) possible += (possible.empty() ? "" : ", ") + std::string(model);
  }
  throw UsageError(fmt::format("{}: not an option of {}; it is one of {}", shown, given, possible));
}

void check_task_options(Task task, const GenerateOptions& options) {
  const GenerateOptions defaults;
  each_generate_option([&](const TaskOption& option, auto field) {
    if (!(options.*field == defaults.*field)) option.check(task, option.name);
  });
}

GenerateOptions completion_options(GenerateOptions options) {
  options.max_length = options.max_length.value_or(50);
  return options;
}

GenerateOptions caption_options(GenerateOptions options, std::int64_t regions) {
  options.max_length = options.max_length.value_or(40);
  options.batch_tokens = options.batch_tokens.value_or(kPicturesAtOnce * static_cast<int>(regions));
  return options;
}

GenerateOptions reply_options(GenerateOptions options) {
  options.max_length = options.max_length.value_or(60);
  options.no_repeat_ngram = options.no_repeat_ngram.value_or(3);
  return options;
}

}  // namespace fovea

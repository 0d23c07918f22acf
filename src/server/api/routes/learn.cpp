// The course, if it is served: POST /learn/train, POST /learn/ask and GET /learn.
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "server/api/call.hpp"
#include "tasks/learning/course.hpp"

namespace fovea::server {
namespace {

constexpr std::size_t kTrainingBytes = std::size_t{32} << 20;  // an upper bound for the training of any lesson

// A UsageError of a lesson is a mistake of the client.
template <class Make>
auto of_a_lesson(const Make& make) {
  try {
    return make();
  } catch (const UsageError& error) {
    throw Refusal(400, fmt::format("Invalid request: {}", error.what()));
  }
}

}  // namespace

learning::Course& Api::course() const {
  if (course_ == nullptr) throw Refusal(404, "Not Found");
  return *course_;
}

void Api::learn_state(const Shared& call) {
  finish(call, {200, course().state().dump()});
}

void Api::learn_ask(const Shared& call) {
  learning::Course& lessons = course();
  check_access(*call);
  const Fields fields(*call->request);
  const std::string lesson = fields.text("lesson");
  const nlohmann::json answer = of_a_lesson([&] { return lessons.ask(lesson, fields["question"]); });
  finish(call, {200, answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)});
}

void Api::learn_train(const Shared& call) {
  learning::Course& lessons = course();
  check_access(*call);
  const Fields fields(*call->request);
  const std::string lesson = fields.text("lesson");
  const bool again = fields.flag("again");
  const nlohmann::json there = of_a_lesson([&] { return lessons.facts(lesson); });
  if (!there.is_null() && !again) return finish(call, {200, there.dump()});
  call->request->forget_body();
  // Training takes seconds: a separate thread does it.
  const auto train = [this, call, lesson, again, &lessons] {
    respond(call, [&]() -> Response {
      MemoryReservation memory(options_.memory);
      if (!memory.grow(kTrainingBytes)) throw Refusal(503, "Slowdown: the server has no memory for a training now", 1);
      learning::Watch watch;
      watch.stop = [this, &call] { return closing_.load() || call->reply->gone(); };
      return {200, lessons.train(lesson, watch, again).dump()};
    });
  };
  if (!trainer_->submit(train)) throw Refusal(429, "Slowdown: too many trainings are waiting", 2);
}

}  // namespace fovea::server

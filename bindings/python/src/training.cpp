// train(): a whole training from keywords.
#include <pybind11/stl/filesystem.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "fovea/error.hpp"
#include "fovea/processes.hpp"
#include "fovea/threads.hpp"
#include "tasks/training/job/requested_training.hpp"

namespace fovea::python {
namespace {

// Python's exceptions and interrupts stop the training in good order and are raised after it.
class Watcher final : public TrainingObserver {
 public:
  explicit Watcher(py::object on_report) : on_report_(std::move(on_report)) {}

  void reported(const TrainReport& r) override {
    if (on_report_.is_none()) return;
    const py::gil_scoped_acquire lock;
    py::dict report;
    report["step"] = r.state.step;
    report["epoch"] = r.state.epoch + 1;
    report["seconds"] = r.state.seconds;
    report["loss"] = r.loss;
    report["perplexity"] = r.perplexity;
    report["accuracy"] = r.accuracy;
    report["rate"] = r.rate;
    report["gradient_norm"] = r.gradient_norm;
    report["tokens_per_second"] = r.tokens_per_second;
    report["progress"] = r.progress;
    call(report);
  }
  void validated(const TrainState& state, const Validation& v, bool best) override {
    if (on_report_.is_none()) return;
    const py::gil_scoped_acquire lock;
    py::dict report;
    report["step"] = state.step;
    report["validation"] = v.text;
    report["validation_loss"] = v.loss;
    for (const auto& [name, value] : v.figures) report[py::str(name)] = value;
    report["best"] = best;
    call(report);
  }
  /// Whether to end the training.
  [[nodiscard]] bool stops() {
    const py::gil_scoped_acquire lock;
    if (!failure_ && PyErr_CheckSignals() != 0) failure_.emplace();
    return failure_.has_value();
  }
  void raise() const {
    if (failure_) throw py::error_already_set(*failure_);
  }

 private:
  void call(const py::dict& report) {
    if (failure_) return;
    try {
      on_report_(report);
    } catch (py::error_already_set& error) {
      failure_.emplace(error);
    }
  }

  py::object on_report_;
  std::optional<py::error_already_set> failure_;
};

// A keyword's value as options spell it.
std::string option_text(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>() ? "true" : "false";
  if (py::hasattr(value, "__fspath__")) return value.cast<std::filesystem::path>().string();
  if (!py::isinstance<py::list>(value) && !py::isinstance<py::tuple>(value)) return py::str(value).cast<std::string>();
  std::string text;
  for (const py::handle& one : value) text += (text.empty() ? "" : ",") + option_text(one);
  return text;
}

RequestedTraining training_of(const py::dict& keywords) {
  OptionValues options;
  for (const auto& [key, value] : keywords) {
    const auto name = key.cast<std::string>();
    if (!value.is_none()) options.give(option_name(name), option_text(value));
  }
  return requested_training(std::move(options));
}

}  // namespace

void bind_training(py::module_& m) {
  m.def(
      "_train",
      [](const py::dict& keywords, const py::object& on_report) {
        const RequestedTraining requested = training_of(keywords);
        Watcher watcher(on_report);
        Trainer::End end = Trainer::End::limit;
        {
          const py::gil_scoped_release released;
          if (requested.threads != 0) set_threads(requested.threads);
          set_process_timeout(requested.rank_timeout);
          end = train(requested.job, watcher, [&watcher] { return watcher.stops(); });
        }
        watcher.raise();
        return end == Trainer::End::limit ? "limit" : end == Trainer::End::patience ? "patience" : "stopped";
      },
      py::arg("options"), py::arg("on_report"));
}

}  // namespace fovea::python

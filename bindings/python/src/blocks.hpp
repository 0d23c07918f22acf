// Work on many lines from Python.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arrays.hpp"

namespace fovea::python {

/// The lines of a text, which is one, or of a list of texts.
inline std::vector<std::string> texts_of(const py::handle& value) {
  if (py::isinstance<py::str>(value)) return {value.cast<std::string>()};
  try {
    return value.cast<std::vector<std::string>>();
  } catch (const py::cast_error&) {
    const py::str type = py::type::handle_of(value).attr("__name__");
    throw py::type_error("a text or a list of texts is needed, not " + type.cast<std::string>());
  }
}

/// Checks for an interrupt (Ctrl-C). Only the thread that Python called can check.
class Interrupts {
 public:
  [[nodiscard]] bool pending() {
    if (std::this_thread::get_id() != caller_) return false;
    const py::gil_scoped_acquire lock;
    if (!failure_ && PyErr_CheckSignals() != 0) failure_.emplace();
    return failure_.has_value();
  }
  void raise() const {
    if (failure_) throw py::error_already_set(*failure_);
  }

 private:
  std::thread::id caller_ = std::this_thread::get_id();
  std::optional<py::error_already_set> failure_;
};

/// The results of all lines, a block at a time, with a check for interrupts in between: larger blocks where lines are
/// quick. Work takes lines and the number of the first one, and gives a result for each.
template <class Work>
auto in_blocks(const std::vector<std::string>& lines, const Work& work) {
  using Results = decltype(work(std::span(lines), std::int64_t{0}));
  Results all;
  all.reserve(lines.size());
  std::size_t block = 128;
  while (all.size() < lines.size()) {
    const std::size_t at = all.size();
    const auto begin = std::chrono::steady_clock::now();
    Results part = unlocked([&] {
      return work(std::span(lines).subspan(at, std::min(block, lines.size() - at)), static_cast<std::int64_t>(at));
    });
    std::move(part.begin(), part.end(), std::back_inserter(all));
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    if (taken.count() < 0.25) block = std::min<std::size_t>(block * 4, 4096);
    if (taken.count() > 1) block = std::max<std::size_t>(block / 2, 8);
  }
  return all;
}

/// One result for a single text, a list for a list; with n_best above 1 lists of so many.
template <class Result>
py::object as_asked(std::vector<std::vector<Result>> all, bool single, int n_best) {
  if (single) return n_best == 1 ? py::cast(std::move(all[0][0])) : py::cast(std::move(all[0]));
  if (n_best != 1) return py::cast(std::move(all));
  py::list out;
  for (auto& one : all) out.append(py::cast(std::move(one[0])));
  return out;
}

}  // namespace fovea::python

// Captioner and Completer.
#include <filesystem>

#include <pybind11/stl/filesystem.h>

#include "arrays.hpp"
#include "blocks.hpp"
#include "fovea/captioner.hpp"
#include "fovea/completer.hpp"
#include "records.hpp"

namespace fovea::python {
void bind_writers(py::module_& m) {
  py::class_<Caption>(m, "Caption", "One caption of a picture.")
      .def_readonly("text", &Caption::text)
      .def_readonly("score", &Caption::score)
      .def_readonly("log_probability", &Caption::log_probability)
      .def_readonly("tokens", &Caption::tokens)
      .def_readonly("rows", &Caption::rows)
      .def_readonly("columns", &Caption::columns)
      .def_property_readonly(
          "attention",
          [](const Caption& c) -> py::object {
            return c.attention.empty() ? py::none() : py::object(matrix_of(c.attention));
          },
          "[token, region], each row sums to 1; None of a model that does not attend.")
      .def("_repr_html_", [](const Caption& c) { return picture(c.record()); })
      .def("__repr__",
           [](const Caption& c) { return "Caption(" + py::repr(py::str(c.text)).cast<std::string>() + ")"; });
  py::class_<Captioner>(m, "Captioner", "A trained model of pictures.")
      .def(py::init([](const std::filesystem::path& folder) {
             return unlocked([&] { return std::make_unique<Captioner>(folder); });
           }),
           py::arg("model"))
      .def(
          "caption",
          [](const Captioner& c, const py::object& path, int beam, int n_best, bool attention, int max_length) {
            const bool single = !py::isinstance<py::list>(path) && !py::isinstance<py::tuple>(path);
            std::vector<std::string> places;
            const auto add = [&places](const py::handle& one) {
              places.push_back(py::str(one).cast<std::string>());  // a pathlib.Path too
            };
            if (single) {
              add(path);
            } else {
              for (const py::handle& one : path) add(one);
            }
            CaptionOptions how{.beam = beam, .n_best = n_best, .max_length = max_length, .attention = attention};
            auto all = in_blocks(places, [&](std::span<const std::string> part, std::int64_t first) {
              how.first_line = first;
              return c.captions(part, how);
            });
            return as_asked(std::move(all), single, n_best);
          },
          py::arg("path"), py::arg("beam") = 5, py::arg("n_best") = 1, py::arg("attention") = true,
          py::arg("max_length") = 40,
          "A Caption for a picture's path, a list of them for a list; with n_best above 1, lists of so many.");
  py::class_<Completion>(m, "Completion", "One continuation of a text.")
      .def_readonly("text", &Completion::text)
      .def_readonly("continuation", &Completion::continuation)
      .def_readonly("score", &Completion::score)
      .def_readonly("log_probability", &Completion::log_probability)
      .def_readonly("prompt_tokens", &Completion::prompt_tokens)
      .def_readonly("tokens", &Completion::tokens)
      .def_property_readonly(
          "attention",
          [](const Completion& c) {
            AttentionRecord record;
            record.maps = c.maps;
            return maps_of(record, AttentionKind::decoder);
          },
          "[layer, head, token, token] of the decoder's self-attention; None unless asked for.")
      .def("_repr_html_", [](const Completion& c) { return picture(c.record()); })
      .def("__repr__",
           [](const Completion& c) { return "Completion(" + py::repr(py::str(c.text)).cast<std::string>() + ")"; });
  py::class_<Completer>(m, "Completer", "A language model.")
      .def(py::init([](const std::filesystem::path& folder) {
             return unlocked([&] { return std::make_unique<Completer>(folder); });
           }),
           py::arg("model"))
      .def(
          "complete",
          [](const Completer& c, const py::object& text, int beam, int n_best, bool attention, int max_length,
             bool sample, float temperature, int top_k, float top_p, std::uint64_t seed) {
            const bool single = py::isinstance<py::str>(text);
            const std::vector<std::string> lines = texts_of(text);
            CompleteOptions how{.beam = beam,
                                .n_best = n_best,
                                .max_length = max_length,
                                .sample = sample,
                                .temperature = temperature,
                                .top_k = top_k,
                                .top_p = top_p,
                                .seed = seed,
                                .attention = attention};
            auto all = in_blocks(lines, [&](std::span<const std::string> part, std::int64_t first) {
              how.first_line = first;
              return c.complete(part, how);
            });
            return as_asked(std::move(all), single, n_best);
          },
          py::arg("text"), py::arg("beam") = 5, py::arg("n_best") = 1, py::arg("attention") = false,
          py::arg("max_length") = 50, py::arg("sample") = false, py::arg("temperature") = 1.0F, py::arg("top_k") = 0,
          py::arg("top_p") = 1.0F, py::arg("seed") = 1,
          "A Completion for a text, a list of them for a list; with n_best above 1, lists of so many.")
      .def(
          "score",
          [](const Completer& c, const std::vector<std::string>& texts) {
            return unlocked([&] { return c.score(texts); });
          },
          py::arg("texts"), "The log-probability of each text, with its end.");
}

}  // namespace fovea::python

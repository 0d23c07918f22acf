// Classifier and metrics.
#include <filesystem>

#include <pybind11/stl/filesystem.h>

#include "arrays.hpp"
#include "blocks.hpp"
#include "fovea/classifier.hpp"
#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/metrics.hpp"
#include "records.hpp"

namespace fovea::python {
namespace {

// One list of lines, or several of them.
References references_of(const py::handle& value) {
  if (py::isinstance<py::sequence>(value) && !py::isinstance<py::str>(value)) {
    const auto list = py::reinterpret_borrow<py::sequence>(value);
    if (list.size() > 0 && !py::isinstance<py::str>(list[0])) {
      References all;
      for (const py::handle& one : list) all.push_back(texts_of(one));
      return all;
    }
  }
  return {texts_of(value)};
}

}  // namespace

void bind_metrics(py::module_& m) {
  py::class_<Bleu>(m, "Bleu")
      .def_readonly("score", &Bleu::score)
      .def_readonly("precisions", &Bleu::precisions)
      .def_readonly("brevity_penalty", &Bleu::brevity_penalty)
      .def_readonly("signature", &Bleu::signature)
      .def("__repr__", [](const Bleu& b) {
        return "BLEU " + py::str(py::float_(b.score)).cast<std::string>() + " " + b.details();
      });
  py::class_<Chrf>(m, "Chrf")
      .def_readonly("score", &Chrf::score)
      .def_readonly("name", &Chrf::name)
      .def_readonly("signature", &Chrf::signature);
  py::class_<Ter>(m, "Ter")
      .def_readonly("score", &Ter::score)
      .def_readonly("edits", &Ter::edits)
      .def_readonly("signature", &Ter::signature);
  py::class_<Rouge::Figure>(m, "RougeFigure")
      .def_readonly("precision", &Rouge::Figure::precision)
      .def_readonly("recall", &Rouge::Figure::recall)
      .def_readonly("f1", &Rouge::Figure::f1);
  py::class_<Rouge>(m, "Rouge")
      .def_readonly("rouge_1", &Rouge::rouge_1)
      .def_readonly("rouge_2", &Rouge::rouge_2)
      .def_readonly("rouge_l", &Rouge::rouge_l)
      .def_property_readonly(
          "score", [](const Rouge& r) { return r.rouge_l.f1; }, "The F1 of ROUGE-L.");
  m.def(
      "bleu",
      [](const py::object& h, const py::object& r, const std::string& tokenize, bool lowercase) {
        const Lines lines = texts_of(h);
        const References references = references_of(r);
        return unlocked(
            [&] { return bleu(lines, references, {.tokenize = metric_tokenizer(tokenize), .lowercase = lowercase}); });
      },
      py::arg("hypotheses"), py::arg("references"), py::arg("tokenize") = "13a", py::arg("lowercase") = false,
      "BLEU as sacreBLEU 2 computes it. References: a list of lines, or several such lists.");
  m.def(
      "chrf",
      [](const py::object& h, const py::object& r, int word_order, bool lowercase) {
        const Lines lines = texts_of(h);
        const References references = references_of(r);
        return unlocked([&] { return chrf(lines, references, {.word_order = word_order, .lowercase = lowercase}); });
      },
      py::arg("hypotheses"), py::arg("references"), py::arg("word_order") = 0, py::arg("lowercase") = false,
      "chrF; chrF++ with a word order of 2.");
  m.def(
      "ter",
      [](const py::object& h, const py::object& r, bool case_sensitive) {
        const Lines lines = texts_of(h);
        const References references = references_of(r);
        return unlocked([&] { return ter(lines, references, case_sensitive); });
      },
      py::arg("hypotheses"), py::arg("references"), py::arg("case_sensitive") = false, "Translation edit rate.");
  m.def(
      "rouge",
      [](const py::object& h, const py::object& r, bool stem) {
        const Lines lines = texts_of(h);
        const References references = references_of(r);
        return unlocked([&] { return rouge(lines, references, {.stem = stem}); });
      },
      py::arg("hypotheses"), py::arg("references"), py::arg("stem") = false, "ROUGE-1, ROUGE-2 and ROUGE-L.");
}

void bind_tasks(py::module_& m) {
  py::class_<Classification>(m, "Classification", "What a text was classified as.")
      .def_readonly("label", &Classification::label)
      .def_readonly("probability", &Classification::probability)
      .def_readonly("probabilities", &Classification::probabilities)
      .def_readonly("tokens", &Classification::tokens)
      .def_property_readonly("attention",
                             [](const Classification& c) -> py::object {
                               if (c.attention.empty()) return py::none();
                               return py::array_t<float>(static_cast<py::ssize_t>(c.attention.size()),
                                                         c.attention.data());
                             })
      .def("_repr_html_", [](const Classification& c) { return picture(c.record()); })
      .def("__repr__", [](const Classification& c) {
        return "Classification(" + py::repr(py::str(c.label)).cast<std::string>() + ")";
      });
  py::class_<Classifier>(m, "Classifier", "A trained classifier.")
      .def(py::init([](const std::filesystem::path& folder) {
             return unlocked([&] { return std::make_unique<Classifier>(folder); });
           }),
           py::arg("model"))
      .def(
          "classify",
          [](const Classifier& c, const py::object& text) -> py::object {
            if (py::isinstance<py::str>(text)) {
              const auto line = text.cast<std::string>();
              return py::cast(unlocked([&] { return c.classify(line); }));
            }
            const std::vector<std::string> lines = texts_of(text);
            return py::cast(
                in_blocks(lines, [&](std::span<const std::string> part, std::int64_t) { return c.classify(part); }));
          },
          py::arg("text"))
      .def_property_readonly("labels", &Classifier::labels);
  m.def(
      "import_model",
      [](const std::filesystem::path& source, const std::filesystem::path& model) {
        return unlocked([&] { return import_model(source, model); }).found;
      },
      py::arg("source"), py::arg("model"), "Makes a model folder of another program's model; says what it was.");
  m.def(
      "export_model",
      [](const std::filesystem::path& model, const std::string& to, const std::filesystem::path& out) {
        const ExportFormat format = export_format(to);
        unlocked([&] {
          export_model(model, format, out);
          return 0;
        });
      },
      py::arg("model"), py::arg("to"), py::arg("out"),
      "Writes a model folder for another program: to is ctranslate2, huggingface or onnx.");
}

}  // namespace fovea::python

// Translator, Classifier, metrics and training.
#include <filesystem>

#include <pybind11/stl/filesystem.h>

#include "arrays.hpp"
#include "blocks.hpp"
#include "cli/train/train_options.hpp"
#include "fovea/chat.hpp"
#include "fovea/classifier.hpp"
#include "fovea/error.hpp"
#include "fovea/interop.hpp"
#include "fovea/metrics.hpp"
#include "fovea/translator.hpp"
#include "records.hpp"

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
  bool wants_stop() override {
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
  py::class_<Translation>(m, "Translation", "One output for one line.")
      .def_readonly("text", &Translation::text)
      .def_readonly("score", &Translation::score)
      .def_readonly("log_probability", &Translation::log_probability)
      .def_readonly("source_tokens", &Translation::source_tokens)
      .def_readonly("target_tokens", &Translation::target_tokens)
      .def_property_readonly(
          "attention",
          [](const Translation& t) -> py::object {
            return t.attention.empty() ? py::none() : py::object(matrix_of(t.attention));
          },
          "[target, source], the mean of layers and heads; None unless asked for.")
      .def_property_readonly(
          "cross", [](const Translation& t) { return maps_of(t.record(), AttentionKind::cross); },
          "[layer, head, target, source]; None unless `kinds` asked for it.")
      .def_property_readonly(
          "encoder", [](const Translation& t) { return maps_of(t.record(), AttentionKind::encoder); },
          "[layer, head, source, source]; None unless `kinds` asked for it.")
      .def_property_readonly(
          "decoder", [](const Translation& t) { return maps_of(t.record(), AttentionKind::decoder); },
          "[layer, head, target, target]; None unless `kinds` asked for it.")
      .def("_repr_html_", [](const Translation& t) { return picture(t.record()); })
      .def("__repr__",
           [](const Translation& t) { return "Translation(" + py::repr(py::str(t.text)).cast<std::string>() + ")"; });
  py::class_<TranslationTrace>(m, "TranslationTrace", "An output and every layer and head that made it.")
      .def_readonly("translation", &TranslationTrace::translation)
      .def_property_readonly(
          "cross", [](const TranslationTrace& t) { return maps_of(t.attention, AttentionKind::cross); },
          "[layer, head, target, source]")
      .def_property_readonly(
          "encoder", [](const TranslationTrace& t) { return maps_of(t.attention, AttentionKind::encoder); },
          "[layer, head, source, source]")
      .def_property_readonly(
          "decoder", [](const TranslationTrace& t) { return maps_of(t.attention, AttentionKind::decoder); },
          "[layer, head, target, target]")
      .def("_repr_html_", [](const TranslationTrace& t) { return picture(t.attention); });
  py::class_<Translator>(m, "Translator", "A model loaded for use, or several that write together.")
      .def(py::init([](const py::object& folder) {
             std::vector<std::filesystem::path> folders;
             if (py::isinstance<py::list>(folder) || py::isinstance<py::tuple>(folder)) {
               folders = folder.cast<std::vector<std::filesystem::path>>();
             } else {
               folders.push_back(folder.cast<std::filesystem::path>());
             }
             return unlocked([&] { return std::make_unique<Translator>(folders); });
           }),
           py::arg("model"))
      .def(
          "translate",
          [](const Translator& t, const py::object& text, int beam, int n_best, bool attention, float length_penalty,
             int min_length, int max_length, int no_repeat_ngram, bool sample, float temperature, int top_k,
             float top_p, std::uint64_t seed, bool replace_unknown, bool words,
             const std::vector<std::string>& kinds) -> py::object {
            const bool single = py::isinstance<py::str>(text);
            const std::vector<std::string> lines = texts_of(text);
            TranslateOptions how;
            how.beam = beam;
            how.n_best = n_best;
            how.attention = attention;
            how.length_penalty = length_penalty;
            how.min_length = min_length;
            how.max_length = max_length;
            how.no_repeat_ngram = no_repeat_ngram;
            how.sample = sample;
            how.temperature = temperature;
            how.top_k = top_k;
            how.top_p = top_p;
            how.seed = seed;
            how.replace_unknown = replace_unknown;
            how.merge_words = words;
            for (const std::string& kind : kinds) how.kinds.push_back(attention_kind(kind));
            t.check(how);
            // Blocks as large as the binary's: smaller ones would leave threads without work at the end of each.
            constexpr std::size_t block = 4096;
            Interrupts interrupts;
            how.stop = [&] { return interrupts.pending(); };
            std::vector<std::vector<Translation>> all;
            while (all.size() < lines.size()) {
              const auto part = std::span(lines).subspan(all.size(), std::min(block, lines.size() - all.size()));
              how.first_line = static_cast<std::int64_t>(all.size());
              auto done = unlocked([&] { return t.translate(part, how); });
              interrupts.raise();
              std::move(done.begin(), done.end(), std::back_inserter(all));
            }
            return as_asked(std::move(all), single, n_best);
          },
          py::arg("text"), py::arg("beam") = 5, py::arg("n_best") = 1, py::arg("attention") = false,
          py::arg("length_penalty") = 1.0F, py::arg("min_length") = 0, py::arg("max_length") = 0,
          py::arg("no_repeat_ngram") = 0, py::arg("sample") = false, py::arg("temperature") = 1.0F,
          py::arg("top_k") = 0, py::arg("top_p") = 1.0F, py::arg("seed") = 1, py::arg("replace_unknown") = false,
          py::arg("words") = false, py::arg("kinds") = std::vector<std::string>(),
          "A Translation for a text, a list of them for a list; with n_best above 1, lists of so many.")
      .def(
          "trace",
          [](const Translator& t, const std::string& text, int beam) {
            TranslateOptions how;
            how.beam = beam;
            how.kinds = {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder};
            return unlocked([&] { return t.trace(text, how); });
          },
          py::arg("text"), py::arg("beam") = 5, "The best output with the attention of every layer and head.")
      .def(
          "score",
          [](const Translator& t, const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
            return unlocked([&] { return t.score(sources, targets); });
          },
          py::arg("sources"), py::arg("targets"), "The log-probability of each target.");
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
  py::class_<Chat>(m, "Chat", "Keeps the turns of one conversation, as many as its model reads.")
      .def(py::init([](const std::filesystem::path& folder, int beam, bool sample, float temperature, float top_p,
                       std::uint64_t seed) {
             ChatOptions how;
             how.beam = beam;
             how.sample = sample;
             how.temperature = temperature;
             how.top_p = top_p;
             how.seed = seed;
             return unlocked([&] { return std::make_unique<Chat>(folder, how); });
           }),
           py::arg("model"), py::arg("beam") = 5, py::arg("sample") = false, py::arg("temperature") = 1.0F,
           py::arg("top_p") = 1.0F, py::arg("seed") = 1)
      .def(
          "reply", [](Chat& chat, const std::string& text) { return unlocked([&] { return chat.reply(text); }); },
          py::arg("text"))
      .def("reset", &Chat::reset)
      .def_property_readonly("turns", &Chat::turns)
      .def_property_readonly(
          "last", [](const Chat& chat) { return chat.last(); }, "The last reply, as a Translation.");
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

void bind_training(py::module_& m) {
  m.def(
      "_train",
      [](const std::vector<std::string>& options, const py::object& on_report) {
        Watcher watcher(on_report);
        Trainer::End end = Trainer::End::limit;
        {
          const py::gil_scoped_release released;
          end = cli::train_with_options(options, watcher);
        }
        watcher.raise();
        return end == Trainer::End::limit ? "limit" : end == Trainer::End::patience ? "patience" : "stopped";
      },
      py::arg("options"), py::arg("on_report"));
}

}  // namespace fovea::python

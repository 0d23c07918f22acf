// Translator, Chat, Captioner and Completer: models that write text, with one result type and one set of options.
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <type_traits>

#include "arrays.hpp"
#include "blocks.hpp"
#include "fovea/captioner.hpp"
#include "fovea/chat.hpp"
#include "fovea/completer.hpp"
#include "fovea/error.hpp"
#include "fovea/translator.hpp"
#include "records.hpp"
#include "tasks/generation/options.hpp"
#include "tasks/interventions_file.hpp"

namespace fovea::python {
namespace {

Interventions interventions_of(const py::handle& value) {
  const auto text = py::module_::import("json").attr("dumps")(value).cast<std::string>();
  const InterventionsFile file = parse_interventions(text, "interventions");
  for (const InterventionsFile::One& one : file.all) {
    if (one.line) throw UsageError("interventions: line is for files; here they are of every line");
  }
  return file.of_line(1);
}

void set_option(const py::handle& value, Interventions& field) {
  field = interventions_of(value);
}
void set_option(const py::handle& value, std::vector<AttentionKind>& field) {
  field.clear();
  for (const auto& name : value.cast<std::vector<std::string>>()) field.push_back(attention_kind(name));
}
template <class Value>
void set_option(const py::handle& value, Value& field) {
  field = value.cast<Value>();
}

// Keyword arguments as options, by their names. Throws TypeError for a name or a type that does not exist.
GenerateOptions options_of(const py::kwargs& given, const char* function) {
  GenerateOptions options;
  std::size_t used = 0;
  each_generate_option([&](const TaskOption& option, auto field) {
    const std::string name(option.name);
    if (!given.contains(name.c_str())) return;
    ++used;
    try {
      set_option(given[name.c_str()], options.*field);
    } catch (const py::cast_error&) {
      const py::str type = py::type::handle_of(given[name.c_str()]).attr("__name__");
      throw py::type_error(name + ": not possible as " + type.cast<std::string>());
    }
  });
  if (used == given.size()) return options;
  for (const auto& [name, value] : given) {
    const auto text = name.cast<std::string>();
    bool known = false;
    each_generate_option([&](const TaskOption& option, auto) { known = known || option.name == text; });
    if (!known) throw py::type_error(std::string(function) + "() got an unexpected keyword argument '" + text + "'");
  }
  return options;
}

// Names and defaults of the options that a task takes, for help().
std::string signature(const char* start, Task task) {
  std::string text = std::string(start) + "\n\nOptions:";
  each_generate_option([&](const TaskOption& option, auto) {
    if (option.tasks.has(task)) text += "\n    " + std::string(option.name) + ": " + std::string(option.help);
  });
  return text;
}

void bind_results(py::module_& m) {
  py::class_<Generated>(m, "Generated", "An output of a model that writes text.")
      .def_readonly("text", &Generated::text)
      .def_readonly("continuation", &Generated::continuation, "Of a completion, what follows the given text.")
      .def_readonly("score", &Generated::score)
      .def_readonly("log_probability", &Generated::log_probability)
      .def_readonly("ids", &Generated::ids)
      .def_readonly("ended", &Generated::ended, "False: a completion that was cut off at max_length.")
      .def_readonly("copied", &Generated::copied)
      .def_readonly("attention", &Generated::attention)
      .def_readonly("error", &Generated::error, "Why there is no output, with skip_unreadable.")
      .def("_repr_html_", [](const Generated& g) { return picture(g.attention); })
      .def("__repr__",
           [](const Generated& g) { return "Generated(" + py::repr(py::str(g.text)).cast<std::string>() + ")"; });
  py::class_<GenerationTrace>(m, "GenerationTrace", "An output and the search that found it.")
      .def_readonly("output", &GenerationTrace::output)
      .def("_repr_html_", [](const GenerationTrace& t) { return picture(t.output.attention); });
}

// The outputs of all lines, a block at a time; an interrupt ends the work between two batches.
template <class Write>
py::object generate(const std::vector<std::string>& lines, bool single, const GenerateOptions& how,
                    const Write& write) {
  constexpr std::size_t block = 4096;  // as large as the binary's: smaller ones would leave threads idle at their ends
  Interrupts interrupts;
  std::vector<std::vector<Generated>> all;
  while (all.size() < lines.size()) {
    const auto part = std::span(lines).subspan(all.size(), std::min(block, lines.size() - all.size()));
    const GenerateCall call{.first_line = static_cast<std::int64_t>(all.size()),
                            .stop = [&] { return interrupts.pending(); }};
    auto done = unlocked([&] { return write(part, how, call); });
    interrupts.raise();
    std::move(done.begin(), done.end(), std::back_inserter(all));
  }
  return as_asked(std::move(all), single, how.n_best);
}

void bind_translator(py::module_& m) {
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
          [](const Translator& t, const py::object& text, const py::kwargs& options) {
            const GenerateOptions how = options_of(options, "translate");
            t.check(how);
            return generate(texts_of(text), py::isinstance<py::str>(text), how,
                            [&t](const auto&... all) { return t.translate(all...); });
          },
          py::arg("text"),
          signature("A Generated for a text, a list of them for a list; with n_best above 1, lists of so many.",
                    Task::generate)
              .c_str())
      .def(
          "trace",
          [](const Translator& t, const std::string& text, const py::kwargs& options) {
            GenerateOptions how = options_of(options, "trace");
            if (how.kinds.empty()) how.kinds = {AttentionKind::cross, AttentionKind::encoder, AttentionKind::decoder};
            return unlocked([&] { return t.trace(text, how); });
          },
          py::arg("text"), "The best output with the attention of every layer and head. Options as translate().")
      .def(
          "score",
          [](const Translator& t, const std::vector<std::string>& sources, const std::vector<std::string>& targets) {
            return unlocked([&] { return t.score(sources, targets); });
          },
          py::arg("sources"), py::arg("targets"), "The log-probability of each target.");
}

void bind_chat(py::module_& m) {
  py::class_<Chat>(m, "Chat", "Keeps the turns of one conversation, as many as its model reads.")
      .def(py::init([](const std::filesystem::path& folder, const py::kwargs& options) {
             const GenerateOptions how = options_of(options, "Chat");
             return unlocked([&] { return std::make_unique<Chat>(folder, how); });
           }),
           py::arg("model"), signature("Options hold for every reply.", Task::chat).c_str())
      .def(
          "reply", [](Chat& chat, const std::string& text) { return unlocked([&] { return chat.reply(text); }); },
          py::arg("text"))
      .def("reset", &Chat::reset)
      .def_property_readonly("turns", &Chat::turns)
      .def_property_readonly(
          "last", [](const Chat& chat) { return chat.last(); }, "The last reply, as a Generated.");
}

void bind_captioner(py::module_& m) {
  py::class_<Captioner>(m, "Captioner", "A trained model of pictures.")
      .def(py::init([](const std::filesystem::path& folder) {
             return unlocked([&] { return std::make_unique<Captioner>(folder); });
           }),
           py::arg("model"))
      .def(
          "caption",
          [](const Captioner& c, const py::object& path, const py::kwargs& options) {
            const bool single = !py::isinstance<py::list>(path) && !py::isinstance<py::tuple>(path);
            std::vector<std::string> places;
            for (const py::handle& one : single ? py::object(py::make_tuple(path)) : path) {
              places.push_back(py::str(one).cast<std::string>());  // of a pathlib.Path too
            }
            const GenerateOptions how = options_of(options, "caption");
            c.check(how);
            return generate(places, single, how, [&c](const auto&... all) { return c.captions(all...); });
          },
          py::arg("path"),
          signature("A Generated for a picture's path, a list of them for a list; with n_best above 1, lists of so "
                    "many.",
                    Task::caption)
              .c_str());
}

void bind_completer(py::module_& m) {
  py::class_<Completer>(m, "Completer", "A language model.")
      .def(py::init([](const std::filesystem::path& folder) {
             return unlocked([&] { return std::make_unique<Completer>(folder); });
           }),
           py::arg("model"))
      .def(
          "complete",
          [](const Completer& c, const py::object& text, const py::kwargs& options) {
            const GenerateOptions how = options_of(options, "complete");
            c.check(how);
            return generate(texts_of(text), py::isinstance<py::str>(text), how,
                            [&c](const auto&... all) { return c.complete(all...); });
          },
          py::arg("text"),
          signature("A Generated for a text, a list of them for a list; with n_best above 1, lists of so many.",
                    Task::complete)
              .c_str())
      .def(
          "score",
          [](const Completer& c, const std::vector<std::string>& texts) {
            return unlocked([&] { return c.score(texts); });
          },
          py::arg("texts"), "The log-probability of each text, with its end.");
}

}  // namespace

void bind_generation(py::module_& m) {
  bind_records(m);
  bind_results(m);
  bind_translator(m);
  bind_chat(m);
  bind_captioner(m);
  bind_completer(m);
}

}  // namespace fovea::python

// Which task takes which option: the one table that the library, the command line, Python and the server read.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "fovea/generate_options.hpp"
#include "fovea/model/config.hpp"

namespace fovea {

/// Some of the tasks.
class TaskSet {
 public:
  constexpr TaskSet(std::initializer_list<Task> tasks) {
    for (const Task task : tasks) bits_ |= 1U << static_cast<unsigned>(task);
  }
  [[nodiscard]] constexpr bool has(Task task) const { return (bits_ >> static_cast<unsigned>(task) & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

inline constexpr TaskSet reading_tasks{Task::generate, Task::chat};  // those that read and write text
inline constexpr TaskSet source_tasks{Task::generate, Task::chat, Task::caption};
inline constexpr TaskSet writing_tasks{Task::generate, Task::chat, Task::caption, Task::complete};
inline constexpr TaskSet all_tasks{Task::generate, Task::chat, Task::caption, Task::complete, Task::classify};

/// An option and the tasks that take it.
struct TaskOption {
  std::string_view name;         // of the field, in C++, Python and the server's JSON
  TaskSet tasks;                 // that take it
  std::string_view help;         // for --help
  std::string_view option = {};  // the command line's name where it is not the field's

  [[nodiscard]] std::string command_line_name() const;  // with its dashes
  /// Throws UsageError "SHOWN: …" unless the task takes it.
  void check(Task task, std::string_view shown) const;
};

/// Calls visit(option, &GenerateOptions::field) for each field.
template <class Visit>
void each_generate_option(const Visit& visit) {
  using O = GenerateOptions;
  visit(TaskOption{"beam", writing_tasks, "hypotheses kept; 1: greedy"}, &O::beam);
  visit(TaskOption{"length_penalty", writing_tasks, "rank by log-probability / length^X"}, &O::length_penalty);
  visit(TaskOption{"coverage_penalty", source_tasks, "rank outputs lower that attend little to some source tokens"},
        &O::coverage_penalty);
  visit(TaskOption{"n_best", writing_tasks, "outputs per line, each on a line of its own"}, &O::n_best);
  visit(TaskOption{"min_length", writing_tasks, "tokens before the end of sequence may come"}, &O::min_length);
  visit(TaskOption{"max_length", writing_tasks,
                   "most tokens; default: twice the source and 20, of a picture 40, of a language model 50, of a reply "
                   "in fovea chat 60"},
        &O::max_length);
  visit(TaskOption{"no_repeat_ngram", writing_tasks,
                   "no N tokens in a row occur twice; 0: they may; default: 0, in fovea chat 3"},
        &O::no_repeat_ngram);
  visit(TaskOption{"repetition_penalty", writing_tasks,
                   "multiply the log-probability of tokens that the output has already; 1: no change"},
        &O::repetition_penalty);
  visit(TaskOption{"sample", writing_tasks, "sample each token instead of taking the best"}, &O::sample);
  visit(TaskOption{"temperature", writing_tasks, "of the sampling"}, &O::temperature);
  visit(TaskOption{"top_k", writing_tasks, "sample among the N likeliest; 0: all"}, &O::top_k);
  visit(TaskOption{"top_p", writing_tasks, "sample among the likeliest with this probability together"}, &O::top_p);
  visit(TaskOption{"seed", writing_tasks, "of the sampling"}, &O::seed);
  visit(TaskOption{"scores", all_tasks,
                   "score, tab, output; of a classifier, every label and its probability, best first"},
        &O::scores);
  visit(TaskOption{"attention", all_tasks, "file for source, target and weights: JSON lines"}, &O::attention);
  visit(TaskOption{"kinds", all_tasks,
                   "whose attention: cross (target to source), encoder (source to itself), decoder (target to itself), "
                   "pooling (of a classifier) or all, which also writes every layer and head",
                   "kind"},
        &O::kinds);
  visit(TaskOption{"layer", writing_tasks, "attention of this decoder layer; default: the mean of all"}, &O::layer);
  visit(TaskOption{"head", writing_tasks, "attention of this head; default: the mean of all"}, &O::head);
  visit(TaskOption{"top_weights", writing_tasks,
                   "only the N largest weights of each query in attention by layer and head; default: all, and 32 of "
                   "lines over 1,024 tokens"},
        &O::top_weights);
  visit(TaskOption{"merge_words", writing_tasks, "attention and alignments between words instead of tokens", "words"},
        &O::merge_words);
  visit(TaskOption{"replace_unknown", reading_tasks, "write the source token an unknown one attended to most"},
        &O::replace_unknown);
  visit(TaskOption{"skip_unreadable", all_tasks, "an empty output for an input that cannot be read"},
        &O::skip_unreadable);
  visit(TaskOption{"batch_tokens", all_tasks, "input tokens that a thread works on together at most"},
        &O::batch_tokens);
  visit(TaskOption{"interventions", reading_tasks,
                   "file of edges cut or forced, heads silenced, tokens masked or swapped while the model runs (JSON)",
                   "intervene"},
        &O::interventions);
}

/// Options of fovea run that are not in GenerateOptions.
inline constexpr TaskOption run_only_options[] = {
    {"top", {Task::classify}, "the N likeliest labels and their probabilities (classifier)"},
    {"strict", {Task::caption}, "end at the first picture that cannot be read, instead of a warning"},
    {"saliency",
     {Task::classify},
     "also what each token says for and against the 10 likeliest labels, by gradient times input, into the "
     "attention file (classifier)"},
    {"alignments", reading_tasks, "file of pairs i-j: source token i, target token j"},
    {"all_heads", all_tasks, "write every layer and head to the attention file too, a line at a time"},
    {"shortlist", source_tasks, "write only tokens that the folder's shortlist has for a line's own"},
};

/// Throws UsageError naming the first option that is not at its default and that the task does not take.
void check_task_options(Task task, const GenerateOptions& options);

// The options with the defaults that a task has of its own.
[[nodiscard]] GenerateOptions completion_options(GenerateOptions options);
[[nodiscard]] GenerateOptions caption_options(GenerateOptions options, std::int64_t regions);  // of a picture
[[nodiscard]] GenerateOptions reply_options(GenerateOptions options);                          // of Chat

}  // namespace fovea

// The options of a request, by the names that GenerateOptions has.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/error.hpp"
#include "fovea/generate_options.hpp"
#include "fovea/model/config.hpp"
#include "server/http/fields.hpp"

namespace fovea::server {

/// Sets the options that a request gives, except `own`, which the route reads by itself. Throws Refusal 400 naming a
/// parameter that the task does not take, that this interface does not offer, or that is out of range.
void read_options(const Fields& fields, Task task, GenerateOptions& options,
                  std::initializer_list<std::string_view> own = {});

/// The same for a model, with what it cannot do.
template <class Model>
void read_model_options(const Fields& fields, const Model& model, GenerateOptions& options,
                        std::initializer_list<std::string_view> own = {}) {
  read_options(fields, model.task(), options, own);
  try {
    model.check(options);
  } catch (const UsageError& error) {
    throw Refusal(400, std::string("Invalid request: ") + error.what());
  }
}

/// An option that requests may give.
struct OfferedOption {
  std::string name, type, help;  // the type as Swagger has it
};
/// The options that read_options() reads for a task.
[[nodiscard]] std::vector<OfferedOption> offered_options(Task task);

}  // namespace fovea::server

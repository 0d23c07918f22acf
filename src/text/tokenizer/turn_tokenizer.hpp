// The turns of a conversation as one sequence of tokens.
#pragma once

#include <memory>

#include "fovea/text.hpp"

namespace fovea::text {

/// Turns are separated by tabs, the oldest first. Each is cut by `inner`; <s> separates two turns. Turns without text
/// are left out, and so are all but the last `most`.
///
///     turn_tokenizer(words, 5)->encode("hello\tgood morning");  // hello <s> good morning
[[nodiscard]] std::shared_ptr<const Tokenizer> turn_tokenizer(std::shared_ptr<const Tokenizer> inner, int most);

}  // namespace fovea::text

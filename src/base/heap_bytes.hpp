// How much heap memory a value owns.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

namespace fovea {

/// 0 for a string that is stored inside its object.
[[nodiscard]] inline std::size_t heap_bytes(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

/// Elements that own memory themselves need a heap_bytes() in their namespace.
template <class T>
[[nodiscard]] std::size_t heap_bytes(const std::vector<T>& list) {
  std::size_t bytes = list.capacity() * sizeof(T);
  if constexpr (!std::is_trivially_copyable_v<T>) {
    for (const T& one : list) bytes += heap_bytes(one);
  }
  return bytes;
}

/// An estimate: a node of a map counts as its entry and four words.
template <class T>
[[nodiscard]] std::size_t heap_bytes(const std::map<std::string, T>& map) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : map) {
    bytes += sizeof(key) + sizeof(value) + 4 * sizeof(void*) + heap_bytes(key);
    if constexpr (!std::is_trivially_copyable_v<T>) bytes += heap_bytes(value);
  }
  return bytes;
}

}  // namespace fovea

// Texts by their bytes, to find all of them that a text begins with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace fovea::text {

/// A trie whose edges are in one hash table. It is built in one pass over the texts, while a double array needs a
/// search for free places. Texts hold no NUL.
class ByteTrie {
 public:
  static constexpr std::int32_t root = 0;
  static constexpr std::int32_t none = -1;
  static constexpr std::size_t most = std::size_t{1} << 23;  // bytes of all texts together

  ByteTrie() = default;
  /// With room for texts of so many bytes together. Many begin alike, so the table is far from full.
  explicit ByteTrie(std::size_t bytes) {
    while (capacity() < bytes + bytes / 4) --shift_;
    edges_.resize(capacity());
    values_.push_back(none);
  }

  /// False if the text is there already.
  bool insert(std::string_view text, std::int32_t value) {
    std::int32_t node = root;
    for (const char byte : text) {
      Edge& edge = find(key(node, byte));
      if (edge.key == 0) {
        edge = {key(node, byte), static_cast<std::int32_t>(values_.size())};
        values_.push_back(none);
      }
      node = edge.to;
    }
    std::int32_t& held = values_[static_cast<std::size_t>(node)];
    if (held != none) return false;
    held = value;
    return true;
  }

  /// The node behind `node` by one byte, or none.
  [[nodiscard]] std::int32_t next(std::int32_t node, char byte) const {
    const Edge& edge = const_cast<ByteTrie*>(this)->find(key(node, byte));
    return edge.key == 0 ? none : edge.to;
  }
  /// Of the text that ends at a node; none if there is no such text.
  [[nodiscard]] std::int32_t value(std::int32_t node) const { return values_[static_cast<std::size_t>(node)]; }

 private:
  struct Edge {
    std::uint32_t key = 0;  // no text holds a NUL, so none has this key
    std::int32_t to = 0;
  };

  static std::uint32_t key(std::int32_t node, char byte) {
    return static_cast<std::uint32_t>(node) << 8 | static_cast<unsigned char>(byte);
  }
  [[nodiscard]] std::size_t capacity() const { return std::size_t{1} << (32 - shift_); }
  // Where the key is, or would be.
  Edge& find(std::uint32_t wanted) {
    for (std::size_t at = (wanted * 0x9E3779B1U) >> shift_;; at = (at + 1) & (edges_.size() - 1)) {
      if (edges_[at].key == wanted || edges_[at].key == 0) return edges_[at];
    }
  }

  int shift_ = 28;
  std::vector<Edge> edges_;
  std::vector<std::int32_t> values_;  // by node
};

}  // namespace fovea::text

// The part of Python's pickle format that a saved dictionary of tensors needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace fovea::interop {

/// A value of a pickle. Others are named by their number in Pickle::values.
struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, list, dictionary, global, storage, tensor, mark };
  Kind kind = Kind::none;
  std::int64_t integer = 0;            // of booleans too
  std::string text{};                  // or the name of a global, "torch FloatStorage"
  std::vector<std::uint32_t> items{};  // of a list or tuple; keys and values in turn; parts of a storage or tensor
};

/// Values by number. Nothing is executed: globals are names, and only the calls that make ordered dictionaries and
/// tensors are understood.
///
/// A storage has the parts of its persistent id: "storage", type, key, place, numbers. A tensor has those of
/// torch._utils._rebuild_tensor_v2: storage, offset, sizes, strides …
struct Pickle {
  std::vector<PickleValue> values;
  std::uint32_t top = 0;

  [[nodiscard]] const PickleValue& operator[](std::uint32_t i) const { return values[i]; }
};

/// Throws FileError, beginning with `where`, for a damaged pickle and for one that names anything else than data.
[[nodiscard]] Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where);

}  // namespace fovea::interop

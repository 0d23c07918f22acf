// The part of Python's pickle format that saved tensors, and the options and vocabularies beside them, need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::interop {

/// A value of a pickle. Others are named by their number in Pickle::values.
struct PickleValue {
  enum class Kind { none, boolean, integer, real, text, list, dictionary, global, storage, tensor, object, mark };
  Kind kind = Kind::none;
  std::int64_t integer = 0;            // of booleans too
  std::string text{};                  // or the name of a global or of an object's class, "torch FloatStorage"
  std::vector<std::uint32_t> items{};  // of a list or tuple; keys and values in turn; the parts of anything else
};

/// Values by number; nothing is executed: globals are names, and of calls only those that make dictionaries and tensors
/// are understood. What any other call of a name that is known would make is an object: that name and what was given.
///
/// A storage has the parts of its persistent id: "storage", type, key, place, numbers. A tensor has those of
/// torch._utils._rebuild_tensor_v2: storage, offset, sizes, strides … An object has its arguments and, if it has any,
/// its attributes.
struct Pickle {
  std::vector<PickleValue> values;
  std::uint32_t top = 0;

  [[nodiscard]] const PickleValue& operator[](std::uint32_t i) const { return values[i]; }
  /// What stands under a key of a dictionary, or is an object's attribute of this name; null: nothing.
  [[nodiscard]] const PickleValue* find(const PickleValue& in, std::string_view name) const;
};

/// Throws FileError, beginning with `where`, for what is damaged or asks for anything else than data.
[[nodiscard]] Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where);

}  // namespace fovea::interop

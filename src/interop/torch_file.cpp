#include <fmt/format.h>

#include <map>

#include "fovea/error.hpp"
#include "interop/files.hpp"
#include "interop/pickle.hpp"
#include "interop/zip.hpp"

namespace fovea::interop {
namespace {

using Kind = PickleValue::Kind;

struct StorageType {
  const char* name;
  ForeignType type;
};
constexpr StorageType kStorages[] = {
    {"torch FloatStorage", ForeignType::f32}, {"torch DoubleStorage", ForeignType::f64},
    {"torch HalfStorage", ForeignType::f16},  {"torch BFloat16Storage", ForeignType::bf16},
    {"torch LongStorage", ForeignType::i64},  {"torch IntStorage", ForeignType::i32},
    {"torch ShortStorage", ForeignType::i16}, {"torch CharStorage", ForeignType::i8},
    {"torch ByteStorage", ForeignType::u8},   {"torch BoolStorage", ForeignType::u8},
};

std::vector<std::uint64_t> sizes_of(const Pickle& pickle, std::uint32_t list, const std::string& where) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint32_t i : pickle[list].items) {
    if (pickle[i].kind != Kind::integer || pickle[i].integer < 0) throw FileError(where + ": a size is no number");
    sizes.push_back(static_cast<std::uint64_t>(pickle[i].integer));
  }
  return sizes;
}

ForeignTensors::Item tensor_of(const Pickle& pickle, const PickleValue& value,
                               const std::map<std::string, ZipEntry>& files, const std::string& where) {
  const PickleValue& storage = pickle[value.items[0]];
  if (storage.kind != Kind::storage) throw FileError(where + ": it has no storage");
  const std::string& type_name = pickle[storage.items[1]].text;
  const StorageType* type = nullptr;
  for (const StorageType& known : kStorages) {
    if (type_name == known.name) type = &known;
  }
  if (type == nullptr) throw FileError(fmt::format("{}: its type \"{}\" is not known", where, type_name));
  const auto file = files.find(pickle[storage.items[2]].text);
  if (file == files.end()) throw FileError(fmt::format("{}: its data is missing", where));
  const auto sizes = sizes_of(pickle, value.items[2], where);
  const auto strides = sizes_of(pickle, value.items[3], where);
  ForeignTensors::Item item{.type = type->type, .shape = checked_shape(sizes, where), .owner = file->second.owner};
  std::uint64_t expected = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    if (axis >= strides.size() || (sizes[axis] > 1 && strides[axis] != expected)) {
      throw FileError(where + ": its numbers must be stored row by row");
    }
    expected *= sizes[axis];
  }
  const auto& all = file->second.bytes;
  const std::int64_t offset = pickle[value.items[1]].integer;
  const std::size_t width = bytes_of(item.type);
  const auto needed = static_cast<std::uint64_t>(item.shape.size()) * width;
  if (offset < 0 || static_cast<std::uint64_t>(offset) > all.size() / width ||
      needed > all.size() - static_cast<std::uint64_t>(offset) * width) {
    throw FileError(where + ": it is larger than its data");
  }
  item.bytes = all.subspan(static_cast<std::size_t>(offset) * width, needed);
  return item;
}

}  // namespace

ForeignTensors read_torch(const FileBytes& file) {
  ForeignTensors tensors(file.name);
  const ZipEntry* pickled = nullptr;
  std::map<std::string, ZipEntry> storages;
  const auto entries = read_zip(file.bytes, file.owner, file.name);
  for (const ZipEntry& entry : entries) {
    const std::size_t slash = entry.name.rfind('/');
    const std::string name = slash == std::string::npos ? entry.name : entry.name.substr(slash + 1);
    if (name == "data.pkl") pickled = &entry;
    if (entry.name.find("/data/") != std::string::npos) storages.emplace(name, entry);
  }
  if (pickled == nullptr) tensors.fail("has no data.pkl; only PyTorch's zip format (1.6 and later) is read");
  const Pickle pickle = read_pickle(pickled->bytes, file.name);
  const PickleValue& top = pickle[pickle.top];
  if (top.kind != Kind::dictionary) tensors.fail("must hold a dictionary of tensors");
  for (std::size_t i = 0; i + 1 < top.items.size(); i += 2) {
    const PickleValue& key = pickle[top.items[i]];
    const PickleValue& value = pickle[top.items[i + 1]];
    if (key.kind != Kind::text) tensors.fail("the name of a tensor must be text");
    if (value.kind != Kind::tensor) tensors.fail(fmt::format("\"{}\" is not a tensor", key.text));
    tensors.add(key.text, tensor_of(pickle, value, storages, fmt::format("{}: tensor {}", file.name, key.text)));
  }
  return tensors;
}

}  // namespace fovea::interop

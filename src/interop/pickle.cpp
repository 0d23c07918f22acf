#include "interop/pickle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "interop/byte_reader.hpp"

namespace fovea::interop {
namespace {

using Kind = PickleValue::Kind;

// The names that a dictionary of tensors needs.
bool is_known_global(const std::string& name) {
  if (name.size() > 200) return false;  // it is copied wherever it is named
  if (name == "collections OrderedDict" || name == "torch._utils _rebuild_tensor_v2" ||
      name == "torch._utils _rebuild_parameter") {
    return true;
  }
  return name.starts_with("torch ") && name.ends_with("Storage");
}

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::string& where) : in_(bytes, where), where_(where) {}

  Pickle run() {
    while (true) {
      const auto code = in_.number<std::uint8_t>();
      if (code == '.') break;
      step(code);
    }
    if (stack_.size() != 1) fail("it does not end with one value");
    out_.top = stack_[0];
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw FileError(where_ + ": damaged pickle: " + what); }

  std::uint32_t make(PickleValue value) {
    out_.values.push_back(std::move(value));
    return static_cast<std::uint32_t>(out_.values.size() - 1);
  }
  void push(PickleValue value) { stack_.push_back(make(std::move(value))); }
  void push_integer(Kind kind, std::int64_t value) { push({.kind = kind, .integer = value}); }
  std::uint32_t pop() {
    if (stack_.empty()) fail("the stack is empty");
    const std::uint32_t top = stack_.back();
    stack_.pop_back();
    return top;
  }
  PickleValue& at(std::uint32_t i) { return out_.values[i]; }

  // Pops the last mark and the values above it, which it returns.
  std::vector<std::uint32_t> pop_to_mark() {
    const auto mark =
        std::find_if(stack_.rbegin(), stack_.rend(), [&](std::uint32_t v) { return at(v).kind == Kind::mark; });
    if (mark == stack_.rend()) fail("there is no mark");
    std::vector<std::uint32_t> items(mark.base(), stack_.end());
    stack_.erase(mark.base() - 1, stack_.end());
    return items;
  }
  void push_tuple(std::size_t count) {
    if (stack_.size() < count) fail("the stack is too short");
    std::vector<std::uint32_t> items(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    push({.kind = Kind::list, .items = std::move(items)});
  }
  // The container on top of the stack, which takes `items`.
  void extend(Kind kind, const std::vector<std::uint32_t>& items) {
    if (stack_.empty() || at(stack_.back()).kind != kind) fail("items without a container");
    auto& into = at(stack_.back()).items;
    if (kind == Kind::dictionary && items.size() % 2 != 0) fail("a key without a value");
    into.insert(into.end(), items.begin(), items.end());
  }
  void remember(std::uint32_t key) {
    if (stack_.empty()) fail("nothing to remember");
    memo_[key] = stack_.back();
  }
  void recall(std::uint32_t key) {
    const auto found = memo_.find(key);
    if (found == memo_.end()) fail("an unknown memory");
    stack_.push_back(found->second);
  }
  std::string line() {
    std::string text;
    for (char c = in_.number<char>(); c != '\n'; c = in_.number<char>()) text += c;
    return text;
  }
  void push_global(const std::string& name) {
    if (!is_known_global(name)) {
      const bool fairseq = name.starts_with("fairseq.") || name.starts_with("omegaconf.");
      throw FileError(fmt::format("{}: the pickle names \"{}\", which no dictionary of tensors needs; it is not run{}",
                                  where_, name, fairseq ? " (checkpoints of fairseq are not supported)" : ""));
    }
    push({.kind = Kind::global, .text = name});
  }

  void call() {
    const std::uint32_t arguments = pop();
    const std::uint32_t function = pop();
    if (at(function).kind != Kind::global || at(arguments).kind != Kind::list) fail("a call of what is no function");
    const std::string name = at(function).text;
    const std::vector<std::uint32_t>& given = at(arguments).items;
    if (name == "collections OrderedDict" && given.empty()) return push({.kind = Kind::dictionary});
    // Arguments are copied, and a tuple may be named many times: it must not be longer than a tensor's.
    if (name == "torch._utils _rebuild_tensor_v2" && given.size() >= 4 && given.size() <= 8) {
      PickleValue tensor{.kind = Kind::tensor, .items = given};
      return push(std::move(tensor));
    }
    if (name == "torch._utils _rebuild_parameter" && !given.empty() && at(given[0]).kind == Kind::tensor) {
      return stack_.push_back(given[0]);
    }
    fail(fmt::format("a call of {} with {} arguments", name, given.size()));
  }

  // The state of an ordered dictionary holds its versions, which no tensor needs.
  void ignore_state() {
    const std::uint32_t state = pop();
    if (stack_.empty() || at(stack_.back()).kind != Kind::dictionary || at(state).kind != Kind::dictionary) {
      fail("state of a value that is not a dictionary");
    }
  }

  void step(std::uint8_t code) {
    switch (code) {
      case 0x80:  // PROTO
        if (in_.number<std::uint8_t>() > 5) fail("a protocol that is not known");
        return;
      case 0x95:  // FRAME
        (void)in_.take(8);
        return;
      case '(':
        return push({.kind = Kind::mark});
      case '}':
        return push({.kind = Kind::dictionary});
      case ']':
      case ')':
        return push({.kind = Kind::list});
      case 'N':
        return push({});
      case 0x88:
        return push_integer(Kind::boolean, 1);
      case 0x89:
        return push_integer(Kind::boolean, 0);
      case 'K':
        return push_integer(Kind::integer, in_.number<std::uint8_t>());
      case 'M':
        return push_integer(Kind::integer, in_.number<std::uint16_t>());
      case 'J':
        return push_integer(Kind::integer, in_.number<std::int32_t>());
      case 0x8a: {  // LONG1: little-endian, two's complement
        const auto bytes = in_.take(in_.number<std::uint8_t>());
        if (bytes.size() > 8) fail("a number of more than 64 bits");
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
        if (!bytes.empty() && bytes.size() < 8 && (std::to_integer<int>(bytes.back()) & 0x80) != 0) {
          value |= ~std::uint64_t{0} << (8 * bytes.size());
        }
        return push_integer(Kind::integer, static_cast<std::int64_t>(value));
      }
      case 'G':
        (void)in_.take(8);
        return push({.kind = Kind::real});
      case 'X':
        return push({.kind = Kind::text, .text = std::string(in_.text(in_.number<std::uint32_t>()))});
      case 0x8c:
      case 'U':
        return push({.kind = Kind::text, .text = std::string(in_.text(in_.number<std::uint8_t>()))});
      case 'c': {
        std::string name = line();
        name += " " + line();
        return push_global(name);
      }
      case 0x93: {  // STACK_GLOBAL
        const std::string name = at(pop()).text;
        return push_global(at(pop()).text + " " + name);
      }
      case 'Q': {
        const std::uint32_t id = pop();
        if (at(id).kind != Kind::list || at(id).items.size() != 5) fail("a storage that is not PyTorch's");
        return push({.kind = Kind::storage, .items = at(id).items});
      }
      case 't':
        return push({.kind = Kind::list, .items = pop_to_mark()});
      case 0x85:
      case 0x86:
      case 0x87:
        return push_tuple(code - 0x84U);
      case 'R':
        return call();
      case 'q':
        return remember(in_.number<std::uint8_t>());
      case 'r':
        return remember(in_.number<std::uint32_t>());
      case 0x94:
        return remember(static_cast<std::uint32_t>(memo_.size()));
      case 'h':
        return recall(in_.number<std::uint8_t>());
      case 'j':
        return recall(in_.number<std::uint32_t>());
      case 's': {
        const std::uint32_t value = pop();
        const std::uint32_t key = pop();
        return extend(Kind::dictionary, {key, value});
      }
      case 'u':
        return extend(Kind::dictionary, pop_to_mark());
      case 'a':
        return extend(Kind::list, {pop()});
      case 'e':
        return extend(Kind::list, pop_to_mark());
      case 'b':
        return ignore_state();
      default:
        throw FileError(fmt::format("{}: the pickle has the operation 0x{:02x}, which no dictionary of tensors needs",
                                    where_, code));
    }
  }

  ByteReader in_;
  std::string where_;
  Pickle out_;
  std::vector<std::uint32_t> stack_;
  std::map<std::uint32_t, std::uint32_t> memo_;
};

}  // namespace

Pickle read_pickle(std::span<const std::byte> bytes, const std::string& where) {
  return Machine(bytes, where).run();
}

}  // namespace fovea::interop

#include "base/processes.hpp"

#include <cstdint>
#include <cstring>

namespace fovea {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

std::vector<std::string> gather(Processes& processes, const std::string& own) {
  const auto count = static_cast<std::size_t>(processes.count());
  std::vector<std::string> all(count);
  std::vector<std::uint64_t> sizes(count);
  const std::uint64_t size = own.size();
  std::vector<Outgoing> send;
  std::vector<Incoming> receive;
  const auto each_other = [&](const auto& body) {
    send.clear();
    receive.clear();
    for (int other = 0; other < processes.count(); ++other) {
      if (other != processes.rank()) body(other, static_cast<std::size_t>(other));
    }
    processes.exchange(send, receive);
  };
  each_other([&](int rank, std::size_t i) {
    send.push_back({rank, std::as_bytes(std::span(&size, 1))});
    receive.push_back({rank, std::as_writable_bytes(std::span(&sizes[i], 1))});
  });
  each_other([&](int rank, std::size_t i) {
    all[i].resize(sizes[i]);
    send.push_back({rank, bytes_of(own)});
    receive.push_back({rank, std::as_writable_bytes(std::span(all[i]))});
  });
  all[static_cast<std::size_t>(processes.rank())] = own;
  return all;
}

std::vector<std::string> gather_at_first(Processes& processes, const std::string& own) {
  std::uint64_t size = own.size();
  if (!processes.first()) {
    const Outgoing sizes{0, std::as_bytes(std::span(&size, 1))};
    const Outgoing text{0, bytes_of(own)};
    processes.exchange({&sizes, 1}, {});
    processes.exchange({&text, 1}, {});
    return {};
  }
  const auto count = static_cast<std::size_t>(processes.count());
  std::vector<std::uint64_t> sizes(count);
  std::vector<std::string> all(count);
  all[0] = own;
  std::vector<Incoming> receive;
  for (std::size_t i = 1; i < count; ++i) {
    receive.push_back({static_cast<int>(i), std::as_writable_bytes(std::span(&sizes[i], 1))});
  }
  processes.exchange({}, receive);
  receive.clear();
  for (std::size_t i = 1; i < count; ++i) {
    all[i].resize(sizes[i]);
    receive.push_back({static_cast<int>(i), std::as_writable_bytes(std::span(all[i]))});
  }
  processes.exchange({}, receive);
  return all;
}

// A binomial tree: after k rounds 2^k processes have it.
std::string broadcast(Processes& processes, const std::string& of_first) {
  const int rank = processes.rank();
  const int count = processes.count();
  std::string text = processes.first() ? of_first : std::string();
  std::uint64_t size = text.size();
  const auto pass_on = [&](std::span<std::byte> bytes) {
    for (int have = 1; have < count; have *= 2) {
      if (rank < have && rank + have < count) {
        const Outgoing out{rank + have, bytes};
        processes.exchange({&out, 1}, {});
      } else if (rank >= have && rank < 2 * have) {
        const Incoming in{rank - have, bytes};
        processes.exchange({}, {&in, 1});
      }
    }
  };
  pass_on(std::as_writable_bytes(std::span(&size, 1)));
  text.resize(size);
  pass_on(std::as_writable_bytes(std::span(text)));
  return text;
}

void wait_for_all(Processes& processes) {
  if (!processes.alone()) (void)gather(processes, {});
}

}  // namespace fovea

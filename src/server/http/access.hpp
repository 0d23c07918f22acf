// Who may ask, and how often.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace fovea::server {

struct AccessOptions {
  std::filesystem::path keys;  // one key per line, perhaps with its own requests per minute behind it; empty: no keys
  int rate = 0;                // requests per minute and client; 0: any number
};

/// API keys and rates. A client is its key or, without one, its address (of IPv6, the first half). A rate is a bucket
/// that holds one minute's requests and fills evenly.
class Access {
 public:
  /// Throws FileError naming the line of the keys' file that is wrong.
  explicit Access(const AccessOptions& options);

  /// Throws Refusal in LibreTranslate's words: 403 for a wrong key, 400 for a missing one, 429 past the rate. `cost`:
  /// requests it counts as.
  void check(const std::string& key, const std::string& client, int cost);
  [[nodiscard]] bool needs_key() const { return !options_.keys.empty(); }
  /// Reads the keys again. Throws FileError, and keeps what it had.
  void reload();

 private:
  using Clock = std::chrono::steady_clock;
  struct Bucket {
    double left;
    Clock::time_point at;
  };
  [[nodiscard]] static std::unordered_map<std::string, int> read(const std::filesystem::path& file);
  void spend(const std::string& who, int rate, int cost);

  const AccessOptions options_;
  std::mutex mutex_;
  std::unordered_map<std::string, int> keys_;  // its rate, or -1
  std::unordered_map<std::string, Bucket> buckets_;
  Clock::time_point swept_;
};

}  // namespace fovea::server

// API keys and rate limits.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace fovea::server {

struct AccessOptions {
  std::filesystem::path keys;  // a key per line, optionally with its requests per minute; empty: no keys
  int rate = 0;                // requests per minute and client; 0: unlimited
};

/// API keys and rate limits. A client is its key or, without one, its address (the /64 prefix for IPv6). A rate limit
/// is a token bucket that holds one minute's requests.
class Access {
 public:
  /// Throws FileError naming the invalid line of the key file.
  explicit Access(const AccessOptions& options);

  /// The client that a request counts for.
  struct Account {
    std::string client;
    int rate;  // 0: unlimited
  };

  // All throw Refusal with LibreTranslate's messages. A request counts when it arrives, whatever its result.
  /// Without API keys, before the body of a request is read: 429 above the rate limit.
  void admit(const std::string& client);
  /// 403 for a wrong key, 400 for a missing one, 429 above the rate limit. A wrong key counts for the address, which
  /// limits how fast keys can be guessed.
  [[nodiscard]] Account check(const std::string& key, const std::string& client);
  /// Counts a request as `cost` in all. check() has counted one already.
  void charge(const Account& account, int cost);
  [[nodiscard]] bool needs_key() const { return !options_.keys.empty(); }
  /// Reads the keys again. Throws FileError and keeps the old ones.
  void reload();

 private:
  using Clock = std::chrono::steady_clock;
  struct Bucket {
    double left;
    Clock::time_point at;
  };
  [[nodiscard]] static std::unordered_map<std::string, int> read(const std::filesystem::path& file);
  void spend(const std::string& client, int rate, int cost);

  const AccessOptions options_;
  std::mutex mutex_;
  std::unordered_map<std::string, int> keys_;  // the rate of a key, or -1
  std::unordered_map<std::string, Bucket> buckets_;
  Clock::time_point swept_;
};

}  // namespace fovea::server

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

  /// Who a request is counted for.
  struct Account {
    std::string who;
    int rate;  // 0: any number
  };

  // All throw Refusal in LibreTranslate's words. A request counts as soon as it is here, whatever becomes of it.
  /// Where no keys are needed, before the body of a request is read: 429 past the rate.
  void admit(const std::string& client);
  /// 403 for a wrong key, 400 for a missing one, 429 past the rate; wrong ones are counted for the address, or keys
  /// could be guessed as fast as the line allows.
  [[nodiscard]] Account check(const std::string& key, const std::string& client);
  /// For a request that counts as `cost` in all, of which one has been counted.
  void charge(const Account& account, int cost);
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

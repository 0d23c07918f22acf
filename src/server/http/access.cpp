#include "server/http/access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "fovea/error.hpp"
#include "server/http/fields.hpp"
#include "text/lines.hpp"
#include "text/unicode.hpp"

namespace fovea::server {
namespace {

constexpr int kWrongKeys = 60;                // per minute and address, without a rate limit
constexpr std::size_t kMostBuckets = 100000;  // above this, full ones are removed, which changes nothing

}  // namespace

Access::Access(const AccessOptions& options) : options_(options) {
  if (options.rate < 0) throw UsageError("rate", fmt::format("must be at least 0, is {}", options.rate));
  if (needs_key()) keys_ = read(options.keys);
}

std::unordered_map<std::string, int> Access::read(const std::filesystem::path& file) {
  std::unordered_map<std::string, int> keys;
  text::LineReader reader(file.string());
  for (std::string line; reader.next(line);) {
    auto words = text::split_words(line);
    const auto comment =
        std::find_if(words.begin(), words.end(), [](std::string_view w) { return w.starts_with('#'); });
    words.erase(comment, words.end());
    if (words.empty()) continue;
    int rate = -1;
    if (words.size() > 1) {
      const auto [end, error] = std::from_chars(words[1].data(), words[1].data() + words[1].size(), rate);
      if (error != std::errc() || end != words[1].data() + words[1].size() || rate < 0 || words.size() > 2) {
        throw FileError(reader.where() + ": must be a key, optionally with its requests per minute");
      }
    }
    keys[std::string(words[0])] = rate;
  }
  if (keys.empty()) throw FileError(file.string() + ": contains no API key");
  return keys;
}

void Access::reload() {
  if (!needs_key()) return;
  auto keys = read(options_.keys);
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
}

void Access::admit(const std::string& client) {
  const std::lock_guard lock(mutex_);
  if (!needs_key() && options_.rate > 0) spend("address " + client, options_.rate, 1);
}

Access::Account Access::check(const std::string& key, const std::string& client) {
  const std::lock_guard lock(mutex_);
  const std::string address = "address " + client;
  if (!needs_key()) return {address, options_.rate};
  const auto found = keys_.find(key);
  if (found == keys_.end()) {
    spend(address, options_.rate > 0 ? options_.rate : kWrongKeys, 1);
    if (key.empty()) throw Refusal(400, "Please contact the server operator to get an API key");
    throw Refusal(403, "Invalid API key");
  }
  Account account{"key " + key, found->second >= 0 ? found->second : options_.rate};
  if (account.rate > 0) spend(account.client, account.rate, 1);
  return account;
}

void Access::charge(const Account& account, int cost) {
  // A cost above a minute's requests needs a full bucket.
  const int rest = std::min(account.rate, cost) - 1;
  const std::lock_guard lock(mutex_);
  if (rest > 0) spend(account.client, account.rate, rest);
}

void Access::spend(const std::string& client, int rate, int cost) {
  const auto now = Clock::now();
  const double full = rate;
  const double per_second = full / 60;
  if (buckets_.size() > kMostBuckets && now - swept_ > std::chrono::seconds(1)) {
    swept_ = now;
    std::erase_if(buckets_, [&](const auto& entry) { return now - entry.second.at > std::chrono::minutes(1); });
  }
  Bucket& bucket = buckets_.try_emplace(client, Bucket{full, now}).first->second;
  const double since = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(full, bucket.left + since * per_second);
  bucket.at = now;
  const double price = cost;
  if (bucket.left < price) {
    const int seconds = static_cast<int>(std::ceil((price - bucket.left) / per_second));
    throw Refusal(429, fmt::format("Slowdown: {} per 1 minute", rate), std::max(1, seconds));
  }
  bucket.left -= price;
}

}  // namespace fovea::server

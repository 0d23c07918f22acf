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

constexpr std::size_t kMostBuckets = 100000;  // past that, full ones are forgotten: nothing is lost by it

}  // namespace

Access::Access(const AccessOptions& options) : options_(options) {
  if (options.rate < 0) throw UsageError(fmt::format("rate: {} given, 0 or more is needed", options.rate));
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
        throw FileError(reader.where() + ": a line is a key and, if need be, its requests per minute");
      }
    }
    keys[std::string(words[0])] = rate;
  }
  if (keys.empty()) throw FileError(file.string() + ": holds no API key");
  return keys;
}

void Access::reload() {
  if (!needs_key()) return;
  auto keys = read(options_.keys);
  const std::lock_guard lock(mutex_);
  keys_ = std::move(keys);
}

void Access::check(const std::string& key, const std::string& client, int cost) {
  const std::lock_guard lock(mutex_);
  int rate = options_.rate;
  std::string who = "address " + client;
  if (needs_key()) {
    if (key.empty()) throw Refusal(400, "Please contact the server operator to get an API key");
    const auto found = keys_.find(key);
    if (found == keys_.end()) {
      if (rate > 0) spend(who, rate, cost);  // or keys could be guessed as fast as the line allows
      throw Refusal(403, "Invalid API key");
    }
    if (found->second >= 0) rate = found->second;
    who = "key " + key;
  }
  if (rate > 0) spend(who, rate, cost);
}

void Access::spend(const std::string& who, int rate, int cost) {
  const auto now = Clock::now();
  const double full = rate;
  const double per_second = full / 60;
  if (buckets_.size() > kMostBuckets && now - swept_ > std::chrono::seconds(1)) {
    swept_ = now;
    std::erase_if(buckets_, [&](const auto& entry) { return now - entry.second.at > std::chrono::minutes(1); });
  }
  Bucket& bucket = buckets_.try_emplace(who, Bucket{full, now}).first->second;
  const double since = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(full, bucket.left + since * per_second);
  bucket.at = now;
  // What costs more than a minute's worth needs a full bucket.
  const double price = std::min(full, static_cast<double>(cost));
  if (bucket.left < price) {
    const int seconds = static_cast<int>(std::ceil((price - bucket.left) / per_second));
    throw Refusal(429, fmt::format("Slowdown: {} per 1 minute", rate), std::max(1, seconds));
  }
  bucket.left -= price;
}

}  // namespace fovea::server

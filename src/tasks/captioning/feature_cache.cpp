#include "tasks/captioning/feature_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/rng.hpp"
#include "base/whole_file.hpp"
#include "fovea/model/picture_model.hpp"
#include "fovea/threads.hpp"
#include "tasks/model_copies.hpp"
#include "tensor/convert.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kBatch = 4;     // pictures a thread takes at a time
constexpr std::int64_t kAtOnce = 256;  // pictures between two writes to the file
constexpr std::size_t kHeader = 64;    // bytes before the values: a line of text, filled up with spaces

// Names what the features were made from.
std::string header(const ModelConfig& config, const Parameters& parameters, const PictureStore& pictures) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t v) { hash = mix64(hash ^ v); };
  add(static_cast<std::uint64_t>(config.pictures().picture_size));
  for (const auto& entry : parameters.entries()) {
    if (!entry.name.starts_with(kPictureWeights)) continue;
    for (const float v : entry.values().values()) add(std::bit_cast<std::uint32_t>(v));
  }
  PictureFiles files;
  for (std::int64_t i = 0; i < pictures.size(); ++i) {
    for (const char c : pictures.place(i)) add(static_cast<unsigned char>(c));
    if (!pictures.error(i).empty()) continue;
    const auto found = files.find(pictures.place(i));
    add(found.bytes.size());
    for (std::size_t k = 0; k < found.bytes.size(); k += 509) add(std::to_integer<std::uint64_t>(found.bytes[k]));
  }
  std::string text = fmt::format("fovea picture features 1 {:016x} {}", hash, pictures.size());
  text.resize(kHeader - 1, ' ');
  return text + '\n';
}

}  // namespace

std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const float size = std::min(std::abs(value), 65504.0F);
  if (!(size >= 0x1p-14F)) {  // zero or subnormal: so many 2^-24; NaN becomes 0
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::nearbyint(size > 0 ? size * 0x1p24F : 0)));
  }
  const auto from = std::bit_cast<std::uint32_t>(size);
  const std::uint32_t rounded = from + 0xFFFU + (from >> 13 & 1U);  // half to even
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>((rounded >> 13) - (112U << 10), 0x7BFFU));
}

FeatureCache::FeatureCache(const ModelConfig& config, const Parameters& parameters, const PictureStore& pictures,
                           const std::filesystem::path& file, std::int64_t in_memory)
    : regions_(config.pictures().grid() * config.pictures().grid()), channels_(config.pictures().channels()) {
  const auto each = static_cast<std::size_t>(regions_ * channels_);
  const std::size_t count = each * static_cast<std::size_t>(pictures.size());
  if (static_cast<std::int64_t>(count * sizeof(std::uint16_t)) <= in_memory) {
    held_.resize(count);
    compute(config, parameters, pictures, held_, 0, pictures.size());
    values_ = held_;
    return;
  }
  const std::string head = header(config, parameters, pictures);
  const auto open = [&] {
    if (!std::filesystem::exists(file)) return false;
    mapped_ = MappedFile::open(file);
    const auto bytes = mapped_->bytes();
    if (bytes.size() != kHeader + count * sizeof(std::uint16_t) ||
        std::memcmp(bytes.data(), head.data(), kHeader) != 0) {
      return false;
    }
    values_ = {reinterpret_cast<const std::uint16_t*>(bytes.data() + kHeader), count};
    return true;
  };
  if (open()) return;
  std::filesystem::create_directories(file.parent_path());
  WholeFile out(file);
  out.write(head);
  std::vector<std::uint16_t> part;
  for (std::int64_t first = 0; first < pictures.size(); first += kAtOnce) {
    const std::int64_t some = std::min(kAtOnce, pictures.size() - first);
    part.resize(static_cast<std::size_t>(some) * each);
    compute(config, parameters, pictures, part, first, some);
    out.write(std::as_bytes(std::span(part)));
  }
  out.commit();
  (void)open();
}

void FeatureCache::compute(const ModelConfig& config, const Parameters& parameters, const PictureStore& pictures,
                           std::span<std::uint16_t> to, std::int64_t first, std::int64_t count) const {
  ModelCopies<PictureModel> copies(config, parameters);
  parallel_for(count, kBatch, [&](std::int64_t begin, std::int64_t end) {
    const NoGrad quiet;
    const ModelCopies<PictureModel>::Lease lease(copies);
    std::vector<Picture> spare(static_cast<std::size_t>(end - begin));
    std::vector<const Picture*> batch;
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = begin; i < end; ++i) {
      std::fill_n(to.begin() + i * regions_ * channels_, regions_ * channels_, std::uint16_t{0});
      if (!pictures.error(first + i).empty()) continue;
      numbers.push_back(i);
      batch.push_back(&pictures.picture(first + i, spare[static_cast<std::size_t>(i - begin)]));
    }
    if (batch.empty()) return;
    const Tensor features = lease.model().features(batch).value();
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const float* from = features.data() + static_cast<std::int64_t>(b) * regions_ * channels_;
      std::transform(from, from + regions_ * channels_, to.begin() + numbers[b] * regions_ * channels_, half_of);
    }
  });
}

Tensor FeatureCache::features(std::span<const std::int64_t> which) const {
  const Tensor out = Tensor::empty({static_cast<std::int64_t>(which.size()), regions_, channels_});
  float* to = out.data();
  for (const std::int64_t i : which) {
    const std::uint16_t* from = values_.data() + i * regions_ * channels_;
    for (std::int64_t k = 0; k < regions_ * channels_; ++k) *to++ = static_cast<float>(detail::Half{from[k]});
  }
  return out;
}

}  // namespace fovea

// POST /caption: describes a picture, with the attention of each token.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "server/api/answer_memory.hpp"
#include "server/api/api.hpp"
#include "server/api/call.hpp"
#include "server/api/models/caption_model.hpp"
#include "server/api/options.hpp"
#include "server/api/texts/texts.hpp"

namespace fovea::server {
namespace {

// Limits of a picture before it is scaled down.
constexpr PictureLimits kPictureLimits{.pixels = 16'000'000, .side = 16'000};

// Decodes base64, with or without the prefix "data:image/jpeg;base64,". Throws Refusal 400.
std::string from_base64(std::string_view text) {
  if (text.starts_with("data:")) text.remove_prefix(std::min(text.size(), text.find(',') + 1));
  static constexpr auto values = [] {
    std::array<std::int8_t, 256> all{};
    all.fill(-1);
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < digits.size(); ++i)
      all[static_cast<unsigned char>(digits[i])] = static_cast<std::int8_t>(i);
    all['-'] = 62;  // the URL-safe alphabet
    all['_'] = 63;
    return all;
  }();
  std::string out;
  out.reserve(text.size() * 3 / 4);
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ') continue;
    if (c == '=') break;
    const int value = values[static_cast<unsigned char>(c)];
    if (value < 0) throw Refusal(400, "Invalid request: image parameter is not base64");
    held = held << 6 | static_cast<unsigned>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xFFU);
  }
  return out;
}

double rounded_number(float value) {
  return std::round(static_cast<double>(value) * 1e5) / 1e5;
}

Response caption_response(const CaptionJob& job, const std::string& model) {
  job.check();
  const Generated& c = job.results.at(0);
  const AttentionRecord& record = c.attention;
  nlohmann::json json = {{"caption", c.text},
                         {"score", c.score},
                         {"log_probability", c.log_probability},
                         {"tokens", record.target},
                         {"rows", record.picture.rows},
                         {"columns", record.picture.columns},
                         {"model", model}};
  if (job.how.attention) {
    nlohmann::json& rows = json["attention"] = nlohmann::json::array();
    for (std::int64_t r = 0; r < record.weights.rows; ++r) {
      nlohmann::json list = nlohmann::json::array();
      for (std::int64_t k = 0; k < record.weights.columns; ++k) list.push_back(rounded_number(record.weights.at(r, k)));
      rows.push_back(std::move(list));
    }
  }
  return {200, json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)};
}

}  // namespace

void Api::caption(const Shared& call) {
  check_access(*call);
  const Fields fields(*call->request);
  const auto& model = static_cast<const CaptionModel&>(call->models->find(Task::caption, fields.text("model")));
  const std::string given = fields.bytes("image");
  if (given.empty()) {
    throw Refusal(400, "Invalid request: missing image parameter, a JPEG or PNG in base64 or as a file of a form");
  }
  const auto job = std::make_shared<CaptionJob>();
  job->how.beam = options_.beam;
  job->how.attention = fields.flag("attention");
  read_model_options(fields, model, job->how, {"attention"});
  if (job->how.attention && !model.attends()) {
    throw Refusal(400, fmt::format("the model {} has no attention to show", model.name()));
  }
  charge(*call, 1);

  job->memory = MemoryReservation(options_.memory);
  {
    MemoryReservation decoding(options_.memory);
    if (!decoding.grow(static_cast<std::size_t>(4 * kPictureLimits.pixels))) {
      throw Refusal(429, "Slowdown: too many pictures are waiting", 2);
    }
    const bool raw = given.starts_with("\xFF\xD8") || given.starts_with("\x89PNG");
    const std::string bytes = raw ? given : from_base64(given);
    try {
      const Picture whole = decode_picture(std::as_bytes(std::span(bytes)), "image", kPictureLimits);
      job->picture = square(whole, model.picture_size());
    } catch (const FileError& error) {
      throw Refusal(400, fmt::format("Invalid request: {}", error.what()));
    }
  }
  hold_request(*job, job->picture.rgb.size(), 1);
  job->lines = {""};
  job->canceled = [call] { return call->reply->gone(); };
  job->done = [this, call, job, name = model.name()] { respond(call, [&] { return caption_response(*job, name); }); };
  submit(call, model, job);
}

}  // namespace fovea::server

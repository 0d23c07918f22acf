// Any bytes as JSON that a user or a client gives (the first byte chooses which): a model's configuration, an attention
// record, interventions, or any value. A value or an Error, never anything else.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "base/json.hpp"
#include "fovea/attention_record.hpp"
#include "fovea/error.hpp"
#include "model/config_json.hpp"
#include "tasks/interventions_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    switch (data[0] % 4) {
      case 0:
        (void)fovea::model_config_from_json(fovea::parse_json(text, "fuzz"), "fuzz");
        break;
      case 1: {
        const fovea::AttentionRecord record = fovea::parse_attention(text, "fuzz");
        (void)fovea::parse_attention(fovea::to_json(record), "again");
        break;
      }
      case 2:
        (void)fovea::parse_interventions(text, "fuzz");
        break;
      default:
        (void)fovea::parse_json(text, "fuzz").dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        break;
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}

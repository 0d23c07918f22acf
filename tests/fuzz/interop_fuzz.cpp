// Any bytes as a file of another program (the first byte chooses which reader): tensors within the file, or an Error,
// never anything else.
#include <cstdlib>

#include "fovea/error.hpp"
#include "interop/files.hpp"
#include "interop/marian/shortlist.hpp"
#include "interop/pickle.hpp"
#include "interop/yaml.hpp"
#include "text/tokenizer/byte_pairs.hpp"
#include "text/tokenizer/mapped_tokenizer.hpp"
#include "text/unicode.hpp"

namespace {

void use(fovea::interop::ForeignTensors tensors) {
  for (const std::string& name : tensors.names()) {
    const auto& item = tensors.item(name);
    if (item.bytes.size() > (std::size_t{1} << 24)) continue;
    if (tensors.take(name).size() != item.shape.size() && item.shape.size() != 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  namespace interop = fovea::interop;
  const interop::FileBytes file{std::as_bytes(std::span(data + 1, size - 1)), nullptr, "fuzz"};
  try {
    switch (data[0] % 10) {
      case 0:
        use(interop::read_torch(file));
        break;
      case 1:
        use(interop::read_npz(file));
        break;
      case 2:
        use(interop::read_marian_bin(file));
        break;
      case 3:
        use(std::move(interop::read_ctranslate2(file).tensors));
        break;
      case 4:
        use(interop::read_safetensors(file));
        break;
      case 5:
        (void)interop::read_pickle(file.bytes, file.name);
        break;
      case 6:
        (void)interop::parse_flat_yaml(file.text(), file.name);
        (void)interop::parse_yaml_ids(file.text(), file.name);
        break;
      case 7:
        (void)fovea::text::parse_merges(file.text(), file.name);
        for (const auto word : fovea::text::byte_pair_words(file.text())) {
          if (word.empty()) std::abort();
        }
        if (fovea::text::invalid_utf8(fovea::text::text_of_bytes(file.text())) != std::string_view::npos) std::abort();
        break;
      case 8:
        (void)fovea::text::parse_pieces(file.text(), file.name);
        break;
      default:
        (void)interop::read_marian_shortlist(file);
        break;
    }
  } catch (const fovea::Error&) {
  }
  return 0;
}

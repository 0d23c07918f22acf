// Other programs' models, in and out.
#pragma once

#include <filesystem>
#include <string>

namespace fovea {

/// What came of an import.
struct ImportReport {
  std::string found;      // what the source is, for people: "Hugging Face MarianMT"
  std::string model;      // what was made of it: "transformer, 6 + 6 layers, width 512 …"
  long long weights = 0;  // numbers
};

/// Makes a model folder of another program's model: a CTranslate2 folder, a Hugging Face folder of a MarianMT (OPUS-MT)
/// model, or a Marian .npz or .bin file with its vocabularies beside it. Reads only files of that folder and
/// executes nothing. Throws FileError in one line: what is damaged, or which feature of the model is missing here; and
/// UsageError when `folder` is there already.
///
///     fovea::import_model("opus-mt-en-de", "en-de");
ImportReport import_model(const std::filesystem::path& source, const std::filesystem::path& folder);

}  // namespace fovea

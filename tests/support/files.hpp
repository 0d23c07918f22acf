// Files and folders for a test, gone when it ends; and the command line in process.
#pragma once

#include <zlib.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/run.hpp"
#include "support/scratch.hpp"

namespace fovea::test {

/// A folder whose files are named by strings, as the command line takes them.
class TemporaryFolder {
 public:
  [[nodiscard]] std::string path(const std::string& name = {}) const { return (folder_ / name).string(); }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    write_text(path(name), std::string(bytes));
    return path(name);
  }
  std::string write_gz(const std::string& name, std::string_view bytes) const {
    gzFile file = gzopen(path(name).c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path(name);
  }
  [[nodiscard]] std::string read(const std::string& name) const { return read_text(path(name)); }

 private:
  Scratch folder_;
};

struct Ran {
  int code = 0;
  std::string out, err;
};

inline Ran run_cli(const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const int code = cli::run(arguments, {in, out, err});
  return {code, out.str(), err.str()};
}

}  // namespace fovea::test

// fovea train on a corpus small enough for a test, and what a command line said.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/files.hpp"

namespace fovea::test {

class SmallTraining : public ::testing::Test {
 protected:
  void SetUp() override {
    write_pairs("train", 60);
    write_pairs("valid", 6);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path(name); }
  [[nodiscard]] bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }
  [[nodiscard]] std::string weights(const std::string& model) const {
    return folder_.read(model + "/model.safetensors");
  }

  /// The words of a training into `model`. Options that are given replace these defaults.
  [[nodiscard]] std::vector<std::string> train(const std::string& model,
                                               const std::vector<std::string>& more = {}) const {
    // clang-format off
    std::vector<std::string> all{"train", "--model", file(model),
                                 "--source", file("train.source"), "--target", file("train.target"),
                                 "--valid-source", file("valid.source"), "--valid-target", file("valid.target"),
                                 "--tokenizer", "word", "--layers", "1", "--dim", "16",
                                 "--batch-tokens", "64", "--checkpoint-every", "4", "--report-every", "2",
                                 "--learning-rate", "0.01", "--warmup", "2"};
    // clang-format on
    if (has_transformer(more)) all.insert(all.end(), {"--ffn", "16", "--heads", "2"});
    for (const std::string& option : more) {
      const auto same = std::find(all.begin(), all.end(), option);
      if (option.starts_with("--") && same != all.end()) all.erase(same, same + 2);
    }
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// What the command says, in one line, and the code it ends with.
  static void expect_error(const std::vector<std::string>& arguments, int code, const std::string& part) {
    const Ran r = run_cli(arguments);
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_NE(r.err.find(part), std::string::npos) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }

  TemporaryFolder folder_;

 private:
  /// Whether a side of the model is a transformer, which it is unless a word says otherwise. A configuration file may
  /// say it too, so with one it is not known.
  static bool has_transformer(const std::vector<std::string>& words) {
    const auto value = [&words](const std::string& option) {
      const auto at = std::find(words.begin(), words.end(), option);
      return at == words.end() ? std::string() : at[1];
    };
    if (std::any_of(words.begin(), words.end(), [](const auto& word) { return word.starts_with("--config"); })) {
      return false;
    }
    const std::string arch = value("--preset").empty() ? value("--arch") : value("--preset");
    for (const char* side : {"--encoder", "--decoder"}) {
      const std::string kind = value(side).empty() ? arch : value(side);
      if (kind.empty() || kind.starts_with("transformer")) return true;
    }
    return false;
  }

  void write_pairs(const std::string& name, int count) const {
    std::string source, target;
    for (int i = 0; i < count; ++i) {
      const std::string digit = std::to_string(i % 7);
      source += (i % 3 == 0 ? "eins zwei " : "eins drei ") + digit + "\n";
      target += digit + (i % 3 == 0 ? " two one\n" : " three one\n");
    }
    folder_.write(name + ".source", source);
    folder_.write(name + ".target", target);
  }
};

}  // namespace fovea::test

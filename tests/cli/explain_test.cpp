#include <gmock/gmock.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run.hpp"
#include "fovea/safetensors.hpp"
#include "support/markup.hpp"

namespace fovea::cli {
namespace {

using testing::HasSubstr;
using Table = std::vector<std::vector<double>>;
constexpr double kNear = 1e-4;

class ExplainCommand : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("COLUMNS");  // or the drawings would be as wide as it says
    folder_ = std::filesystem::temp_directory_path() / ("fovea_explain_" + std::to_string(::getpid()) +
                                                        testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  int fovea(const std::vector<std::string>& arguments) {
    out_.str("");
    err_.str("");
    return run(arguments, {in_, out_, err_});
  }
  // Every matrix of the page, by its id.
  static std::map<std::string, Table> tables(const std::string& page) {
    const std::string begin = "id=\"lesson\">";
    const std::size_t at = page.find(begin) + begin.size();
    const auto lesson = nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
    std::map<std::string, Table> found;
    for (const auto& step : lesson["steps"]) {
      for (const auto& table : step["tables"]) {
        for (const auto& line : table["values"]) {
          std::vector<double> row;
          for (const auto& value : line) row.push_back(value.is_null() ? -INFINITY : value.get<double>());
          found[table["id"]].push_back(row);
        }
      }
    }
    return found;
  }

  std::filesystem::path folder_;
  std::istringstream in_;
  std::ostringstream out_, err_;
};

// Recomputes every matrix from X, W_Q, W_K, W_V and W_O.
void check_numbers(const std::map<std::string, Table>& t, int heads, bool causal) {
  const Table& x = t.at("X");
  const std::size_t words = x.size();
  const auto project = [&](const Table& w, std::size_t i, std::size_t c) {
    double sum = 0;
    for (std::size_t k = 0; k < x[i].size(); ++k) sum += x[i][k] * w[k][c];
    return sum;
  };
  for (int h = 0; h < heads; ++h) {
    const auto of = [&](const std::string& name) -> const Table& { return t.at(name + "." + std::to_string(h)); };
    const std::size_t d = of("Q")[0].size();
    const std::size_t first = static_cast<std::size_t>(h) * d;
    Table v(words, std::vector<double>(d));
    for (std::size_t i = 0; i < words; ++i) {
      for (std::size_t c = 0; c < d; ++c) {
        v[i][c] = project(t.at("W_V"), i, first + c);
        EXPECT_NEAR(of("Q")[i][c], project(t.at("W_Q"), i, first + c), kNear);
        EXPECT_NEAR(of("K")[i][c], project(t.at("W_K"), i, first + c), kNear);
        EXPECT_NEAR(of("V")[i][c], v[i][c], kNear);
      }
    }
    for (std::size_t i = 0; i < words; ++i) {
      std::vector<double> weights(words, 0.0);
      double sum = 0;
      for (std::size_t j = 0; j < words; ++j) {
        double score = 0;
        for (std::size_t c = 0; c < d; ++c) {
          score += project(t.at("W_Q"), i, first + c) * project(t.at("W_K"), j, first + c);
        }
        EXPECT_NEAR(of("S")[i][j], score, kNear);
        if (causal && j > i) {
          EXPECT_EQ(of("S/√d")[i][j], -INFINITY);
          continue;
        }
        EXPECT_NEAR(of("S/√d")[i][j], score / std::sqrt(static_cast<double>(d)), kNear);
        weights[j] = std::exp(score / std::sqrt(static_cast<double>(d)));
        sum += weights[j];
      }
      for (std::size_t j = 0; j < words; ++j) EXPECT_NEAR(of("A")[i][j], weights[j] / sum, kNear);
      for (std::size_t c = 0; c < d; ++c) {
        double z = 0;
        for (std::size_t j = 0; j < words; ++j) z += weights[j] / sum * v[j][c];
        EXPECT_NEAR(of("Z")[i][c], z, kNear);
      }
    }
  }
  if (heads == 1) return;
  for (std::size_t i = 0; i < words; ++i) {
    for (std::size_t c = 0; c < t.at("O")[0].size(); ++c) {
      double o = 0;
      for (std::size_t k = 0; k < t.at("W_O").size(); ++k) o += t.at("[Z]")[i][k] * t.at("W_O")[k][c];
      EXPECT_NEAR(t.at("O")[i][c], o, kNear);
    }
  }
}

TEST_F(ExplainCommand, NumbersEqualTheDefinition) {
  for (const int heads : {1, 2}) {
    for (const bool causal : {false, true}) {
      std::vector<std::string> arguments = {"explain", "--html", path("e.html"), "--heads", std::to_string(heads)};
      if (causal) arguments.emplace_back("--causal");
      ASSERT_EQ(fovea(arguments), 0) << err_.str();
      check_numbers(tables(read("e.html")), heads, causal);
    }
  }
}

TEST_F(ExplainCommand, ShowsEveryStepInTheTerminal) {
  ASSERT_EQ(fovea({"explain"}), 0);
  for (const char* shown :
       {"    小猫   1.5   1.5   0.5   1.0\n", "W_Q", "Q = X W_Q", "S = Q Kᵀ", "S / √d", "softmax", "Z = A V",
        "      它  0.02  0.70  0.00  0.03  0.00  0.25\n", "它 attends most to 小猫: 70%"}) {
    EXPECT_THAT(out_.str(), HasSubstr(shown));
  }
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("\x1b")));
  ASSERT_EQ(fovea({"explain", "--color", "always"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("\x1b[48;"));
}

TEST_F(ExplainCommand, FindsTheWordsOfAnySentence) {
  ASSERT_EQ(fovea({"explain", "注意力机制模仿了生物观察行为"}), 0);
  for (const char* row :
       {"  注意力  ", "    机制  ", "    模仿  ", "      了  ", "    生物  ", "    观察  ", "    行为  "}) {
    EXPECT_THAT(out_.str(), HasSubstr(row));
  }
  ASSERT_EQ(fovea({"explain", "The U.S. pays 3.14."}), 0);
  for (const char* row : {" The  ", " U.S.  ", " pays  ", " 3.14  ", "    .  "})
    EXPECT_THAT(out_.str(), HasSubstr(row));
}

TEST_F(ExplainCommand, TheSamePageEveryTimeAndOtherNumbersFromAnotherSeed) {
  ASSERT_EQ(fovea({"explain", "a b", "--seed", "3"}), 0);
  const std::string first = out_.str();
  ASSERT_EQ(fovea({"explain", "a b", "--seed", "3"}), 0);
  EXPECT_EQ(out_.str(), first);
  ASSERT_EQ(fovea({"explain", "a b", "--seed", "4"}), 0);
  EXPECT_NE(out_.str(), first);
}

TEST_F(ExplainCommand, EscapesWordsOnThePage) {
  ASSERT_EQ(fovea({"explain", "--tokens", "<img src=x>,</script>", "--html", path("e.html"), "--svg", path("e.svg")}),
            0);
  EXPECT_THAT(read("e.html"), testing::Not(HasSubstr("<img")));
  EXPECT_EQ(test::count(read("e.html"), "<script"), test::count(read("e.html"), "</script>"));
  EXPECT_EQ(test::malformed(read("e.svg")), "");
}

TEST_F(ExplainCommand, WorksOutGivenScores) {
  ASSERT_EQ(fovea({"explain", "--scores", "7,5,4,9,11", "--dim", "64"}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("     0.8750  0.6250  0.5000  1.1250  1.3750\n"));
  EXPECT_THAT(out_.str(), HasSubstr("= 12.9511\n"));
  EXPECT_THAT(out_.str(), HasSubstr("     0.1852  0.1443  0.1273  0.2378  0.3054\n"));
  ASSERT_EQ(fovea({"explain", "--scores", "1,-2.5"}), 0);  // without --dim as they are
  EXPECT_THAT(out_.str(), HasSubstr("0.9707"));
  ASSERT_EQ(fovea({"explain", "--scores", "1e30,-1e30"}), 0);
  EXPECT_THAT(out_.str(), testing::Not(HasSubstr("nan")));
}

TEST_F(ExplainCommand, TakesEmbeddingsFromAFile) {
  SafetensorsWriter writer;
  writer.add("X", Tensor::of({2, 3}, {1, 0, 0, 0, 1, 0}));
  writer.add("W_Q", Tensor::of({3, 2}, {1, 0, 0, 1, 0, 0}));
  writer.add("W_K", Tensor::of({3, 2}, {1, 0, 0, 1, 0, 0}));
  writer.add("W_V", Tensor::of({3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0}));
  writer.write(path("in.safetensors"));
  ASSERT_EQ(fovea({"explain", "one two", "--embeddings", path("in.safetensors")}), 0) << err_.str();
  // Scores are 1 for itself and 0 for the other: weights e^(1/√2) / (e^(1/√2) + 1) = 0.6698.
  EXPECT_THAT(out_.str(), HasSubstr("    one  0.67  0.33\n"));
  EXPECT_THAT(out_.str(), HasSubstr("    one  2.32  3.32  4.32  5.32\n"));
  ASSERT_EQ(fovea({"explain", "--embeddings", path("in.safetensors")}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("x1  0.67  0.33\n"));

  EXPECT_EQ(fovea({"explain", "one two three", "--embeddings", path("in.safetensors")}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("X has 2 rows for 3 tokens"));
  EXPECT_EQ(fovea({"explain", "--embeddings", path("in.safetensors"), "--heads", "3"}), 2);
  EXPECT_THAT(err_.str(), HasSubstr("W_Q has 2 columns, which must be a multiple of the 3 heads"));
  EXPECT_EQ(fovea({"explain", "--embeddings", path("in.safetensors"), "--dim", "3"}), 2);
}

TEST_F(ExplainCommand, RefusesBrokenEmbeddings) {
  EXPECT_EQ(fovea({"explain", "--embeddings", path("none.safetensors")}), 1);
  SafetensorsWriter writer;
  writer.add("X", Tensor::of({2, 2}, {1, 0, NAN, 0}));
  writer.write(path("nan.safetensors"));
  EXPECT_EQ(fovea({"explain", "--embeddings", path("nan.safetensors")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("X holds nan"));
  SafetensorsWriter missing;
  missing.add("X", Tensor::of({2, 2}, {1, 0, 1, 0}));
  missing.write(path("missing.safetensors"));
  EXPECT_EQ(fovea({"explain", "--embeddings", path("missing.safetensors")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("has no tensor W_Q"));
  SafetensorsWriter cube;
  cube.add("X", Tensor::zeros({1, 2, 2}));
  cube.write(path("cube.safetensors"));
  EXPECT_EQ(fovea({"explain", "--embeddings", path("cube.safetensors")}), 1);
  EXPECT_THAT(err_.str(), HasSubstr("X is [1,2,2]"));
}

TEST_F(ExplainCommand, WrongUsageIsExitTwo) {
  const std::vector<std::vector<std::string>> wrong = {{"explain", "--dim", "0"},
                                                       {"explain", "--dim", "100000"},
                                                       {"explain", "--dim", "5", "--heads", "2"},
                                                       {"explain", "--heads", "0"},
                                                       {"explain", "   "},
                                                       {"explain", "--scores", "1,x"},
                                                       {"explain", "--scores", "nan,1"},
                                                       {"explain", "--scores", "inf"},
                                                       {"explain", "--scores", ""},
                                                       {"explain", "\xff"},
                                                       {"explain", "a", "--tokens", "b"},
                                                       {"explain", "a", "--scores", "1"},
                                                       {"explain", "--scores", "1", "--dim", "-3"}};
  for (const auto& arguments : wrong) {
    EXPECT_EQ(fovea(arguments), 2) << arguments[1] << " " << arguments.back() << ": " << err_.str();
    EXPECT_EQ(out_.str(), "");
  }
  std::string long_sentence;
  for (int i = 0; i < 100; ++i) long_sentence += "word ";
  EXPECT_EQ(fovea({"explain", long_sentence}), 2);
}

}  // namespace
}  // namespace fovea::cli

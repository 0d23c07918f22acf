#include "dates/dates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "support/files.hpp"
#include "text/unicode.hpp"

namespace dates {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<std::string> all_ways(int year, int month, int day) {
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(format_count()));
  for (int format = 0; format < format_count(); ++format) out.push_back(write_date(format, year, month, day));
  return out;
}

TEST(Dates, AreWrittenTheWayPeopleDo) {
  const auto ways = all_ways(2021, 3, 3);
  for (const char* way :
       {"3 March 2021", "Mar 3rd, 2021", "March 3, 2021", "3rd of March 2021", "the third of March 2021",
        "Wednesday, 3 March 2021", "03.03.2021", "03/03/2021", "2021/03/03", "20210303", "2021年3月3日",
        "二〇二一年三月三日", "二零二一年三月三号", "2021年3月3日 星期三", "２０２１年３月３日"}) {
    EXPECT_THAT(ways, Contains(way));
  }
  const auto others = all_ways(1999, 12, 21);
  for (const char* way :
       {"Dec 21st, 1999", "21.12.1999", "12/21/1999", "Tue, Dec 21, 1999", "一九九九年十二月二十一日"}) {
    EXPECT_THAT(others, Contains(way));
  }
  EXPECT_THAT(all_ways(2000, 10, 11), Contains("11th of October 2000"));
  EXPECT_THAT(all_ways(2000, 10, 30), Contains("二〇〇〇年十月三十日"));
}

TEST(Dates, NoLineHasTwoMeanings) {
  std::map<std::string, std::string> meaning;
  for (const int year : {1900, 2012}) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= 28; ++day) {
        const std::string iso = std::to_string(year * 10000 + month * 100 + day);
        for (const std::string& line : all_ways(year, month, day)) {
          EXPECT_EQ(fovea::text::invalid_utf8(line), std::string::npos);
          EXPECT_EQ(meaning.emplace(line, iso).first->second, iso) << line;
        }
      }
    }
  }
}

TEST(Dates, TheSameSeedGivesTheSameLinesAnotherSeedOthers) {
  const auto a = make_lines(500, 7, Split::train);
  EXPECT_EQ(make_lines(500, 7, Split::train).source, a.source);
  EXPECT_EQ(make_lines(500, 7, Split::train).target, a.target);
  EXPECT_NE(make_lines(500, 8, Split::train).source, a.source);
  EXPECT_EQ(make_lines(1, 1, Split::test).target[0].size(), 10u);
}

TEST(Dates, SplitsShareNoLineWhateverTheSeed) {
  const auto train = make_lines(30000, 1, Split::train).source;
  const auto valid = make_lines(2000, 1, Split::valid).source;
  const auto test = make_lines(2000, 2, Split::test).source;
  std::set<std::string> all(train.begin(), train.end());
  all.insert(valid.begin(), valid.end());
  all.insert(test.begin(), test.end());
  EXPECT_EQ(all.size(), 34000u);
}

TEST(Dates, WhatCannotBeMadeIsAnError) {
  EXPECT_THROW((void)make_lines(0, 1, Split::train), std::invalid_argument);
  EXPECT_THROW((void)make_lines(1000000, 1, Split::train), std::invalid_argument);
  EXPECT_THROW((void)write_date(0, 2021, 2, 29), std::invalid_argument);
  EXPECT_THROW((void)write_date(format_count(), 2021, 2, 2), std::invalid_argument);
  EXPECT_THROW((void)split_named("dev"), std::invalid_argument);
}

// Runs example_dates with these arguments in a folder; its exit code.
int run_dates(const fovea::test::TemporaryFolder& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.path() + "' && '" FOVEA_EXAMPLE_DATES "' " + arguments + " >out 2>err";
  return WEXITSTATUS(std::system(command.c_str()));
}

TEST(DatesCommand, WritesBothFilesOrPrintsPairs) {
  const fovea::test::TemporaryFolder folder;
  const std::string same = "--count 20 --seed 3 --split test";
  EXPECT_EQ(run_dates(folder, same + " --source s --target t"), 0) << folder.read("err");
  EXPECT_EQ(run_dates(folder, same), 0);
  std::istringstream source(folder.read("s")), target(folder.read("t"));
  std::string pairs, a, b;
  while (std::getline(source, a) && std::getline(target, b)) pairs += a + "\t" + b + "\n";
  EXPECT_EQ(pairs, folder.read("out"));
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), '\n'), 20);
}

TEST(DatesCommand, WrongUsageEndsWith2AndWritesNothing) {
  const fovea::test::TemporaryFolder folder;
  for (const char* arguments : {"--source s", "--count 0 --source s --target t", "--count ten --source s --target t",
                                "--split dev --source s --target t", "--lines 3", "--count"}) {
    EXPECT_EQ(run_dates(folder, arguments), 2) << arguments;
    EXPECT_FALSE(std::filesystem::exists(folder.path("s"))) << arguments;
  }
  EXPECT_EQ(run_dates(folder, "--source s --target no/t"), 1);
  EXPECT_THAT(folder.read("err"), HasSubstr("no/t"));
}

}  // namespace
}  // namespace dates

#include "text/dates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fovea/error.hpp"
#include "support/files.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::vector<std::string> all_ways(int year, int month, int day) {
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(date_formats()));
  for (int format = 0; format < date_formats(); ++format) out.push_back(write_date(format, year, month, day));
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
          EXPECT_EQ(invalid_utf8(line), std::string::npos);
          EXPECT_EQ(meaning.emplace(line, iso).first->second, iso) << line;
        }
      }
    }
  }
}

TEST(Dates, TheSameSeedGivesTheSameLinesAnotherSeedOthers) {
  const auto a = make_dates(500, 7, DateSplit::train);
  EXPECT_EQ(make_dates(500, 7, DateSplit::train).source, a.source);
  EXPECT_EQ(make_dates(500, 7, DateSplit::train).target, a.target);
  EXPECT_NE(make_dates(500, 8, DateSplit::train).source, a.source);
  EXPECT_EQ(make_dates(1, 1, DateSplit::test).target[0].size(), 10u);
}

TEST(Dates, SplitsShareNoLineWhateverTheSeed) {
  const auto train = make_dates(30000, 1, DateSplit::train).source;
  const auto valid = make_dates(2000, 1, DateSplit::valid).source;
  const auto test = make_dates(2000, 2, DateSplit::test).source;
  std::set<std::string> all(train.begin(), train.end());
  all.insert(valid.begin(), valid.end());
  all.insert(test.begin(), test.end());
  EXPECT_EQ(all.size(), 34000u);
}

TEST(Dates, WhatCannotBeMadeIsAnError) {
  EXPECT_THROW((void)make_dates(0, 1, DateSplit::train), UsageError);
  EXPECT_THROW((void)make_dates(1000000, 1, DateSplit::train), UsageError);
  EXPECT_THROW((void)write_date(0, 2021, 2, 29), UsageError);
  EXPECT_THROW((void)write_date(date_formats(), 2021, 2, 2), UsageError);
  EXPECT_THROW((void)date_split("dev"), UsageError);
}

TEST(DatesCommand, WritesBothFilesOrPrintsPairs) {
  const test::TemporaryFolder folder;
  const auto written = test::run_cli({"dates", "--count", "20", "--seed", "3", "--split", "test", "--source",
                                      folder.path("s"), "--target", folder.path("t")});
  EXPECT_EQ(written.code, 0) << written.err;
  const auto printed = test::run_cli({"dates", "--count", "20", "--seed", "3", "--split", "test"});
  std::istringstream source(folder.read("s")), target(folder.read("t"));
  std::string pairs, a, b;
  while (std::getline(source, a) && std::getline(target, b)) pairs += a + "\t" + b + "\n";
  EXPECT_EQ(pairs, printed.out);
  EXPECT_EQ(std::count(pairs.begin(), pairs.end(), '\n'), 20);
}

TEST(DatesCommand, WrongUsageEndsWith2AndWritesNothing) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::run_cli({"dates", "--source", folder.path("s")}).code, 2);
  EXPECT_EQ(test::run_cli({"dates", "--count", "0"}).code, 2);
  EXPECT_EQ(test::run_cli({"dates", "--split", "dev"}).code, 2);
  const auto ran = test::run_cli({"dates", "--source", folder.path("s"), "--target", folder.path("no/t")});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, HasSubstr("no/t"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace fovea::text

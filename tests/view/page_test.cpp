#include "view/page/page.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "fovea/error.hpp"
#include "support/markup.hpp"

namespace fovea::view {
namespace {

using testing::HasSubstr;
using testing::Not;

AttentionRecord picture() {
  AttentionRecord p;
  p.source = {"</script><script>alert(1)</script>", "<!--", "猫\u2028"};
  p.target = {"<img src=x onerror=alert(1)>", "\xff\x01"};
  p.weights = {2, 3, {0.12345F, 0.5F, 0.37655F, 0, 0, 1}};
  p.maps = {{AttentionKind::cross, 0, 0, p.target, p.source, p.weights},
            {AttentionKind::cross, 0, 1, p.target, p.source, p.weights}};
  return p;
}

std::string data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"pictures\">";
  const std::size_t begin = page.find(open) + open.size();
  return page.substr(begin, page.find("</script>", begin) - begin);
}

TEST(AttentionPage, HoldsTheTokensAsDataThatCannotRun) {
  const std::string page = attention_page({picture()}, "<i>run</i>.jsonl");
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<i>")));
  EXPECT_EQ(test::count(page, "<script"), test::count(page, "</script>"));
  const auto data = nlohmann::json::parse(data_of(page));
  EXPECT_EQ(data[0]["source"][0], "</script><script>alert(1)</script>");
  EXPECT_EQ(data[0]["target"][1], "\uFFFD␁");
  EXPECT_NEAR(data[0]["weights"][0][0], 0.1235, 1e-9);
  EXPECT_EQ(data[0]["weights"][1], nlohmann::json({0, 0, 1}));
  EXPECT_EQ(data[0]["attention"][1]["head"], 1);
}

TEST(AttentionPage, FetchesNothing) {
  const std::string page = attention_page({picture()}, "x");
  for (const char* outside : {"src=\"", "href=", "@import", "url(", "fetch(", "https://"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
}

TEST(AttentionPage, RefusesWeightsThatDoNotFitTheTokens) {
  AttentionRecord p = picture();
  p.source.pop_back();
  EXPECT_THROW((void)attention_page({p}, "x"), ShapeError);
}

}  // namespace
}  // namespace fovea::view

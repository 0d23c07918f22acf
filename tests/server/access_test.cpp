// API keys, rate limits, language codes and language detection.
#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "server/api/texts/detect.hpp"
#include "server/serving.hpp"
#include "text/languages.hpp"

namespace fovea::server::test {
namespace {

using testing::Pair;

class AccessTest : public Serving {};

TEST_F(AccessTest, AKeyFileMakesKeysRequired) {
  fovea::test::write_text(folder_ / "keys", "# who may\nopen-sesame\nslow 1\n");
  options_.access.keys = folder_ / "keys";
  start();
  EXPECT_EQ(translate({{"q", "one"}}).error(), "Please contact the server operator to get an API key");
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "wrong"}}).status, 403);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "wrong"}}).error(), "Invalid API key");
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "open-sesame"}}).status, 200);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "slow"}}).status, 200);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "slow"}}).status, 429);
  EXPECT_EQ(ask(port_, "GET", "/frontend/settings").json()["keyRequired"], true);
  fovea::test::write_text(folder_ / "keys", "other\n");
  server_->reload();
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "open-sesame"}}).status, 403);
  fovea::test::write_text(folder_ / "keys", "a b\n");
  EXPECT_THROW(server_->reload(), FileError);
}

TEST_F(AccessTest, AKeyMayContainAHash) {
  fovea::test::write_text(folder_ / "keys", "abc#def 5 # five a minute\n");
  options_.access.keys = folder_ / "keys";
  start();
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "abc#def"}}).status, 200);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "abc"}}).status, 403);
}

TEST_F(AccessTest, KeysCannotBeGuessedFasterThanTheRate) {
  fovea::test::write_text(folder_ / "keys", "open-sesame\n");
  options_.access.keys = folder_ / "keys";
  options_.access.rate = 2;
  start();
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "a"}}).status, 403);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "b"}}).status, 403);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "c"}}).status, 429);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "open-sesame"}}).status, 200) << "a valid key is counted by itself";
}

TEST_F(AccessTest, WrongRequestsCountToo) {
  options_.access.rate = 3;
  start();
  EXPECT_EQ(ask(port_, "POST", "/translate", "{").status, 400);
  EXPECT_EQ(translate({{"q", "one"}, {"source", "zz"}}).status, 400);
  EXPECT_EQ(translate({{"q", std::string(200'000, 'a')}}).status, 400);
  EXPECT_EQ(translate({{"q", "one"}}).status, 429);
}

TEST_F(AccessTest, WithoutAKeyOnlyTheKeyOfABodyIsRead) {
  fovea::test::write_text(folder_ / "keys", "open-sesame\n");
  options_.access.keys = folder_ / "keys";
  start();
  const std::string needed = "Please contact the server operator to get an API key";
  EXPECT_EQ(ask(port_, "POST", "/translate", R"({"q": 7)").error(), needed);
  EXPECT_EQ(ask(port_, "POST", "/translate", R"({"q": {"api_key": "open-sesame"}})").error(), needed);
  EXPECT_EQ(ask(port_, "POST", "/translate", R"({"api_key": ["open-sesame"]})").error(), needed);
  EXPECT_EQ(ask(port_, "POST", "/translate", R"({"api_key": "open-sesame", "q": 7)").error(), "Invalid JSON format");
  const std::string form = "q=one&source=en&target=de&api_key=";
  EXPECT_EQ(ask(port_, "POST", "/translate", form + "open-sesame", "application/x-www-form-urlencoded").status, 200);
  EXPECT_EQ(ask(port_, "POST", "/translate", form + "x", "application/x-www-form-urlencoded").status, 403);
  EXPECT_EQ(ask(port_, "POST", "/translate?" + form + "open-sesame").status, 200);
}

TEST_F(AccessTest, KeysCannotBeGuessedFastWithoutARateLimit) {
  fovea::test::write_text(folder_ / "keys", "open-sesame\n");
  options_.access.keys = folder_ / "keys";
  start();
  int last = 0;
  for (int i = 0; i < 70 && last != 429; ++i) last = translate({{"q", "one"}, {"api_key", "a"}}).status;
  EXPECT_EQ(last, 429);
  EXPECT_EQ(translate({{"q", "one"}, {"api_key", "open-sesame"}}).status, 200);
}

TEST_F(AccessTest, ATextOfAnArrayCountsAsARequest) {
  options_.access.rate = 5;
  start();
  EXPECT_EQ(translate({{"q", {"one", "two", "three"}}}).status, 200);
  EXPECT_EQ(translate({{"q", {"one", "two", "three"}}}).status, 429);
  EXPECT_EQ(translate({{"q", "one"}}).status, 200) << "a refused array counts once";
  EXPECT_EQ(translate({{"q", "one"}}).status, 429);
}

TEST_F(AccessTest, RatesAreKeptPerClient) {
  options_.access.rate = 3;
  options_.http.behind_proxy = true;
  start();
  const auto from = [&](const std::string& address) {
    return ask(port_, "POST", "/translate", R"({"q":"one","source":"en","target":"de"})", "application/json",
               "X-Forwarded-For: 9.9.9.9, " + address + "\r\n");
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(from("1.1.1.1").status, 200);
  const Answer refused = from("1.1.1.1");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.error(), "Slowdown: 3 per 1 minute");
  EXPECT_GT(std::stoi(refused.header("Retry-After")), 10) << "3 per minute: one in 20 seconds";
  EXPECT_LE(std::stoi(refused.header("Retry-After")), 20);
  EXPECT_EQ(from("2.2.2.2").status, 200);
  for (int i = 1; i <= 3; ++i) EXPECT_EQ(from("2001:db8::" + std::to_string(i)).status, 200);
  EXPECT_EQ(from("2001:db8::4").status, 429) << "a /64 network is one client";
  EXPECT_EQ(from("2001:db8:0:1::4").status, 200);
  EXPECT_EQ(ask(port_, "GET", "/languages").status, 200) << "only POST requests count";
}

TEST_F(AccessTest, AClientCannotChooseItsAddress) {
  options_.access.rate = 1;
  options_.http.behind_proxy = true;
  start();
  const auto claiming = [&](const std::string& address) {  // the proxy adds a second header
    return ask(port_, "POST", "/translate", R"({"q":"one","source":"en","target":"de"})", "application/json",
               "X-Forwarded-For: " + address + "\r\nx-forwarded-for: 1.1.1.1\r\n");
  };
  EXPECT_EQ(claiming("5.5.5.5").status, 200);
  EXPECT_EQ(claiming("6.6.6.6").status, 429);
}

TEST(Languages, PairsAreSplitBetweenLanguages) {
  EXPECT_THAT(text::language_pair("en-de").value(), Pair("en", "de"));
  EXPECT_THAT(text::language_pair("zh-Hans-en").value(), Pair("zh-Hans", "en"));
  EXPECT_THAT(text::language_pair("en-pt-BR").value(), Pair("en", "pt-BR"));
  EXPECT_THAT(text::language_pair("dates-iso").value(), Pair("dates", "iso"));
  for (const char* bad : {"", "en", "-de", "en-", "a-b-c", "en/de", "../x-y"})
    EXPECT_FALSE(text::language_pair(bad)) << bad;
  EXPECT_EQ(text::language_name("de"), "German");
  EXPECT_EQ(text::language_name("iso"), "iso");
}

TEST(Detect, RecognisesLanguagesOfSentences) {
  const std::vector<std::string> all{"en", "de", "fr", "es", "it", "nl", "pl",
                                     "ru", "uk", "zh", "ja", "ko", "ar", "el"};
  const auto guess = [&](const std::string& text) { return detect_language(std::vector{text}, all).language; };
  EXPECT_EQ(guess("Two men are standing in front of the house."), "en");
  EXPECT_EQ(guess("Zwei Männer stehen vor dem Haus und warten."), "de");
  EXPECT_EQ(guess("Deux hommes sont debout dans la rue avec un chien."), "fr");
  EXPECT_EQ(guess("Un hombre con una camisa azul está en la calle."), "es");
  EXPECT_EQ(guess("Il cane è nella casa con la donna."), "it");
  EXPECT_EQ(guess("Een man met een hond staat op het plein."), "nl");
  EXPECT_EQ(guess("Mężczyzna w niebieskiej koszuli jest na ulicy."), "pl");
  EXPECT_EQ(guess("Это большой дом, и он стоит на улице."), "ru");
  EXPECT_EQ(guess("Це великий будинок, і він стоїть на вулиці."), "uk");
  EXPECT_EQ(guess("看小猫，它好可爱"), "zh");
  EXPECT_EQ(guess("猫はとてもかわいいです"), "ja");
  EXPECT_EQ(guess("고양이가 귀여워요"), "ko");
}

TEST(Detect, HasLowConfidenceWithoutEvidence) {
  const std::vector<std::string> two{"en", "de"};
  EXPECT_EQ(detect_language(std::vector<std::string>{"12345 !!"}, two).confidence, 0);
  EXPECT_LT(detect_language(std::vector<std::string>{"Computer"}, two).confidence, 30);
  EXPECT_GT(detect_language(std::vector<std::string>{"This is the dog and that is not"}, two).confidence, 60);
}

}  // namespace
}  // namespace fovea::server::test

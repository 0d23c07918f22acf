// The API of LibreTranslate.
#include <gmock/gmock.h>

#include "server/serving.hpp"

namespace fovea::server::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Api : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    start();
  }
};

TEST_F(Api, EveryEncodingOfARequestHasTheSameResponse) {
  const std::string expected = text_of("one two");
  EXPECT_NE(expected, "?");
  const std::string form = "q=one+two&source=en&target=de";
  EXPECT_EQ(ask(port_, "POST", "/translate", form, "application/x-www-form-urlencoded").json()["translatedText"],
            expected);
  EXPECT_EQ(ask(port_, "POST", "/translate?q=one%20two&source=en&target=de").json()["translatedText"], expected);
  const std::string multipart =
      "--xyz\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\none two\r\n--xyz\r\n"
      "Content-Disposition: form-data; name=\"source\"\r\n\r\nen\r\n--xyz\r\n"
      "Content-Disposition: form-data; name=\"target\"\r\n\r\nde\r\n--xyz--\r\n";
  EXPECT_EQ(ask(port_, "POST", "/translate", multipart, "multipart/form-data; boundary=xyz").json()["translatedText"],
            expected);
}

TEST_F(Api, AnArrayIsAnsweredByAnArray) {
  const auto answer = translate({{"q", {"one two", "", "three"}}}).json();
  ASSERT_THAT(answer["translatedText"], SizeIs(3));
  EXPECT_EQ(answer["translatedText"][0], text_of("one two"));
  EXPECT_EQ(answer["translatedText"][1], "");
  EXPECT_EQ(answer["translatedText"][2], text_of("three"));
  EXPECT_FALSE(answer.contains("alternatives"));
  EXPECT_FALSE(answer.contains("detectedLanguage"));
}

TEST_F(Api, LineEndsStayWhereTheyWere) {
  const std::string text = translate({{"q", "\none\n\n two\n"}}).json()["translatedText"];
  EXPECT_EQ(text, "\n" + text_of("one") + "\n\n " + text_of("two") + "\n");
}

TEST_F(Api, AlternativesDifferFromTheTranslation) {
  const auto answer = translate({{"q", "one two three"}, {"alternatives", 3}}).json();
  EXPECT_THAT(answer["alternatives"], Not(IsEmpty()));
  for (const auto& other : answer["alternatives"]) EXPECT_NE(other, answer["translatedText"]);
  EXPECT_THAT(translate({{"q", {"one", "two"}}, {"alternatives", 2}}).json()["alternatives"], SizeIs(2));
  EXPECT_EQ(translate({{"q", "one"}, {"alternatives", "many"}}).error(),
            "Invalid request: alternatives parameter is not a number");
  EXPECT_EQ(translate({{"q", "one"}, {"alternatives", 2.9}}).error(),
            "Invalid request: alternatives parameter is not a whole number");
  EXPECT_EQ(translate({{"q", "one"}, {"alternatives", 2.0}}).status, 200);
  EXPECT_EQ(translate({{"q", "one"}, {"alternatives", 11}}).error(),
            "Invalid request: alternatives parameter must be <= 10");
}

TEST_F(Api, AutoReportsTheDetectedLanguage) {
  const auto answer = translate({{"q", "Das ist nicht der Hund und die Katze"}, {"source", "auto"}, {"target", "en"}});
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.json()["detectedLanguage"]["language"], "de");
  const auto two = translate({{"q", {"This is the dog", "and that is not"}}, {"source", "auto"}}).json();
  ASSERT_THAT(two["detectedLanguage"], SizeIs(2));
  EXPECT_EQ(two["detectedLanguage"][1]["language"], "en");
  const auto found = post(port_, "/detect", {{"q", "Das ist nicht der Hund"}}).json();
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]["language"], "de");
  EXPECT_GT(found[0]["confidence"], 50);
}

TEST_F(Api, ErrorsMatchLibreTranslate) {
  const auto error = [&](const nlohmann::json& body) {
    const Answer answer = post(port_, "/translate", body);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(answer.header("Content-Type"), "application/json");
    return answer.error();
  };
  EXPECT_EQ(error({{"source", "en"}, {"target", "de"}}), "Invalid request: missing q parameter");
  EXPECT_EQ(error({{"q", ""}, {"source", "en"}, {"target", "de"}}), "Invalid request: missing q parameter");
  EXPECT_EQ(error({{"q", "one"}, {"target", "de"}}), "Invalid request: missing source parameter");
  EXPECT_EQ(error({{"q", "one"}, {"source", "en"}}), "Invalid request: missing target parameter");
  EXPECT_EQ(error({{"q", "one"}, {"source", "zz"}, {"target", "de"}}), "zz is not supported");
  EXPECT_EQ(error({{"q", "one"}, {"source", "en"}, {"target", "zz"}}), "zz is not supported");
  EXPECT_EQ(error({{"q", "one"}, {"source", "en"}, {"target", "en"}}),
            "English (en) is not available as a target language from English (en)");
  EXPECT_EQ(error({{"q", "one"}, {"source", "en"}, {"target", "de"}, {"format", "pdf"}}),
            "pdf format is not supported");
  EXPECT_EQ(error({{"q", 7}, {"source", "en"}, {"target", "de"}}),
            "Invalid request: q parameter is not a string or an array of strings");
  EXPECT_EQ(error({{"q", "one"}, {"source", 7}, {"target", "de"}}),
            "Invalid request: source parameter is not a string");
  EXPECT_EQ(error(nlohmann::json::array({1})), "Invalid JSON format");
}

TEST_F(Api, TextAboveTheLimitIsRefused) {
  server_.reset();
  options_.api.char_limit = 5;
  options_.api.batch_limit = 2;
  start();
  EXPECT_EQ(translate({{"q", "äöüß!"}}).status, 200);
  EXPECT_EQ(translate({{"q", "äöüß!!"}}).error(), "Invalid request: request (6) exceeds text limit (5)");
  EXPECT_EQ(translate({{"q", {"a", "b", "c"}}}).error(), "Invalid request: request (3) exceeds text limit (2)");
  EXPECT_EQ(post(port_, "/attention", {{"q", "äöüß!!"}, {"source", "en"}, {"target", "de"}}).error(),
            "Invalid request: request (6) exceeds text limit (5)");
  EXPECT_EQ(post(port_, "/detect", {{"q", {"a", "b", "c"}}}).error(),
            "Invalid request: request (3) exceeds text limit (2)");
}

TEST_F(Api, OverwritingAServedModelDoesNotChangeIt) {
  const std::string before = text_of("one two three");
  fovea::test::write_text(folder_ / "a/model.safetensors", "");
  EXPECT_EQ(text_of("one two three"), before);
  EXPECT_EQ(translate({{"q", "four five"}}).status, 200);
}

TEST_F(Api, MarkupIsKeptAndTextIsTranslated) {
  const std::string html = "<p class=\"one\">one <b>two</b> &amp; three</p><script>one < two</script><br/>";
  const std::string text = translate({{"q", html}, {"format", "html"}}).json()["translatedText"];
  EXPECT_THAT(text, testing::StartsWith("<p class=\"one\">"));
  EXPECT_THAT(text, HasSubstr("<b>"));
  EXPECT_THAT(text, HasSubstr("</p><script>one < two</script><br/>"));
}

TEST_F(Api, LanguagesListsEveryCodeWithItsTargets) {
  const auto list = ask(port_, "GET", "/languages").json();
  ASSERT_THAT(list, SizeIs(2));
  EXPECT_EQ(list[0], (nlohmann::json{{"code", "en"}, {"name", "English"}, {"targets", {"de"}}}));
  EXPECT_EQ(list[1], (nlohmann::json{{"code", "de"}, {"name", "German"}, {"targets", {"en"}}}));
}

TEST_F(Api, SettingsNameTheModels) {
  const auto settings = ask(port_, "GET", "/frontend/settings").json();
  EXPECT_EQ(settings["charLimit"], options_.api.char_limit);
  EXPECT_EQ(settings["keyRequired"], false);
  EXPECT_EQ(settings["language"]["source"]["name"], "English");
  const auto& models = settings["fovea"]["models"];
  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0], (nlohmann::json{{"name", "en-de"},
                                       {"source", "en"},
                                       {"target", "de"},
                                       {"layers", 2},
                                       {"heads", 2},
                                       {"task", "generate"},
                                       {"examples", nlohmann::json::array()},
                                       {"checkpoints", nlohmann::json::array()}}));
  EXPECT_EQ(models[1]["layers"], 1);
}

TEST_F(Api, HealthSpecAndMetricsAnswer) {
  EXPECT_EQ(ask(port_, "GET", "/health").body, R"({"status":"ok"})");
  const auto spec = ask(port_, "GET", "/spec").json();
  EXPECT_EQ(spec["swagger"], "2.0");
  EXPECT_TRUE(spec["paths"]["/translate"].contains("post"));
  (void)text_of("one two");
  const Answer metrics = ask(port_, "GET", "/metrics");
  EXPECT_THAT(metrics.body, HasSubstr("fovea_requests_total{path=\"/translate\",status=\"200\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("fovea_request_seconds_count{path=\"/translate\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("fovea_batch_lines_count{model=\"en-de\"} 1\n"));
  EXPECT_THAT(metrics.body, HasSubstr("fovea_tokens_total{model=\"en-de\",side=\"source\"} 2\n"));
  EXPECT_THAT(metrics.body, HasSubstr("fovea_model_loads_total{result=\"ok\"} 2\n"));
  EXPECT_THAT(metrics.body, HasSubstr("process_resident_memory_bytes "));
}

TEST_F(Api, PagesOfEveryOriginAreAllowed) {
  const Answer preflight = ask(port_, "OPTIONS", "/translate");
  EXPECT_EQ(preflight.status, 200);
  for (const Answer& a : {preflight, ask(port_, "GET", "/languages"), ask(port_, "POST", "/translate", "{}")}) {
    EXPECT_EQ(a.header("Access-Control-Allow-Origin"), "*");
    EXPECT_EQ(a.header("Access-Control-Allow-Headers"), "Authorization, Content-Type");
    EXPECT_EQ(a.header("Access-Control-Allow-Methods"), "GET, POST");
  }
}

TEST_F(Api, OnlyThePageAndItsAssetsAreServed) {
  EXPECT_EQ(ask(port_, "GET", "/").status, 200);
  EXPECT_THAT(ask(port_, "GET", "/").header("Content-Type"), HasSubstr("text/html"));
  EXPECT_THAT(ask(port_, "GET", "/assets/app.css").header("Content-Type"), HasSubstr("text/css"));
  for (const char* path : {"/assets/../config.json", "/../../etc/passwd", "/assets/%2e%2e/%2e%2e/etc/passwd",
                           "/assets/", "/assets/no.js", "//etc/passwd", "/translate/", "/assets/%00", "/assets"}) {
    EXPECT_EQ(ask(port_, "GET", path).status, 404) << path;
  }
}

TEST_F(Api, ErrorsNameTasksWithoutAModel) {
  for (const std::string task : {"classify", "caption", "chat"}) {
    const Answer answer = post(port_, "/" + task, {{"q", "one"}});
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.error(), HasSubstr("\"" + task + "\""));
  }
  EXPECT_EQ(ask(port_, "GET", "/translate").status, 405);
}

TEST_F(Api, ACodeThatIsNotALanguageMatchesEveryLanguage) {
  server_.reset();
  fovea::test::write_tiny_model(folder_ / "dates", fovea::test::tiny_rnn(), "dates-iso", 3);
  options_.models = {ModelPlace::parse((folder_ / "dates").string())};
  start();
  const std::string expected =
      translate({{"q", "one"}, {"source", "dates"}, {"target", "iso"}}).json()["translatedText"];
  EXPECT_EQ(translate({{"q", "one"}, {"source", "fr"}, {"target", "es"}}).json()["translatedText"], expected);
  EXPECT_EQ(translate({{"q", "one"}, {"source", "zz"}, {"target", "es"}}).error(), "zz is not supported");
  EXPECT_EQ(translate({{"q", "one"}, {"source", "auto"}, {"target", "iso"}}).status, 200);
}

TEST_F(Api, LanguagesOfTheOptionOverrideTheConfig) {
  server_.reset();
  options_.models = {ModelPlace::parse("zh-Hans-en=" + (folder_ / "a").string())};
  start();
  EXPECT_EQ(ask(port_, "GET", "/languages").json()[0]["name"], "Chinese (simplified)");
  EXPECT_EQ(translate({{"q", "one"}, {"source", "zh-Hans"}, {"target", "en"}}).status, 200);
}

}  // namespace
}  // namespace fovea::server::test

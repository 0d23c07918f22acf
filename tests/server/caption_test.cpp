// POST /caption.
#include <gmock/gmock.h>

#include "fovea/captioner.hpp"
#include "server/serving.hpp"
#include "support/pictures.hpp"
#include "view/picture/picture_view.hpp"

namespace fovea::server::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CaptionApi : public Serving {
 protected:
  void SetUp() override {
    Serving::SetUp();
    fovea::test::write_tiny_captioner(folder_ / "captions");
    fovea::test::write_tiny_captioner(folder_ / "blind", 2, RnnAttention::none);
    options_.models.push_back(ModelPlace::parse((folder_ / "captions").string()));
    options_.models.push_back(ModelPlace::parse((folder_ / "blind").string()));
    start();
    picture_ = fovea::test::plain_picture(48, 32, {20, 60, 220});
    fovea::test::draw(picture_, fovea::test::ShapeKind::circle, {250, 40, 10}, 20, 15, 8);
  }
  [[nodiscard]] Answer caption(const nlohmann::json& body) const { return post(port_, "/caption", body); }

  Picture picture_;
};

TEST_F(CaptionApi, TheResponseMatchesTheCaptioner) {
  const Picture small = square(picture_, 32);
  const std::string address = view::picture_address(small);  // a JPEG of it
  const std::string png = fovea::test::png_file(small);
  const Captioner captioner(folder_ / "captions");
  const Generated expected = captioner.caption(small, {.attention = true});
  const std::string type = "multipart/form-data; boundary=XX";
  const std::string form = "--XX\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\r\n" + png +
                           "\r\n--XX\r\nContent-Disposition: form-data; name=\"attention\"\r\n\r\n1\r\n--XX--\r\n";
  const auto answer = ask(port_, "POST", "/caption", form, type).json();
  EXPECT_EQ(answer["caption"], expected.text);
  EXPECT_EQ(answer["tokens"], expected.attention.target);
  EXPECT_EQ(answer["rows"], 2);
  EXPECT_EQ(answer["model"], "captions");
  ASSERT_THAT(answer["attention"], SizeIs(expected.attention.target.size()));
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_NEAR(answer["attention"][0][r].get<double>(), expected.attention.weights.values[r], 1e-4);
  }
  const auto encoded = caption({{"image", address}}).json();
  EXPECT_TRUE(encoded.contains("caption"));
  EXPECT_FALSE(encoded.contains("attention")) << "it was not requested";
  const std::string bare = address.substr(address.find(',') + 1);
  EXPECT_EQ(caption({{"image", bare}}).json(), encoded);
}

TEST_F(CaptionApi, InvalidRequestsAreRefused) {
  const std::string address = view::picture_address(picture_);
  EXPECT_THAT(caption(nlohmann::json::object()).error(), HasSubstr("missing image parameter"));
  EXPECT_THAT(caption({{"image", "!!"}}).error(), HasSubstr("is not base64"));
  EXPECT_THAT(caption({{"image", "aGVsbG8="}}).error(), HasSubstr("image: neither a JPEG nor a PNG"));
  EXPECT_THAT(caption({{"image", address}, {"beam", 99}}).error(), HasSubstr("beam parameter"));
  EXPECT_THAT(caption({{"image", address}, {"model", "topics"}}).error(), HasSubstr("captions, blind"));
  EXPECT_THAT(caption({{"image", address}, {"model", "blind"}, {"attention", true}}).error(),
              HasSubstr("no attention"));
  EXPECT_EQ(caption({{"image", address}, {"model", "blind"}}).status, 200);
}

}  // namespace
}  // namespace fovea::server::test

// ROUGE against the figures of ROUGE-1.5.5 that the rouge-score package is tested with.
#include <gtest/gtest.h>

#include "fovea/metrics.hpp"

namespace fovea {
namespace {

TEST(Rouge, EqualsRouge155OnItsSampleLines) {
  const Lines references{
      "ZfbCUIUuePaiLVUlCaUXxkpu XPeWing tUHfPMuZ',-Xd Y BrUgVJing M-HV.-DgdDaY.rFDJCRing Ht-LM EKBDXkME,yz'RBr q'wtion "
      "wIojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxer tKM L"};
  const Lines hypotheses{"rFDJCRtion Ht-LM EKtDXkME,yz'RBr q'wer wrojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxi"};
  const Rouge result = rouge(hypotheses, {references});
  EXPECT_NEAR(result.rouge_1.recall, 40.741, 1e-3);
  EXPECT_NEAR(result.rouge_1.precision, 68.750, 1e-3);
  EXPECT_NEAR(result.rouge_1.f1, 51.163, 1e-3);
  EXPECT_NEAR(result.rouge_2.recall, 30.769, 1e-3);
  EXPECT_NEAR(result.rouge_2.precision, 53.333, 1e-3);
  EXPECT_NEAR(result.rouge_2.f1, 39.024, 1e-3);
  EXPECT_NEAR(result.rouge_l.f1, 51.163, 1e-3);
}

TEST(Rouge, SmallCases) {
  const Rouge one = rouge({"testing"}, {{"testing one two"}});
  EXPECT_NEAR(one.rouge_1.f1, 50, 1e-9);
  EXPECT_EQ(one.rouge_2.f1, 0);
  EXPECT_NEAR(rouge({"testing two"}, {{"testing one two"}}).rouge_l.f1, 80, 1e-9);
  EXPECT_EQ(rouge({""}, {{"testing one two"}}).rouge_l.f1, 0);
  EXPECT_EQ(rouge({"/"}, {{"testing"}}).rouge_1.f1, 0);
  EXPECT_EQ(rouge({"a b", "x"}, {{"a b", "y"}}).rouge_1.f1, 50);  // the mean over lines
}

TEST(Rouge, TheBestReferenceCountsAndATokenizerMakesChineseCount) {
  EXPECT_EQ(rouge({"b"}, {{"a"}, {"b"}}).rouge_1.f1, 100);
  EXPECT_EQ(rouge({"小猫"}, {{"小猫"}}).rouge_1.f1, 0);
  EXPECT_EQ(rouge({"小猫"}, {{"小猫"}}, {.tokenize = MetricTokenizer::zh}).rouge_1.f1, 100);
}

}  // namespace
}  // namespace fovea

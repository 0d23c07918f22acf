// chrF against the figures sacreBLEU publishes for its own tests (those use beta 3).
#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "fovea/version.hpp"

namespace fovea {
namespace {

struct Case {
  Lines hypotheses, references;
  double score;
};

TEST(Chrf, EqualsSacrebleuWithEffectiveOrder) {
  for (const Case& c : {Case{{"a"}, {"a"}, 100}, Case{{""}, {"reference"}, 0}, Case{{"a b c"}, {"a b c"}, 100},
                        Case{{"a b c"}, {"abc"}, 100}, Case{{""}, {"c"}, 0}, Case{{"a", "b"}, {"a", "c"}, 50},
                        Case{{"aa"}, {"ab"}, 25}}) {
    EXPECT_NEAR(chrf(c.hypotheses, {c.references}, {.beta = 3}).score, c.score, 1e-4) << c.hypotheses[0];
  }
}

TEST(Chrf, EqualsSacrebleuWithEpsilonSmoothing) {
  for (const Case& c :
       {Case{{"abcdefg"}, {"hijklmnop"}, 0}, Case{{"a"}, {"b"}, 0}, Case{{""}, {"reference"}, 0},
        Case{{"aa"}, {"ab"}, 8.3333}, Case{{"a", "b"}, {"a", "c"}, 8.3333}, Case{{"a"}, {"a"}, 16.6667},
        Case{{"a b c"}, {"abc"}, 50},
        Case{{" risk assessment must be made of those who are qualified and expertise in the sector - these are the "
              "scientists ."},
             {"risk assessment has to be undertaken by those who are qualified and expert in that area - that is the "
              "scientists ."},
             63.361730},
        Case{{" Die    Beziehung zwischen  Obama und Netanjahu ist nicht gerade  freundlich. "},
             {"Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich."},
             64.1302698},
        Case{{"Niemand hat die Absicht, eine Mauer zu errichten"},
             {"Niemand hat die Absicht, eine Mauer zu errichten"},
             100}}) {
    EXPECT_NEAR(chrf(c.hypotheses, {c.references}, {.beta = 3, .epsilon_smoothing = true}).score, c.score, 1e-4)
        << c.hypotheses[0];
  }
}

TEST(Chrf, EqualsSacrebleuWithWhitespaceCounted) {
  EXPECT_NEAR(chrf({"Die Beziehung zwischen Obama und Netanjahu ist nicht gerade freundlich."},
                   {{"Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich."}},
                   {.beta = 3, .whitespace = true})
                  .score,
              67.3481606, 1e-4);
}

TEST(Chrf, EqualsSacrebleuOnSentencesBeyondAscii) {
  const auto score = [](const char* hypothesis, const char* reference) {
    return chrf({hypothesis}, {{reference}}, {.epsilon_smoothing = true}).score;
  };
  EXPECT_NEAR(score("Co nás nejvíc trápí, protože lékaři si vybírají, kdo bude žít a kdo zemře.",
                    "Nejvíce smutní jsme z toho, že musíme rozhodovat o tom, kdo bude žít a kdo zemře."),
              39.14078509, 1e-4);
  EXPECT_NEAR(score("Lapali po dechu, jejich životy skončily dřív, než skutečně začaly.",
                    "Lapali po dechu a pak jejich život skončil - dřív, než skutečně mohl začít, připomněli."),
              57.15704367, 1e-4);
}

TEST(Chrf, TheBestReferenceOfALineCounts) {
  const Lines hypotheses{"the cat", "a dog"};
  const References both{{"the cat", "nothing"}, {"nothing", "a dog"}};
  EXPECT_EQ(chrf(hypotheses, both).score, 100);
  EXPECT_LT(chrf(hypotheses, {both[0]}).score, 70);
}

TEST(Chrf, AnEmptyLineAmongSeveralReferencesIsNone) {
  const Chrf with = chrf({"qqqq", "abc def"}, {{"", "abc def"}, {"xyzw", "abc def"}});
  const Chrf alone = chrf({"qqqq", "abc def"}, {{"xyzw", "abc def"}});
  EXPECT_EQ(with.score, alone.score);
  EXPECT_NEAR(with.score, 77.36, 0.005);
  EXPECT_EQ(with.signature.substr(0, 10), "nrefs:var|");
}

TEST(Chrf, SignatureAndNameAreSacrebleus) {
  const Chrf plain = chrf({"a"}, {{"a"}});
  EXPECT_EQ(plain.name, "chrF2");
  EXPECT_EQ(plain.signature, "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2-fovea-" + std::string(version()));
  const Chrf words = chrf({"A (hi)"}, {{"a (hi)"}}, {.word_order = 2, .lowercase = true});
  EXPECT_EQ(words.name, "chrF2++");
  EXPECT_EQ(words.signature, "nrefs:1|case:lc|eff:yes|nc:6|nw:2|space:no|version:2-fovea-" + std::string(version()));
  EXPECT_EQ(words.score, 100);
  EXPECT_THROW((void)chrf({"a"}, {{"a"}}, {.character_order = 0}), UsageError);
}

}  // namespace
}  // namespace fovea

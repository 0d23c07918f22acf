// TER against the figures sacreBLEU publishes for its own tests, and where its search is peculiar.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fovea/metrics.hpp"
#include "fovea/version.hpp"

namespace fovea {
namespace {

TEST(Ter, EqualsSacrebleu) {
  EXPECT_EQ(ter({"aaaa bbbb cccc dddd"}, {{"aaaa bbbb cccc dddd"}}).score, 0);
  EXPECT_EQ(ter({"dddd eeee ffff"}, {{"aaaa bbbb cccc"}}).score, 100);
  EXPECT_EQ(ter({""}, {{"a"}}).score, 100);
  EXPECT_EQ(ter({"d e f g h a b c"}, {{"a b c d e f g h"}}).score, 12.5);  // one shift
  // NOLINTBEGIN(bugprone-suspicious-missing-comma): long lines go on in the next
  const Lines hypotheses{
      "wählen Sie \" Bild neu berechnen , \" um beim Ändern der Bildgröße Pixel hinzuzufügen oder zu entfernen , damit "
      "das Bild ungefähr dieselbe Größe aufweist wie die andere Größe .",
      "wenn Sie alle Aufgaben im aktuellen Dokument aktualisieren möchten , wählen Sie im Menü des "
      "Aufgabenbedienfelds die Option \" Alle Aufgaben aktualisieren . \"",
      "klicken Sie auf der Registerkarte \" Optionen \" auf die Schaltfläche \" Benutzerdefiniert \" und geben Sie "
      "Werte für \" Fehlerkorrektur-Level \" und \" Y / X-Verhältnis \" ein .",
      "Sie können beispielsweise ein Dokument erstellen , das ein Auto über die Bühne enthält .",
      "wählen Sie im Dialogfeld \" Neu aus Vorlage \" eine Vorlage aus und klicken Sie auf \" Neu . \""};
  const Lines references{
      "wählen Sie \" Bild neu berechnen , \" um beim Ändern der Bildgröße Pixel hinzuzufügen oder zu entfernen , damit "
      "die Darstellung des Bildes in einer anderen Größe beibehalten wird .",
      "wenn Sie alle Aufgaben im aktuellen Dokument aktualisieren möchten , wählen Sie im Menü des "
      "Aufgabenbedienfelds die Option \" Alle Aufgaben aktualisieren . \"",
      "klicken Sie auf der Registerkarte \" Optionen \" auf die Schaltfläche \" Benutzerdefiniert \" und geben Sie für "
      "\" Fehlerkorrektur-Level \" und \" Y / X-Verhältnis \" niedrigere Werte ein .",
      "Sie können beispielsweise ein Dokument erstellen , das ein Auto enthalt , das sich über die Bühne bewegt .",
      "wählen Sie im Dialogfeld \" Neu aus Vorlage \" eine Vorlage aus und klicken Sie auf \" Neu . \""};
  // NOLINTEND(bugprone-suspicious-missing-comma)
  EXPECT_NEAR(ter(hypotheses, {references}).score, 13.6, 1e-3);
}

// Of shifts that save as much, the longest is made; edits counted by a second, plain program.
TEST(Ter, TheLongestOfEqualShiftsIsMade) {
  EXPECT_EQ(ter({"d a a c a c c c"}, {{"a e d c e a c a"}}).edits, 4);
  EXPECT_EQ(ter({"b d e a d e a"}, {{"a e e c b c a d"}}).edits, 5);
  EXPECT_EQ(ter({"b d e a b a c"}, {{"a c c a a b e"}}).edits, 4);
  EXPECT_EQ(ter({"c a c b d a b a b"}, {{"a b a b d e c c a"}}).edits, 4);
}

TEST(Ter, IgnoresCaseUnlessAsked) {
  EXPECT_EQ(ter({"THE Cat"}, {{"the cat"}}).score, 0);
  EXPECT_EQ(ter({"THE cat"}, {{"the cat"}}, true).score, 50);
  EXPECT_EQ(ter({"a"}, {{"a"}}).signature,
            "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2-fovea-" + std::string(version()));
}

TEST(Ter, TheReferenceWithFewestEditsCountsAndTheirLengthsAreAveraged) {
  const Ter result = ter({"a b c d"}, {{"a b c d"}, {"a b x y z z"}});
  EXPECT_EQ(result.edits, 0);
  EXPECT_EQ(result.reference_words, 5);
}

TEST(Ter, EmptyReferences) {
  EXPECT_EQ(ter({""}, {{""}}).score, 0);
  EXPECT_EQ(ter({"a b"}, {{""}}).score, 100);
}

TEST(Ter, AnEmptyLineAmongSeveralReferencesIsNone) {
  const Ter t = ter({"a b c d e f", "x y z w"}, {{"a b c d e f g h i j k l", "x y z w"}, {"", "x y z w"}});
  EXPECT_NEAR(t.score, 37.5, 1e-9);  // 6 of 12 + 4
  EXPECT_EQ(t.signature.substr(0, 10), "nrefs:var|");
}

TEST(Ter, VeryDifferentLengthsStayWithinTheBand) {
  std::string long_line;
  for (int i = 0; i < 300; ++i) long_line += fmt::format("w{} ", i);
  EXPECT_EQ(ter({"w299"}, {{long_line}}).edits, 299);
  EXPECT_EQ(ter({long_line}, {{"w0 w1"}}).edits, 298);
}

}  // namespace
}  // namespace fovea

#include "view/terminal/number_table.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace fovea::view {
namespace {

NumberTable table() {
  NumberTable t;
  t.name = "Q<b>";
  t.numbers = {2, 3, {1, -2.5F, -0.001F, -INFINITY, 10, 0}};
  t.row_labels = {"看", "<i>"};
  t.column_labels = {"a", "小猫", "c"};
  return t;
}

TEST(ShownNumber, ReadsLikeMathematics) {
  EXPECT_EQ(shown_number(-2.5, 2), "−2.50");
  EXPECT_EQ(shown_number(-0.001, 2), "0.00");
  EXPECT_EQ(shown_number(0.125, 3), "0.125");
  EXPECT_EQ(shown_number(-INFINITY, 2), "−∞");
  EXPECT_EQ(shown_number(3, 0), "3");
}

TEST(DrawTable, LinesUpUnderWideLabels) {
  EXPECT_EQ(draw_table(table(), {}),
            "           a   小猫      c\n"
            "   看   1.00  −2.50   0.00\n"
            "  <i>     −∞  10.00   0.00\n");
}

TEST(DrawTable, GoesOnBelowInANarrowTerminal) {
  EXPECT_EQ(draw_table(table(), {.width = 20}),
            "           a   小猫\n"
            "   看   1.00  −2.50\n"
            "  <i>     −∞  10.00\n"
            "           c\n"
            "   看   0.00\n"
            "  <i>   0.00\n");
}

}  // namespace
}  // namespace fovea::view

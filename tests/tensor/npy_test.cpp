#include "fovea/npy.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

// A file of format version 1 to 3 around `dictionary`, padded as NumPy does.
std::string npy(std::string dictionary, const std::string& values, int version = 1) {
  const std::size_t head = version == 1 ? 10 : 12;
  dictionary.append(63 - (head + dictionary.size()) % 64, ' ');
  dictionary += '\n';
  std::string out = std::string("\x93NUMPY") + static_cast<char>(version) + '\0';
  for (std::size_t i = 0; i < head - 8; ++i) out += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
  return out + dictionary + values;
}

Tensor parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file.data(), file.size())), "x.npy");
}
IntegerArray parse_integers(const std::string& file) {
  return parse_npy_integers(std::as_bytes(std::span(file.data(), file.size())), "x.npy");
}
std::string error(const std::string& file) {
  return test::message_of<FileError>([&] { (void)parse(file); });
}

const std::string six = bytes_of<float>({1, 2, 3, 4, 5, 6});
const std::string good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", six);

TEST(Npy, WhatIsWrittenIsRead) {
  const test::Scratch scratch;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{0}, Shape{2, 3}, Shape{3, 0, 2}, Shape{1, 2, 3, 1, 2, 1}}) {
    const Tensor t = Tensor::empty(shape);
    float next = -1.5F;
    for (float& v : t.values()) v = next++;
    write_npy(scratch / "t.npy", t);
    const Tensor back = read_npy(scratch / "t.npy");
    EXPECT_EQ(back.shape(), shape);
    EXPECT_TRUE(std::equal(t.values().begin(), t.values().end(), back.values().begin(), back.values().end()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back.data()) % 64, 0U);
  }
}

TEST(Npy, HeaderIsTheOneThatNumPyWrites) {
  const test::Scratch scratch;
  write_npy(scratch / "t.npy", Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(test::read_text(scratch / "t.npy"), good);
  EXPECT_EQ(good.size(), 128 + 24U);
}

TEST(Npy, AViewIsWrittenPacked) {
  const test::Scratch scratch;
  write_npy(scratch / "t.npy", Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6}).transpose(0, 1));
  EXPECT_THAT(read_npy(scratch / "t.npy").values(), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Npy, AMappedTensorOutlivesItsFileAndIsOnesOwn) {
  const test::Scratch scratch;
  write_npy(scratch / "t.npy", Tensor::of({3}, {1, 2, 3}));
  const Tensor t = read_npy(scratch / "t.npy").slice(0, 1, 3);
  t.data()[0] = 20;
  EXPECT_THAT(read_npy(scratch / "t.npy").values(), ElementsAre(1, 2, 3));
  std::filesystem::remove(scratch / "t.npy");
  EXPECT_THAT(t.values(), ElementsAre(20, 3));
}

TEST(Npy, EveryVersionAndOrderOfKeysIsRead) {
  for (const int version : {1, 2, 3}) {
    EXPECT_THAT(
        parse(npy("{\"shape\":(3,),'fortran_order':False,'descr':'<f8'}", bytes_of<double>({0.5, -2, 1e300}), version))
            .values(),
        ElementsAre(0.5F, -2.0F, std::numeric_limits<float>::infinity()));
  }
}

TEST(Npy, IntegersAreReadFromEveryWholeType) {
  const auto file = [](const char* descr, const std::string& values) {
    return npy(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }", values);
  };
  EXPECT_THAT(parse_integers(file("<i8", bytes_of<std::int64_t>({-5, 1LL << 60}))).values, ElementsAre(-5, 1LL << 60));
  EXPECT_THAT(parse_integers(file("<i4", bytes_of<std::int32_t>({-5, 7}))).values, ElementsAre(-5, 7));
  EXPECT_THAT(parse_integers(file("|u1", "\xFF\x01")).values, ElementsAre(255, 1));
  EXPECT_THAT(parse_integers(file("|b1", std::string("\x01\x00", 2))).values, ElementsAre(1, 0));
  EXPECT_THAT(test::message_of<FileError>([&] { (void)parse_integers(good); }), HasSubstr("descr is <f4"));
  EXPECT_THAT(error(file("<i8", bytes_of<std::int64_t>({1, 2}))), HasSubstr("descr is <i8"));
  const test::Scratch scratch;
  write_npy(scratch / "i.npy", {2}, std::vector<std::int64_t>{3, -4});
  EXPECT_THAT(read_npy_integers(scratch / "i.npy").values, ElementsAre(3, -4));
  EXPECT_THROW(write_npy(scratch / "i.npy", {3}, std::vector<std::int64_t>{3, -4}), ShapeError);
}

// NumPy pads its headers, but reads those of programs that do not.
TEST(Npy, ValuesMayBeginAtAnyAddress) {
  const test::Scratch scratch;
  for (std::size_t spaces = 1; spaces <= 8; ++spaces) {
    const auto file = [&](const char* descr, const std::string& values) {
      std::string text =
          npy(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }", values);
      text.insert(text.find('\n'), std::string(spaces, ' '));
      text[8] = static_cast<char>(text[8] + static_cast<char>(spaces));
      return text;
    };
    test::write_text(scratch / "f.npy", file("<f4", bytes_of<float>({3, -4})));
    EXPECT_THAT(read_npy(scratch / "f.npy").values(), ElementsAre(3, -4));
    EXPECT_THAT(parse(file("<f8", bytes_of<double>({3, -4}))).values(), ElementsAre(3, -4));
    EXPECT_THAT(parse_integers(file("<i8", bytes_of<std::int64_t>({3, -4}))).values, ElementsAre(3, -4));
  }
}

TEST(Npy, TruthValuesAreReadFromEveryWholeType) {
  const test::Scratch scratch;
  const auto truths = [&](const char* descr, const std::string& values) {
    test::write_text(scratch / "t.npy",
                     npy(std::string("{'descr': '") + descr + "', 'fortran_order': False, 'shape': (2,), }", values));
    const TruthArray array = read_npy_truths(scratch / "t.npy");
    EXPECT_EQ(array.shape, (Shape{2}));
    return std::vector<bool>{array.values.get()[0] != 0, array.values.get()[1] != 0};
  };
  const std::vector<bool> first{true, false};
  EXPECT_EQ(truths("|b1", std::string("\x01\x00", 2)), first);
  EXPECT_EQ(truths("|u1", std::string("\x07\x00", 2)), first);
  EXPECT_EQ(truths("<i4", bytes_of<std::int32_t>({256, 0})), first);
  EXPECT_EQ(truths("<i8", bytes_of<std::int64_t>({1LL << 40, 0})), first);
  EXPECT_THROW(truths("<f4", bytes_of<float>({1, 0})), FileError);
}

// 64 MB that were read as integers took 635 MB.
TEST(Npy, TruthValuesAreNotCopied) {
  const test::Scratch scratch;
  constexpr std::size_t size = std::size_t{64} << 20;
  test::write_text(scratch / "t.npy",
                   npy("{'descr': '|b1', 'fortran_order': False, 'shape': (67108864,), }", std::string(size, '\x01')));
  const auto resident = [] {  // pages of this process alone
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
      if (std::int64_t kilobytes = 0; word == "RssAnon:" && status >> kilobytes) return kilobytes;
    }
    return std::int64_t{-1};
  };
  const std::int64_t before = resident();
  const TruthArray array = read_npy_truths(scratch / "t.npy");
  std::size_t sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += array.values.get()[i];
  EXPECT_EQ(sum, size);
  ASSERT_GT(before, 0);
#if !defined(__SANITIZE_THREAD__)  // it keeps notes of everything that is read
  EXPECT_LT(resident() - before, 8 << 10) << "KB";
#endif
}

TEST(Npy, ATruncatedFileIsRefusedWhereverItEnds) {
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_THAT(error(good.substr(0, n)), HasSubstr("x.npy: ")) << n;
  EXPECT_THAT(error(good.substr(0, good.size() - 1)), HasSubstr("truncated: shape [2,3] needs 24 bytes, 23 are there"));
  EXPECT_THAT(error(good + "x"), HasSubstr("1 bytes follow"));
}

TEST(Npy, AHeaderThatLiesIsRefusedByTheNameOfItsField) {
  const auto with = [](const std::string& descr, const std::string& order, const std::string& shape) {
    return npy("{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }", six);
  };
  EXPECT_THAT(error(with("'>f4'", "False", "(2,3)")), HasSubstr("descr is big-endian"));
  EXPECT_THAT(error(with("'<c8'", "False", "(2,3)")), HasSubstr("descr"));
  EXPECT_THAT(error(with("[('a', '<f4')]", "False", "(2,3)")), HasSubstr("descr is a structured type"));
  EXPECT_THAT(error(with("'<f4'", "True", "(2,3)")), HasSubstr("fortran_order is True"));
  EXPECT_THAT(error(with("'<f4'", "0", "(2,3)")), HasSubstr("fortran_order"));
  EXPECT_THAT(error(with("'<f4'", "False", "(2,-3)")), HasSubstr("shape has an axis that is not"));
  EXPECT_THAT(error(with("'<f4'", "False", "(2.0,3)")), HasSubstr("shape"));
  EXPECT_THAT(error(with("'<f4'", "False", "(6)")), HasSubstr("shape is not a tuple"));
  EXPECT_THAT(error(with("'<f4'", "False", "(1,1,1,1,1,2,3)")), HasSubstr("shape has more than 6 axes"));
  EXPECT_THAT(error(with("'<f4'", "False", "(99999999999999999999,)")),
              HasSubstr("shape has an axis that is too large"));
  EXPECT_THAT(error(with("'<f4'", "False", "(4294967296,4294967296)")), HasSubstr("is too large"));
  EXPECT_THAT(error(with("'<f4'", "False", "(0,4611686018427387904,4611686018427387904)")), HasSubstr("is too large"));
  EXPECT_THAT(error(with("'<f4'", "False", "(2,3), 'shape': (2,3)")), HasSubstr("shape is in the header twice"));
  EXPECT_THAT(error(with("'<f4'", "False", "(2,3), 'x': 1")), HasSubstr("key"));
  EXPECT_THAT(error(npy("{'descr': '<f4', 'shape': (2,3)}", six)), HasSubstr("fortran_order is missing"));
  EXPECT_THAT(error(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,3)} {}", six)),
              HasSubstr("goes on after"));
}

TEST(Npy, ABrokenFrameIsRefused) {
  std::string file = good;
  file[0] = 'x';
  EXPECT_THAT(error(file), HasSubstr("magic"));
  file = good;
  file[6] = 4;
  EXPECT_THAT(error(file), HasSubstr("version 4.0"));
  file = good;
  file[9] = 0x7F;
  EXPECT_THAT(error(file), HasSubstr("header length 32630 goes past the end"));
  file = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", six, 2);
  file[11] = 0x7F;
  EXPECT_THAT(error(file), HasSubstr("header length 2130706548 is more than 1048576"));
  file = good;
  file[8] = static_cast<char>(file[8] - 1);
  EXPECT_THAT(error(file), HasSubstr("1 bytes follow the values"));
}

TEST(Npy, AMissingFileIsNamed) {
  EXPECT_THAT(test::message_of<FileError>([] { (void)read_npy("/no/such.npy"); }),
              AllOf(HasSubstr("/no/such.npy"), HasSubstr("No such file")));
}

}  // namespace
}  // namespace fovea

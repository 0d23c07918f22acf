#include "fovea/safetensors.hpp"

#include <gmock/gmock.h>

#include <cmath>
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

std::string file_of(const std::string& header, const std::string& values) {
  return bytes_of<std::uint64_t>({header.size()}) + header + values;
}

Safetensors parse(const std::string& file) {
  return {std::as_bytes(std::span(file.data(), file.size())), "x.safetensors"};
}
std::string error(const std::string& file) {
  return test::message_of<FileError>([&] { (void)parse(file); });
}
std::string error(const std::string& header, const std::string& values) {
  return error(file_of(header, values));
}

const std::string two = bytes_of<float>({1, 2});

TEST(Safetensors, WhatIsWrittenIsRead) {
  const test::Scratch scratch;
  SafetensorsWriter writer;
  const Tensor w = Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6});
  writer.add("W", w);
  writer.add("transposed", w.transpose(0, 1));
  writer.add("index", {3}, std::vector<std::int64_t>{-1, 0, 1LL << 40});
  writer.add("bytes", {3}, std::vector<std::uint8_t>{1, 2, 255});
  writer.add("nothing", Tensor::empty({0, 4}));
  writer.add("scalar", Tensor::of({}, {7}));
  writer.add("注意\n\"力\"", Tensor::of({1}, {8}));
  writer.set_metadata("format", "fovea");
  writer.write(scratch / "f");
  const Safetensors file(scratch / "f");
  EXPECT_EQ(file.entries().size(), 7U);
  EXPECT_THAT(file.tensor("W").values(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(file.tensor("W").shape(), (Shape{2, 3}));
  EXPECT_THAT(file.tensor("transposed").values(), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(file.integers("index").values, ElementsAre(-1, 0, 1LL << 40));
  EXPECT_THAT(file.integers("bytes").values, ElementsAre(1, 2, 255));
  EXPECT_EQ(file.tensor("nothing").shape(), (Shape{0, 4}));
  EXPECT_EQ(file.tensor("scalar").item(), 7);
  EXPECT_EQ(file.tensor("注意\n\"力\"").item(), 8);
  EXPECT_EQ(file.metadata().at("format"), "fovea");
  EXPECT_TRUE(file.contains("scalar"));
  EXPECT_FALSE(file.contains("scala"));
}

TEST(Safetensors, AnEmptyFileOfTensorsIsFine) {
  const test::Scratch scratch;
  SafetensorsWriter().write(scratch / "f");
  EXPECT_TRUE(Safetensors(scratch / "f").entries().empty());
}

TEST(Safetensors, EqualContentGivesEqualBytes) {
  const test::Scratch scratch;
  const Tensor t = Tensor::of({2}, {1, 2});
  const std::vector<std::int64_t> i{1};
  SafetensorsWriter a;
  a.set_metadata("x", "1");
  a.set_metadata("y", "2");
  a.add("b", t);
  a.add("a", t);
  a.add("i", {1}, i);
  a.write(scratch / "a");
  SafetensorsWriter b;
  b.add("i", {1}, i);
  b.add("a", t);
  b.add("b", t);
  b.set_metadata("y", "2");
  b.set_metadata("x", "1");
  b.write(scratch / "b");
  EXPECT_EQ(test::read_text(scratch / "a"), test::read_text(scratch / "b"));
  const std::string expected =
      R"({"__metadata__":{"x":"1","y":"2"},"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
      R"("a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]},"b":{"dtype":"F32","shape":[2],"data_offsets":[16,24]}})";
  EXPECT_EQ(test::read_text(scratch / "a").substr(8, expected.size()), expected);
}

TEST(Safetensors, AlignedFloatsAreNotCopiedAndTheFileStaysAsItIs) {
  const test::Scratch scratch;
  SafetensorsWriter writer;
  writer.add("t", Tensor::of({2}, {1, 2}));
  writer.write(scratch / "f");
  Tensor t;
  {
    const Safetensors file(scratch / "f");
    t = file.tensor("t");
    EXPECT_EQ(t.data(), file.tensor("t").data());
  }
  t.data()[0] = 5;
  EXPECT_THAT(t.values(), ElementsAre(5, 2));
  EXPECT_THAT(Safetensors(scratch / "f").tensor("t").values(), ElementsAre(1, 2));
}

TEST(Safetensors, EveryFloatTypeIsConverted) {
  const auto read = [](const std::string& dtype, std::size_t count, const std::string& values) {
    return parse(file_of(R"({"t":{"dtype":")" + dtype + R"(","shape":[)" + std::to_string(count) +
                             R"(],"data_offsets":[0,)" + std::to_string(values.size()) + "]}}",
                         values))
        .tensor("t");
  };
  EXPECT_THAT(read("F64", 2, bytes_of<double>({0.5, -3})).values(), ElementsAre(0.5F, -3.0F));
  EXPECT_THAT(read("BF16", 3, bytes_of<std::uint16_t>({0x3F80, 0xC040, 0x0000})).values(),
              ElementsAre(1.0F, -3.0F, 0.0F));
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor half = read("F16", 7, bytes_of<std::uint16_t>({0x3C00, 0xC200, 0x0001, 0x83FF, 0x7BFF, 0xFC00, 0x7E00}));
  EXPECT_THAT(half.values().first(6), ElementsAre(1.0F, -3.0F, 0x1p-24F, -0x1.FF8p-15F, 65504.0F, -infinity));
  EXPECT_TRUE(std::isnan(half.data()[6]));
}

TEST(Safetensors, AHeaderOfAnyLengthIsRead) {
  for (std::size_t spaces = 0; spaces < 9; ++spaces) {
    const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})" + std::string(spaces, ' ');
    EXPECT_THAT(parse(file_of(header, two)).tensor("a").values(), ElementsAre(1, 2));
  }
}

TEST(Safetensors, WrongTypesAndMissingNamesAreNamed) {
  const std::string file = file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", two);
  const Safetensors s = parse(file);
  EXPECT_EQ(test::message_of<FileError>([&] { (void)s.tensor("b"); }), "x.safetensors: tensor \"b\" is missing");
  EXPECT_EQ(test::message_of<FileError>([&] { (void)s.integers("a"); }),
            "x.safetensors: tensor \"a\": dtype is F32; I64, I32, U8 or BOOL is needed");
}

TEST(Safetensors, ATruncatedFileIsRefusedWhereverItEnds) {
  const std::string file = file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", two);
  EXPECT_NO_THROW(parse(file));
  for (std::size_t n = 0; n < file.size(); ++n)
    EXPECT_THAT(error(file.substr(0, n)), HasSubstr("x.safetensors: ")) << n;
  EXPECT_THAT(error(file.substr(0, file.size() - 1)), HasSubstr("data_offsets end at 8, but the file holds 7"));
  EXPECT_THAT(error(file + "x"), HasSubstr("1 bytes follow the last tensor"));
}

TEST(Safetensors, AHeaderThatLiesIsRefusedByTheNameOfItsField) {
  const auto with = [](const std::string& fields) { return error("{\"a\":{" + fields + "}}", two); };
  EXPECT_THAT(with(R"("dtype":"F31","shape":[2],"data_offsets":[0,8])"), HasSubstr("tensor \"a\": dtype \"F31\""));
  EXPECT_THAT(with(R"("dtype":7,"shape":[2],"data_offsets":[0,8])"), HasSubstr("dtype is a number"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":2,"data_offsets":[0,8])"), HasSubstr("shape is a number"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":"2","data_offsets":[0,8])"), HasSubstr("shape is a text"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), HasSubstr("shape has -2, which is negative"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])"),
              HasSubstr("shape has a number that is not whole"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[1e99999],"data_offsets":[0,8])"), HasSubstr("x.safetensors"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])"), HasSubstr("shape is a list"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[null],"data_offsets":[0,8])"), HasSubstr("shape is null"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[{}],"data_offsets":[0,8])"), HasSubstr("shape is an object"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[1,1,1,1,1,1,2],"data_offsets":[0,8])"),
              HasSubstr("shape has more than 6 axes"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,8])"), HasSubstr("too large"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8])"), HasSubstr("too large"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])"), HasSubstr("is too large"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2],"data_offsets":[0])"), HasSubstr("data_offsets has 1 numbers, not 2"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])"), HasSubstr("data_offsets has 3 numbers"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), HasSubstr("run backwards"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), HasSubstr("of shape [3] needs 12"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1)"), HasSubstr("\"x\" is not a field"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])"), HasSubstr("shape"));
  EXPECT_THAT(with(R"("dtype":"F32","shape":[2])"), HasSubstr("data_offsets is missing"));
  EXPECT_THAT(with(R"("dtype":"F32","data_offsets":[0,8])"), HasSubstr("shape is missing"));
  EXPECT_THAT(with(R"("shape":[2],"data_offsets":[0,8])"), HasSubstr("dtype is missing"));
}

TEST(Safetensors, TensorsCoverTheValuesExactlyOnce) {
  const auto f32 = [](const std::string& name, int begin, int end) {
    return "\"" + name + R"(":{"dtype":"F32","shape":[)" + std::to_string((end - begin) / 4) + R"(],"data_offsets":[)" +
           std::to_string(begin) + "," + std::to_string(end) + "]}";
  };
  EXPECT_THAT(error("{" + f32("a", 0, 8) + "," + f32("b", 4, 8) + "}", two),
              AllOf(HasSubstr("\"b\""), HasSubstr("overlapping")));
  EXPECT_THAT(error("{" + f32("a", 0, 4) + "," + f32("a", 4, 8) + "}", two), HasSubstr("is in the header twice"));
  EXPECT_THAT(error("{" + f32("a", 4, 8) + "}", two), HasSubstr("leaving a gap from 0"));
  EXPECT_THAT(error("{" + f32("a", 0, 4) + "}", two), HasSubstr("4 bytes follow the last tensor"));
  EXPECT_THAT(error(R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)" + f32("a", 1, 5) + "}", "12345"),
              AllOf(HasSubstr("\"a\": data_offsets begin at 1"), HasSubstr("misaligned")));
  EXPECT_NO_THROW(parse(file_of("{" + f32("b", 4, 8) + "," + f32("a", 0, 4) + "," + f32("c", 4, 4) + "}", two)));
}

TEST(Safetensors, ABrokenFrameIsRefused) {
  EXPECT_THAT(error(bytes_of<std::uint64_t>({100'000'001}) + std::string(10, ' ')),
              HasSubstr("is more than 100000000"));
  EXPECT_THAT(error(bytes_of<std::uint64_t>({~0ULL}) + std::string(10, ' ')), HasSubstr("header length"));
  EXPECT_THAT(error(bytes_of<std::uint64_t>({11}) + std::string(10, ' ')), HasSubstr("goes past the end"));
  EXPECT_THAT(error("", ""), HasSubstr("header does not begin with {"));
  EXPECT_THAT(error("[]", ""), HasSubstr("header does not begin with {"));
  EXPECT_THAT(error("{} x", ""), HasSubstr("not JSON"));
  EXPECT_THAT(error("{\"\xFF\":{}}", ""), HasSubstr("not JSON in UTF-8"));
  EXPECT_THAT(error(R"({"\ud800":{}})", ""), HasSubstr("not JSON"));
  EXPECT_THAT(error(R"({"a":[]})", ""), HasSubstr("tensor \"a\": is a list"));
  EXPECT_THAT(error(R"({"a":1})", ""), HasSubstr("tensor \"a\": is a number"));
  EXPECT_THAT(error(R"({"__metadata__":{"x":1}})", ""), HasSubstr("\"x\" is a number"));
  EXPECT_THAT(error(R"({"__metadata__":{"x":{}}})", ""), HasSubstr("\"x\""));
  EXPECT_THAT(error(R"({"__metadata__":{"x":"1","x":"2"}})", ""), HasSubstr("is in the header twice"));
  EXPECT_THAT(error(R"({"__metadata__":"x"})", ""), HasSubstr("is a text"));
  EXPECT_THAT(error("{\"a\":" + std::string(100000, '['), ""), HasSubstr("is a list"));
}

TEST(SafetensorsWriter, WhatCannotBeReadBackIsRefused) {
  SafetensorsWriter writer;
  const Tensor t = Tensor::of({1}, {1});
  writer.add("a", t);
  EXPECT_THAT(test::message_of<UsageError>([&] { writer.add("a", t); }), HasSubstr("\"a\" is used twice"));
  EXPECT_THROW(writer.add("__metadata__", t), UsageError);
  EXPECT_THROW(writer.add("\xFF", t), UsageError);
  EXPECT_THROW(writer.set_metadata("\xFF", ""), UsageError);
  EXPECT_THROW(writer.add("b", {2}, std::vector<std::int64_t>{1}), ShapeError);
}

}  // namespace
}  // namespace fovea

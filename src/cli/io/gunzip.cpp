#include "cli/io/gunzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <streambuf>

#include "fovea/error.hpp"

namespace fovea::cli {
namespace {

constexpr std::size_t kPiece = 1 << 16;
constexpr int kFirst = 0x1F, kSecond = 0x8B;  // how a gzip file starts (RFC 1952)

}  // namespace

class TextInput::Buffer final : public std::streambuf {
 public:
  /// `begin` are bytes that were read from `in` already.
  Buffer(std::istream& in, std::array<char, 2> begin) : in_(in) {
    std::copy(begin.begin(), begin.end(), packed_.begin());
    zlib_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    zlib_.avail_in = static_cast<uInt>(begin.size());
    if (inflateInit2(&zlib_, 15 + 16) != Z_OK) throw Error("standard input: out of memory");
  }
  ~Buffer() override { inflateEnd(&zlib_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 protected:
  int_type underflow() override {
    while (gptr() == egptr()) {
      if (zlib_.avail_in == 0 && !read_packed()) {
        if (!ended_) throw FileError("standard input: the gzip data is cut short");
        return traits_type::eof();
      }
      // A gzip file may have several parts, one behind the other.
      if (ended_) {
        inflateReset(&zlib_);
        ended_ = false;
      }
      zlib_.next_out = reinterpret_cast<Bytef*>(text_.data());
      zlib_.avail_out = static_cast<uInt>(text_.size());
      const int code = inflate(&zlib_, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
        throw FileError("standard input: damaged gzip data");
      }
      ended_ = code == Z_STREAM_END;
      setg(text_.data(), text_.data(), text_.data() + (text_.size() - zlib_.avail_out));
    }
    return traits_type::to_int_type(*gptr());
  }
  // What has been unpacked counts; what could be unpacked is as good as there.
  std::streamsize showmanyc() override {
    return zlib_.avail_in > 0 ? 1 : std::max<std::streamsize>(0, in_.rdbuf()->in_avail());
  }

 private:
  bool read_packed() {
    // As much as there is: a program may send a little and wait for its answer.
    if (in_.peek() == traits_type::eof()) return false;
    const std::streamsize got = in_.readsome(packed_.data(), static_cast<std::streamsize>(packed_.size()));
    zlib_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    zlib_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  std::istream& in_;
  z_stream zlib_{};
  std::array<char, kPiece> packed_{}, text_{};
  bool ended_ = false;  // a part has been unpacked whole
};

TextInput::TextInput(std::istream& in) : plain_(in) {
  if (in.peek() != kFirst) return;
  const auto first = static_cast<char>(in.get());
  if (in.peek() != kSecond) {
    in.clear();
    in.putback(first);
    return;
  }
  buffer_ = std::make_unique<Buffer>(in, std::array<char, 2>{first, static_cast<char>(in.get())});
  unpacked_ = std::make_unique<std::istream>(buffer_.get());
  unpacked_->exceptions(std::ios::badbit);  // so that what the buffer throws reaches the reader
}

TextInput::~TextInput() = default;

}  // namespace fovea::cli

#include "base/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <deque>
#include <regex>
#include <system_error>
#include <utility>

#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
constexpr std::size_t kLargestWrite = 1 << 30;  // Linux takes at most 2 GB in one call

std::atomic<unsigned> serial{0};

[[noreturn]] void fail_with(const std::filesystem::path& name, const char* what, int error) {
  throw FileError(fmt::format("{}: cannot {}: {}", name.string(), what, std::generic_category().message(error)));
}

}  // namespace

WholeFile::WholeFile(const std::filesystem::path& target) : name_(target), target_(target) {
  if (name_.empty()) throw FileError("cannot write to a file without a name");
  struct stat status {};
  const bool exists = ::stat(name_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail_with(name_, "write", EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail_with(name_, "write", errno);
    return;
  }
  std::error_code error;
  if (std::filesystem::is_symlink(name_, error)) {
    target_ = std::filesystem::weakly_canonical(name_, error);
    if (error) fail_with(name_, "follow the link", error.value());
  }
  do {
    temporary_ = target_.parent_path() /
                 fmt::format(".{}.{}.{}.tmp", target_.filename().string(), ::getpid(), serial.fetch_add(1));
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int reason = errno;
    temporary_.clear();
    fail_with(name_, "write", reason);
  }
  if (exists) (void)::fchmod(descriptor_, status.st_mode & 07777);  // the new file is as open as the old one was
}

WholeFile::~WholeFile() {
  discard();
}

void remove_leftovers(const std::filesystem::path& folder) {
  static const std::regex temporary(R"(\..+\.([0-9]{1,9})\.[0-9]+\.tmp)");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    std::smatch match;
    if (!std::regex_match(name, match, temporary)) continue;
    if (::kill(std::stoi(match[1]), 0) == 0 || errno != ESRCH) continue;  // it may still be writing
    std::filesystem::remove(entry.path(), error);
  }
}

void WholeFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() <= kBuffer) {
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return;
  }
  flush();
  put(bytes.data(), bytes.size());
}

void WholeFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void WholeFile::prepare() {
  if (prepared_) return;
  flush();
  if (!temporary_.empty() && ::fsync(descriptor_) != 0) fail("write");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail("write");
  prepared_ = true;
}

void WholeFile::commit() {
  prepare();
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write");
  temporary_.clear();
  // The new name is on the disk only when its folder is. A file system that cannot do that has done its best.
  const auto folder = target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    (void)::fsync(descriptor);
    ::close(descriptor);
  }
}

void WholeFile::flush() {
  put(reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size());
  buffer_.clear();
}

void WholeFile::put(const std::byte* bytes, std::size_t count) {
  if (descriptor_ < 0) throw FileError(name_.string() + ": written to after it was closed");
  while (count > 0) {
    const ssize_t done = ::write(descriptor_, bytes, count < kLargestWrite ? count : kLargestWrite);
    if (done < 0) {
      if (errno == EINTR) continue;
      fail("write");
    }
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
}

void WholeFile::fail(const char* what) {
  const int error = errno;
  discard();
  fail_with(name_, what, error);
}

void WholeFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_whole_file(const std::filesystem::path& target, std::string_view text) {
  WholeFile file(target);
  file.write(text);
  file.commit();
}

void write_whole_files(std::initializer_list<std::pair<std::string_view, std::string_view>> files) {
  std::deque<WholeFile> open;
  for (const auto& [name, text] : files) {
    if (!name.empty()) open.emplace_back(name).write(text);
  }
  for (WholeFile& file : open) file.prepare();
  for (WholeFile& file : open) file.commit();
}

}  // namespace fovea

// Where a fuzz target writes the files that it has read: a folder of its process, in memory where the system has such
// a place, gone when the process ends.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

struct FuzzFolder {
  FuzzFolder() {
    std::error_code none;
    const std::filesystem::path memory = "/dev/shm";
    path = (std::filesystem::is_directory(memory, none) ? memory : std::filesystem::temp_directory_path()) /
           ("fovea-fuzz-" + std::to_string(::getpid()));
    std::filesystem::create_directories(path);
  }
  ~FuzzFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;
  [[nodiscard]] std::string write(const char* name, std::string_view bytes) const {
    std::ofstream(path / name, std::ios::binary) << bytes;
    return (path / name).string();
  }

  std::filesystem::path path;
};

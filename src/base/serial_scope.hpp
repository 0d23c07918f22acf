// A thread that keeps to itself.
#pragma once

namespace fovea {

/// While it lives, parallel work of the thread that made it runs on that thread alone: for a process that has as many
/// threads of its own as there are cores.
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool before_;
};

}  // namespace fovea

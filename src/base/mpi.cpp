// Processes over Open MPI. Its library is loaded at run time, and only when mpirun started this process: the binary
// needs no MPI, neither to be built nor to run alone. What is declared here is the part of Open MPI's binary interface
// that is used, the same in its versions 3 to 5 (libmpi.so.40): handles are addresses of objects in the library.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "base/processes.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

constexpr const char* kLibrary = "libmpi.so.40";
constexpr std::size_t kLargestMessage = std::size_t{1} << 28;  // bytes of one message: MPI counts in int
constexpr int kFirstTag = 1;                                   // of channel 0; the standard promises tags up to 32,767
constexpr int kSerialized = 2;                                 // MPI_THREAD_SERIALIZED: one thread at a time calls it

using Clock = std::chrono::steady_clock;
using Handle = void*;

std::atomic<double> timeout_seconds{1800};

class Alone final : public Processes {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int count() const override { return 1; }
  [[nodiscard]] int start(int, std::span<const Outgoing>, std::span<const Incoming>) override { return 0; }
  [[nodiscard]] bool done(int) override { return true; }
  void wait(int) override {}
};

struct Library {
  int (*init_thread)(int*, char***, int, int*);
  int (*comm_rank)(Handle, int*);
  int (*comm_size)(Handle, int*);
  int (*send)(const void*, int, Handle, int, int, Handle, Handle*);
  int (*receive)(void*, int, Handle, int, int, Handle, Handle*);
  int (*test)(Handle*, int*, void*);
  int (*finalize)();
  int (*abort)(Handle, int);
  Handle world, byte;

  Library() {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) {
      throw Error(fmt::format("started by mpirun, but {} of Open MPI cannot be loaded: {}", kLibrary, ::dlerror()));
    }
    const auto find = [library](auto& to, const char* name) {
      void* const at = ::dlsym(library, name);
      if (at == nullptr) throw Error(fmt::format("{}: there is no {} in it", kLibrary, name));
      to = reinterpret_cast<std::remove_reference_t<decltype(to)>>(at);
    };
    find(init_thread, "MPI_Init_thread");
    find(comm_rank, "MPI_Comm_rank");
    find(comm_size, "MPI_Comm_size");
    find(send, "MPI_Isend");
    find(receive, "MPI_Irecv");
    find(test, "MPI_Test");
    find(finalize, "MPI_Finalize");
    find(abort, "MPI_Abort");
    find(world, "ompi_mpi_comm_world");
    find(byte, "ompi_mpi_byte");
  }
};

class Mpi final : public Processes {
 public:
  Mpi() {
    int provided = 0;
    check(mpi_.init_thread(nullptr, nullptr, kSerialized, &provided), "MPI_Init_thread");
    if (provided < kSerialized) throw Error("this Open MPI was built for programs of one thread (MPI_THREAD_SINGLE)");
    check(mpi_.comm_rank(mpi_.world, &rank_), "MPI_Comm_rank");
    check(mpi_.comm_size(mpi_.world, &count_), "MPI_Comm_size");
  }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }

  [[nodiscard]] int start(int channel, std::span<const Outgoing> send, std::span<const Incoming> receive) override {
    const int ticket = free_ticket();
    std::vector<Pending>& pending = tickets_[static_cast<std::size_t>(ticket)].pending;
    const int tag = kFirstTag + channel;
    for (const Incoming& message : receive) {
      for (std::size_t at = 0; at < message.bytes.size(); at += kLargestMessage) {
        const auto part = message.bytes.subspan(at, std::min(kLargestMessage, message.bytes.size() - at));
        Handle& request = pending.emplace_back(Pending{message.from, nullptr}).request;
        check(mpi_.receive(part.data(), static_cast<int>(part.size()), mpi_.byte, message.from, tag, mpi_.world,
                           &request),
              "MPI_Irecv");
      }
    }
    for (const Outgoing& message : send) {
      for (std::size_t at = 0; at < message.bytes.size(); at += kLargestMessage) {
        const auto part = message.bytes.subspan(at, std::min(kLargestMessage, message.bytes.size() - at));
        Handle& request = pending.emplace_back(Pending{message.to, nullptr}).request;
        check(mpi_.send(part.data(), static_cast<int>(part.size()), mpi_.byte, message.to, tag, mpi_.world, &request),
              "MPI_Isend");
      }
    }
    return ticket;
  }

  [[nodiscard]] bool done(int ticket) override {
    Ticket& t = tickets_[static_cast<std::size_t>(ticket)];
    while (!t.pending.empty()) {
      int through = 0;
      check(mpi_.test(&t.pending.back().request, &through, nullptr), "MPI_Test");
      if (through == 0) return false;
      t.pending.pop_back();
    }
    t.used = false;
    return true;
  }

  // MPI moves messages only while it is called. So it is asked again and again; after a few milliseconds without any
  // news the processor is left to others between two questions.
  void wait(int ticket) override {
    const Ticket& t = tickets_[static_cast<std::size_t>(ticket)];
    const Clock::time_point start = Clock::now();
    Clock::time_point last = start;
    for (std::size_t left = t.pending.size(); !done(ticket);) {
      const Clock::time_point now = Clock::now();
      if (t.pending.size() < left) {
        left = t.pending.size();
        last = now;
      } else if (now - last > std::chrono::milliseconds(2)) {
        const double waited = std::chrono::duration<double>(now - last).count();
        if (waited > timeout_seconds) {
          throw Error(fmt::format("no answer from rank {} for {:.0f} s", t.pending.back().peer, waited));
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      } else {
        std::this_thread::yield();
      }
    }
  }

  void finalize() { (void)mpi_.finalize(); }
  void abort(int code) { (void)mpi_.abort(mpi_.world, code); }

 private:
  struct Pending {
    int peer;
    Handle request;
  };

  static void check(int code, const char* what) {
    if (code != 0) throw Error(fmt::format("{} failed with code {}", what, code));
  }

  // What one call of start() began.
  struct Ticket {
    bool used = false;
    std::vector<Pending> pending{};
  };

  int free_ticket() {
    const auto at = std::find_if(tickets_.begin(), tickets_.end(), [](const Ticket& t) { return !t.used; });
    Ticket& ticket = at == tickets_.end() ? tickets_.emplace_back() : *at;
    ticket.used = true;
    return static_cast<int>(&ticket - tickets_.data());
  }

  Library mpi_;
  int rank_ = 0;
  int count_ = 1;
  std::vector<Ticket> tickets_;
};

std::unique_ptr<Mpi> group;  // while a ProcessGroup lives

bool started_by_mpi() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
}

}  // namespace

Processes& processes() {
  static Alone alone;
  if (group) return *group;
  return alone;
}

ProcessGroup::ProcessGroup() {
  if (group) throw Error("there can be only one ProcessGroup at a time");
  if (started_by_mpi()) group = std::make_unique<Mpi>();
}

ProcessGroup::~ProcessGroup() {
  if (group) group->finalize();
  group.reset();
}

int ProcessGroup::rank() const {
  return processes().rank();
}

int ProcessGroup::count() const {
  return processes().count();
}

void ProcessGroup::abort(int code) {
  if (group) group->abort(code);
}

void set_process_timeout(double seconds) {
  timeout_seconds = seconds;
}

}  // namespace fovea

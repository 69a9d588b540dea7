// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <base/error.hpp>
#include <sys/syscall.h>
#include <sys/thread_probe.hpp>

namespace berth::sys {
namespace {

constexpr std::size_t stack_words = 96;
constexpr long poll_ns = 50'000;
constexpr std::chrono::milliseconds longest_wait{20};

// A signal handler has no other way to its data than static storage. Atomic: two threads meet here.
struct Answer {
  std::atomic<bool> taken{false};            // a probe exists
  std::atomic<std::uintptr_t> stack_end{0};  // end of the probed thread's stack
  std::atomic<std::uint32_t> question{0};
  std::atomic<std::uint32_t> answered{0};  // release after the words
  std::atomic<std::size_t> count{0};
  std::array<std::atomic<std::uintptr_t>, stack_words> words{};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free);
Answer answer;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

struct Registers {
  std::uintptr_t counter = 0;
  std::uintptr_t link = 0;  // return address of a leaf function, where a register holds it
  std::uintptr_t stack = 0;
};

Registers registers(void const* context) {
  auto const& machine = static_cast<ucontext_t const*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<std::uintptr_t>(machine.gregs[REG_RIP]), 0,
          static_cast<std::uintptr_t>(machine.gregs[REG_RSP])};
#elif defined(__aarch64__)
  return {machine.pc, machine.regs[30], machine.sp};
#else
  static_cast<void>(machine);
  return {};
#endif
}

// Runs on the probed thread between any two instructions: stores numbers, nothing else. It reads
// words of foreign stack frames, which a sanitizer would take for an error.
__attribute__((no_sanitize("address", "thread", "undefined"))) void note_place(int, siginfo_t*,
                                                                               void* context) {
  Registers const at = registers(context);
  std::uint32_t const question = answer.question.load(std::memory_order_acquire);
  std::size_t count = 0;
  answer.words[count++].store(at.counter, std::memory_order_relaxed);
  answer.words[count++].store(at.link, std::memory_order_relaxed);
  std::uintptr_t const end = answer.stack_end.load(std::memory_order_relaxed);
  std::uintptr_t next = at.stack & ~(sizeof(std::uintptr_t) - 1);
  while (count < stack_words && next != 0 && next + sizeof(std::uintptr_t) <= end) {
    answer.words[count++].store(*reinterpret_cast<std::uintptr_t const volatile*>(next),
                                std::memory_order_relaxed);
    next += sizeof(std::uintptr_t);
  }
  answer.count.store(count, std::memory_order_relaxed);
  answer.answered.store(question, std::memory_order_release);
}

std::uintptr_t own_stack_end() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* start = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &start, &bytes);
  pthread_attr_destroy(&attributes);
  return reinterpret_cast<std::uintptr_t>(start) + bytes;
}

// A real-time signal that nobody handles; 0: none.
int free_signal() {
  for (int number = SIGRTMAX - 1; number > SIGRTMIN; --number) {
    struct sigaction current {};
    if (sigaction(number, nullptr, &current) == 0 && current.sa_handler == SIG_DFL) return number;
  }
  return 0;
}

bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [name](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

}  // namespace

ThreadProbe::Kind ThreadProbe::kind_of(std::string_view path) noexcept {
  std::string_view const name = path.substr(path.rfind('/') + 1);
  if (has_part(name, {"libmpi", "libopen-pal", "libopen-rte", "mca_", "libmpich", "libucp",
                      "libucs", "libuct", "libucm", "libfabric", "libpmix", "libevent",
                      "libibverbs", "libpsm", "rdmav"})) {
    return Kind::mpi;
  }
  if (has_part(name, {"libc.so", "libc-", "libpthread", "ld-linux", "linux-vdso", "libm.so",
                      "libm-", "librt.", "libdl.", "libasan", "libtsan", "libubsan"})) {
    return Kind::system;
  }
  return Kind::other;
}

ThreadProbe::ThreadProbe() : thread_(static_cast<int>(syscall(SYS_gettid))) {
  if (answer.taken.exchange(true)) base::fail(Errc::system, "this process has a thread probe");
  try {
    read_ranges();
    signal_ = free_signal();
    if (signal_ == 0) base::fail(Errc::system, "no real-time signal is free for a thread probe");
    answer.stack_end.store(own_stack_end());
    answer.question.store(0);
    answer.answered.store(0);
    struct sigaction action {};
    action.sa_sigaction = note_place;
    action.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    if (sigaction(signal_, &action, nullptr) != 0) base::fail_errno("sigaction", errno);
  } catch (...) {
    answer.taken.store(false);
    throw;
  }
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal_);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

ThreadProbe::~ThreadProbe() {
  // Ignoring first discards a question that is still on its way; with the default action alone it
  // would end the process.
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(signal_, &action, nullptr);
  action.sa_handler = SIG_DFL;
  sigaction(signal_, &action, nullptr);
  answer.taken.store(false);
}

bool ThreadProbe::sample() noexcept {
  // A question without an answer is not repeated: signals would pile up on a thread that is only
  // waiting for a processor.
  if (answer.answered.load(std::memory_order_acquire) == asked_) {
    answer.question.store(++asked_, std::memory_order_release);
    if (syscall(SYS_tgkill, getpid(), thread_, signal_) != 0) {
      answer.answered.store(asked_, std::memory_order_relaxed);
      return false;
    }
  }
  // By the clock: on a crowded machine every short sleep is a long one.
  auto const end = std::chrono::steady_clock::now() + longest_wait;
  for (;;) {
    if (answer.answered.load(std::memory_order_acquire) == asked_) return is_inside_mpi();
    if (std::chrono::steady_clock::now() > end) return false;
    timespec const pause{0, poll_ns};
    nanosleep(&pause, nullptr);
  }
}

// The program counter decides, unless it is in libc (a system call, a copy): then the nearest
// return address on the stack that is not libc's does.
bool ThreadProbe::is_inside_mpi() noexcept {
  std::size_t const count = answer.count.load(std::memory_order_relaxed);
  bool refreshed = false;
  for (std::size_t i = 0; i < count; ++i) {
    std::uintptr_t const word = answer.words[i].load(std::memory_order_relaxed);
    Range const* range = find(word);
    if (range == nullptr && i == 0 && !refreshed) {
      refreshed = true;  // a library loaded since
      try {
        read_ranges();
      } catch (...) {
        return false;
      }
      range = find(word);
    }
    if (range == nullptr && i == 0) return false;  // generated code
    if (range != nullptr && range->kind != Kind::system) return range->kind == Kind::mpi;
  }
  return false;
}

void ThreadProbe::read_ranges() {
  std::vector<Range> found;
  found.reserve(256);
  auto const add = [](dl_phdr_info* info, std::size_t, void* into) {
    auto& ranges = *static_cast<std::vector<Range>*>(into);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      ElfW(Phdr) const& part = info->dlpi_phdr[i];
      if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
      std::uintptr_t const begin = info->dlpi_addr + part.p_vaddr;
      ranges.push_back({begin, begin + part.p_memsz, kind_of(info->dlpi_name)});
    }
    return 0;
  };
  dl_iterate_phdr(add, &found);
  std::sort(found.begin(), found.end(),
            [](Range const& a, Range const& b) { return a.begin < b.begin; });
  ranges_ = std::move(found);
}

ThreadProbe::Range const* ThreadProbe::find(std::uintptr_t address) const noexcept {
  auto const after = std::upper_bound(
      ranges_.begin(), ranges_.end(), address,
      [](std::uintptr_t value, Range const& range) { return value < range.begin; });
  if (after == ranges_.begin()) return nullptr;
  Range const& candidate = *std::prev(after);
  return address < candidate.end ? &candidate : nullptr;
}

}  // namespace berth::sys

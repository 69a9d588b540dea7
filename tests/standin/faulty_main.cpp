// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// `berth` with faults: the same rooms, and one rank that can be told to misbehave. For tests only;
/// never installed.
///
/// Signals to a rank: SIGUSR1 makes its main thread loop for ever, SIGUSR2 makes it _exit(0).
/// Environment, all of it to be set for anything to happen to the data:
///   FAULTY_RANK    the rank whose contribution is changed
///   FAULTY_TYPE    int32, bfloat16 ...: only collectives of this type; absent: all
///   FAULTY_BYTES   only collectives of so many bytes per rank; absent: all
///   FAULTY_OFFSET  element that is changed (0)
///   FAULTY_BIT     bit of the element that is flipped (0)
///   FAULTY_AFTER   how many matching collectives stay whole first (0)
///   FAULTY_TIMES   how many matching collectives are changed then; absent: all
///   FAULTY_COLLECTIVE  all_reduce (default), broadcast, both, reduce, all_gather, reduce_scatter
///                      or all_to_all
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <base/env.hpp>
#include <base/names.hpp>
#include <base/units.hpp>
#include <cli/cli.hpp>
#include <coll/backend.hpp>
#include <launcher/launcher.hpp>
#include <sys/syscall.h>

namespace berth {
namespace {

constexpr long long most = std::numeric_limits<long long>::max();

std::string setting(char const* name) {
  char const* const text = std::getenv(name);
  return text == nullptr ? std::string() : std::string(text);
}

long long number(char const* name, long long fallback) {
  return base::parse_integer(setting(name), 0, most).value_or(fallback);
}

/// What is to go wrong in this process.
struct Fault {
  bool armed = false;
  std::string type;
  long long bytes = -1;
  std::size_t offset = 0;
  int bit = 0;
  long long after = 0;
  long long times = most;
  std::string collective;  ///< its word, or "both"
};

Fault read_fault() {
  Fault fault;
  auto const rank = launcher::read(base::Environment::process()).rank.value_or(0);
  fault.armed = number("FAULTY_RANK", -1) == rank;
  fault.type = setting("FAULTY_TYPE");
  fault.bytes = number("FAULTY_BYTES", -1);
  fault.offset = static_cast<std::size_t>(number("FAULTY_OFFSET", 0));
  fault.bit = static_cast<int>(number("FAULTY_BIT", 0));
  fault.after = number("FAULTY_AFTER", 0);
  fault.times = number("FAULTY_TIMES", most);
  fault.collective = setting("FAULTY_COLLECTIVE");
  if (fault.collective.empty()) fault.collective = "all_reduce";
  return fault;
}

/// Flips one bit of this rank's contribution on its way into the real backend.
class FaultyBackend final : public coll::Backend {
 public:
  FaultyBackend(std::unique_ptr<coll::Backend> real, Fault fault)
      : real_(std::move(real)), fault_(std::move(fault)) {}

  [[nodiscard]] std::string_view name() const override { return real_->name(); }

  void all_reduce(model::Descriptor const& op, void const* in, void* out) override {
    carry(&coll::Backend::all_reduce, op, in, out, op.count);
  }

  void broadcast(model::Descriptor const& op, void* buffer) override {
    // Only what leaves the root is its contribution.
    if (op.root != own_rank() || !strikes(op)) {
      real_->broadcast(op, buffer);
      return;
    }
    std::vector<std::byte> changed = damaged(op, buffer, op.count);
    real_->broadcast(op, changed.data());
  }

  void reduce(model::Descriptor const& op, void const* in, void* out) override {
    carry(&coll::Backend::reduce, op, in, out, op.count);
  }
  void all_gather(model::Descriptor const& op, void const* in, void* out) override {
    carry(&coll::Backend::all_gather, op, in, out, op.count);
  }
  void reduce_scatter(model::Descriptor const& op, void const* in, void* out) override {
    carry(&coll::Backend::reduce_scatter, op, in, out, all_parts(op));
  }
  void all_to_all(model::Descriptor const& op, void const* in, void* out) override {
    carry(&coll::Backend::all_to_all, op, in, out, all_parts(op));
  }
  void exchange(std::vector<coll::Message> const& messages) override { real_->exchange(messages); }
  void barrier(model::Descriptor const& op) override { real_->barrier(op); }

 private:
  static int own_rank() { return launcher::read(base::Environment::process()).rank.value_or(0); }

  static std::size_t all_parts(model::Descriptor const& op) {
    return op.count *
           static_cast<std::size_t>(launcher::read(base::Environment::process()).size.value_or(1));
  }

  /// Hands `in`, of `elements`, on as it is or changed.
  void carry(void (coll::Backend::*call)(model::Descriptor const&, void const*, void*),
             model::Descriptor const& op, void const* in, void* out, std::size_t elements) {
    if (!strikes(op)) {
      (*real_.*call)(op, in, out);
      return;
    }
    std::vector<std::byte> const changed = damaged(op, in, elements);
    (*real_.*call)(op, changed.data(), out);
  }

  bool strikes(model::Descriptor const& op) {
    std::size_t const bytes = op.count * size_of(op.type);
    if (!fault_.armed || fault_.offset >= op.count) return false;
    bool const both =
        fault_.collective == "both" && (op.collective == model::Collective::all_reduce ||
                                        op.collective == model::Collective::broadcast);
    if (!both && model::name(op.collective) != fault_.collective) return false;
    if (!fault_.type.empty() && base::name(op.type) != fault_.type) return false;
    if (fault_.bytes >= 0 && static_cast<std::size_t>(fault_.bytes) != bytes) return false;
    if (fault_.after > 0) {
      --fault_.after;
      return false;
    }
    return fault_.times > 0 && fault_.times-- > 0;
  }

  [[nodiscard]] std::vector<std::byte> damaged(model::Descriptor const& op, void const* in,
                                               std::size_t elements) const {
    std::size_t const size = size_of(op.type);
    std::vector<std::byte> copy(elements * size);
    std::memcpy(copy.data(), in, copy.size());
    auto const bit = static_cast<std::size_t>(fault_.bit) % (8 * size);
    copy[fault_.offset * size + bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    return copy;
  }

  std::unique_ptr<coll::Backend> real_;
  Fault fault_;
};

/// Faults hit the main thread, whichever thread the kernel chose.
bool is_main_thread(int signal) {
  if (syscall(SYS_gettid) == getpid()) return true;
  syscall(SYS_tgkill, getpid(), getpid(), signal);
  return false;
}

void loop_forever(int signal) {
  if (!is_main_thread(signal)) return;
  std::sig_atomic_t volatile turning = 1;
  while (turning != 0) {
  }
}

void leave_silently(int signal) {
  if (is_main_thread(signal)) _exit(0);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  std::signal(SIGUSR1, berth::loop_forever);
  std::signal(SIGUSR2, berth::leave_silently);
  berth::comm::Seams seams;
  seams.wrap_backend = [](std::unique_ptr<berth::coll::Backend> real) {
    return std::make_unique<berth::FaultyBackend>(std::move(real), berth::read_fault());
  };
  return berth::cli::run(argc, argv, std::move(seams));
}

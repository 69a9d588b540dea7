// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <base/clock.hpp>
#include <base/log.hpp>
#include <cpu/backend.hpp>
#include <ledger/watch.hpp>
#include <sys/process.hpp>

/// Ranks as threads of one process, with everything real but the processes and the network.
namespace berth::cpu::test {

/// Every process is alive and running.
class AllAlive final : public sys::ProcessFacts {
 public:
  [[nodiscard]] sys::ProcessState state(int, std::uint64_t) const override {
    return {true, 'R', 0, 0};
  }
};

/// A network between threads. Sends complete when the message has been received, as in a rendezvous
/// (the hardest case for a protocol that could deadlock), or at once; the smallest ones always do.
class Network {
 public:
  static constexpr std::size_t eager_bytes = 256;
  Network(int ranks, bool is_rendezvous);
  std::unique_ptr<Lane> lane(int rank);
  /// The next error that `rank` was told of.
  std::optional<Error> note(int rank);

 private:
  friend class ThreadLane;
  struct Message {
    std::vector<std::byte> data;
    std::shared_ptr<bool> delivered;
  };
  std::deque<Message>& queue(int from, int to) {
    return queues_[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) +
                   static_cast<std::size_t>(to)];
  }

  int ranks_;
  bool is_rendezvous_;
  std::mutex mutex_;
  std::vector<std::deque<Message>> queues_;
  std::vector<std::deque<Error>> notes_;
};

/// Operators and helpers of one thread-rank, inside run().
struct Rank {
  int rank = 0;
  int size = 1;
  CpuBackend* backend = nullptr;
  ledger::Ledger* ledger = nullptr;
  std::uint64_t number = 0;  ///< of the last operation

  void all_reduce(void const* in, void* out, std::size_t count, Type type, Op op);
  void reduce(void const* in, void* out, std::size_t count, Type type, Op op, int root);
  void broadcast(void* buffer, std::size_t count, Type type, int root);
  void all_gather(void const* in, void* out, std::size_t count, Type type);
  void reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op);
  void all_to_all(void const* in, void* out, std::size_t count, Type type);
  /// All ranks call it, those without messages too: it is counted.
  void exchange(std::vector<coll::Message> const& messages);
  void barrier();
  /// Numbers and records an operation and runs it.
  void run(model::Descriptor operation, std::function<void(model::Descriptor const&)> const& body);
};

/// A job of ranks on hosts.
class Job {
 public:
  /// @param ranks_per_host e.g. {3, 1, 2}; ranks are numbered host by host, or dealt round robin
  /// @param kernels null: the fastest
  explicit Job(std::vector<int> const& ranks_per_host, coll::Tuning const& tuning = {},
               bool is_round_robin = false, bool is_rendezvous = true,
               kernel::Kernels const* kernels = nullptr);
  ~Job();
  /// Runs `body` on every rank at the same time and returns each rank's Error, if any.
  std::vector<std::optional<Error>> run(std::function<void(Rank&)> const& body);
  [[nodiscard]] int size() const { return topology_.size(); }

 private:
  struct Host;
  struct Member;
  Topology topology_;
  base::SteadyClock clock_;
  base::Log log_;
  AllAlive facts_;
  Network network_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace berth::cpu::test

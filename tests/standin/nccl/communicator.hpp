// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// A communicator and its states.
///
/// What takes time (init, connecting, finalizing, splitting) is a job in a thread of its own, one
/// at a time; the async error is ncclInProgress meanwhile. A blocking communicator's caller waits
/// for the job. Operations run as host functions on their stream, one at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bootstrap.hpp"
#include "faults.hpp"
#include "links.hpp"
#include "nccl_api.hpp"
#include "operation.hpp"
#include "reduce.hpp"
#include "socket.hpp"
#include "status.hpp"

namespace standin {

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  Communicator(int rank, int ranks, int device, bool blocking);
  ~Communicator();
  Communicator(Communicator const&) = delete;
  Communicator& operator=(Communicator const&) = delete;

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  int device() const { return device_; }
  bool blocking() const { return blocking_; }
  std::uint64_t magic() const { return magic_; }
  std::vector<Peer> const& peers() const { return peers_; }
  Links& links() { return links_; }
  StatusPage* status() const { return status_.page(); }

  /// What ncclCommGetAsyncError tells.
  ncclResult_t state() const { return static_cast<ncclResult_t>(state_.load()); }
  void set_error(ncclResult_t error);

  /// Success, or what a call gets that comes while the state is not ncclSuccess.
  ncclResult_t ready() const;

  /// Starts a job; the state is ncclInProgress until it ends.
  void start_job(std::function<void()> work);

  /// Waits for the job; its result.
  ncclResult_t wait_for_job();

  // Jobs.
  void init(std::vector<Id> const& ids);
  void connect(std::vector<int> const& peers) { links_.connect(peers, door_, stop_); }
  void flush();
  /// Interrupts what runs, for good: no operation can run afterwards.
  void quiesce();
  std::shared_ptr<Communicator> split(int color, int key, bool blocking);
  std::shared_ptr<Communicator> shrink(std::vector<int> const& excluded, bool blocking);

  /// Both give everything back; the object is dead afterwards.
  void destroy();
  void abort();

  /// Puts a task on the stream of its first operation; not from a host function.
  ncclResult_t launch(std::unique_ptr<Task> task);

  /// Runs a task on the stream's thread.
  void run(Task const& task);

  bool usable() const { return !interrupt_.raised() && !finalized_; }
  void mark_finalized();
  bool finalized() const { return finalized_; }

  ncclRedOp_t add_reduction(Reduction const& reduction);
  bool remove_reduction(ncclRedOp_t op);
  bool find_reduction(ncclRedOp_t op, Reduction& reduction) const;

 private:
  void open_up();
  void misbehave_before_check_in(Signal const& stop) const;
  void misbehave_after_check_in() const;
  void adopt(Ring ring, std::uint64_t magic, char const* how, Signal const& stop);
  void check_devices() const;
  void say_shape() const;
  std::shared_ptr<Communicator> child(std::vector<int> const& members, std::uint64_t tag,
                                      bool blocking);
  ncclResult_t launch_captured(std::unique_ptr<Task> task);
  void join_streams(Task const& task, cudaStream_t main);
  void run_all(Task const& task);
  void misbehave_before(long long operation) const;
  void misbehave_after(Operation const& operation, long long number);
  void task_done();
  void release(char const* how);
  void join_job();

  int const rank_;
  int const ranks_;
  int const device_;
  bool const blocking_;
  int const number_;  ///< counts the communicators of this process from 1
  Faults const faults_;
  std::uint64_t magic_ = 0;
  std::vector<Id> ids_;
  std::vector<Peer> peers_;
  Door door_;
  Ring ring_;
  Links links_;
  Status status_;
  int children_ = 0;
  bool in_ras_ = false;

  Signal stop_;       ///< abort: ends every wait
  Signal interrupt_;  ///< abort, revoke or shrink: ends the waits of operations
  std::atomic<int> state_ = ncclSuccess;
  std::atomic<bool> finalized_ = false;

  std::thread job_;
  std::mutex join_mutex_;
  mutable std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  bool job_runs_ = false;
  int pending_ = 0;  ///< tasks that are launched and have not run
  std::map<int, Reduction> reductions_;
  int next_reduction_ = ncclNumOps;

  std::mutex running_;  ///< held while a task runs
  long long operations_ = 0;
  cudaEvent_t order_ = nullptr;  ///< after the last task
  cudaStream_t last_stream_ = nullptr;
};

/// The communicators that are alive in this process.
std::vector<std::shared_ptr<Communicator>> living();

}  // namespace standin

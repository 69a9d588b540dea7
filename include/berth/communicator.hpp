// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include <berth/error.hpp>
#include <berth/export.hpp>
#include <berth/finding.hpp>
#include <berth/options.hpp>
#include <berth/placement.hpp>
#include <berth/types.hpp>
#if __cplusplus >= 202002L
#include <span>
#endif

struct ncclComm;

namespace berth {

/// A queue of a device's work that calls are put on: a cudaStream_t. Null is the default stream.
using Stream = void*;

/// Time of one step of start-up on this rank.
struct PhaseTime {
  std::string name;    ///< "roll-call", "plan", "bind", "connect", "data"
  double seconds = 0;  ///< duration
  std::string note;    ///< what is to be said of it: "2 of 2 present"
};

class Communicator;

/// A collective that was started ahead of its wait. Serves the thread of its communicator and is
/// not used after that has ended. Destroying it neither waits nor cancels: the call is made with
/// the next one or by close().
class BERTH_API Request {
 public:
  /// Local. True once the call is complete. Makes it, and those before it, when all ranks have
  /// started it; never waits for a rank that has not. @throws Error what the call throws
  [[nodiscard]] bool test();
  /// Collective, blocking: returns when the call is complete. @throws Error what the call throws
  void wait();

 private:
  friend class Communicator;
  Request(Communicator& communicator, unsigned long long ticket);
  void* impl_;
  unsigned long long ticket_;
};

/// Ranks that are placed, bound, connected, and have carried right data.
///
/// One communicator serves one thread at a time. Counts are elements. Host memory of any alignment;
/// with the nccl backend device memory too: where the buffers lie picks the path, the same on every
/// rank.
/// Collectives must be called by every rank in the same order with the same count, type, operation
/// and root; a difference is found and thrown as Errc::mismatch on all ranks.
class BERTH_API Communicator {
 public:
  /// Collective over `parent`, which is duplicated and never used otherwise. Blocking. Initialises
  /// MPI when nobody has. The process's first Communicator binds the calling thread.
  /// @throws Error the same on every rank: bad_configuration, mismatch, no_driver, no_device,
  ///   unsupported, system, out_of_memory, lost, timeout, aborted, wrong_data, mpi, internal
  explicit Communicator(MPI_Comm parent, Options const& options = {});
  Communicator(Communicator&&) noexcept;             ///< Local. The source may only be destroyed.
  Communicator& operator=(Communicator&&) noexcept;  ///< Local. Aborts what is overwritten.
  /// Local, never throws, never waits: when close() was not called, peers are told "aborted" and
  /// one line is logged.
  ~Communicator();

  [[nodiscard]] int rank() const noexcept;   ///< Local. This rank, as in `parent`.
  [[nodiscard]] int size() const noexcept;   ///< Local. Number of ranks.
  [[nodiscard]] int hosts() const noexcept;  ///< Local. Number of hosts.
  /// Local. Name of the host of `rank`. @throws Error invalid_argument
  [[nodiscard]] std::string const& host(int rank) const;
  [[nodiscard]] Backend backend() const noexcept;             ///< Local. Never `automatic`.
  [[nodiscard]] Placement const& placement() const noexcept;  ///< Local. This rank's place.
  [[nodiscard]] std::vector<PhaseTime> const& phases() const noexcept;  ///< Local. Start-up steps.
  /// Local. One line for the program's own log.
  [[nodiscard]] std::string summary() const;

  // Collectives, complete on return. Buffers may be null when count is 0. `in` and `out` are in
  // place as each call says or apart; partial overlap is refused. Every rank gets bitwise the same
  // result.

  /// Collective, blocking. out[i] = in[i] of rank 0 op in[i] of rank 1 op ...; both hold `count`
  /// elements. In place: in == out.
  /// @throws Error invalid_argument, mismatch, lost, timeout, aborted, mpi
  void all_reduce(void const* in, void* out, std::size_t count, Type type, Op op);
  /// Collective, blocking. As all_reduce, but the result is for rank `root` alone; elsewhere `out`
  /// is not touched and may be null. @throws as all_reduce
  void reduce(void const* in, void* out, std::size_t count, Type type, Op op, int root);
  /// Collective, blocking. `buffer` of rank `root` is copied to every rank. @throws as all_reduce
  void broadcast(void* buffer, std::size_t count, Type type, int root);
  /// Collective, blocking. `in` holds `count` elements, `out` size() * count: those of every rank,
  /// by rank. In place: in == out + rank() * count elements. @throws as all_reduce
  void all_gather(void const* in, void* out, std::size_t count, Type type);
  /// Collective, blocking. `in` holds size() * count elements, `out` count: part rank() of the
  /// element-wise reduction. In place: out == in + rank() * count elements. @throws as all_reduce
  void reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op);
  /// Collective, blocking. Both hold size() * count elements: part r of `in` goes to rank r, part r
  /// of `out` comes from rank r. In place: in == out. @throws as all_reduce
  void all_to_all(void const* in, void* out, std::size_t count, Type type);
  /// Collective, blocking. Returns after every rank has entered.
  /// @throws Error mismatch, lost, timeout, aborted, mpi
  void barrier();

  /// Blocking: sends `count` elements to rank `to`, which receives as many of the same type.
  /// Between two ranks transfers match in the order of their calls. Several that depend on each
  /// other, or one to the own rank, belong into a group. @throws as all_reduce
  void send(void const* in, std::size_t count, Type type, int to);
  /// Blocking: receives what rank `from` sends. @throws as all_reduce
  void receive(void* out, std::size_t count, Type type, int from);

  /// Local. Calls from here to group_end() are made there: sends and receives together, whatever
  /// their order; collectives in theirs, small reductions of one kind as one. Buffers must stay as
  /// they are until then, and no call may read what another one of the group writes. Groups nest.
  void group_start();
  /// Collective, blocking: makes the calls of the group. Every rank groups the same collectives.
  /// @throws Error invalid_argument without group_start(), and what the calls throw
  void group_end();

  // The same on device memory (backend nccl), enqueued on a stream of this rank's device: nothing
  // is waited for but connections that NCCL still has to make. May be recorded in a CUDA graph.
  // That buffers are device memory is not checked: the question costs more than the call.

  /// Collective, enqueued. As all_reduce. @throws Error invalid_argument (also where the backend is
  ///   not nccl), nccl, device, lost, timeout, aborted
  void all_reduce(void const* in, void* out, std::size_t count, Type type, Op op, Stream stream);
  /// Collective, enqueued. As reduce. @throws as above
  void reduce(void const* in, void* out, std::size_t count, Type type, Op op, int root,
              Stream stream);
  /// Collective, enqueued. As broadcast. @throws as above
  void broadcast(void* buffer, std::size_t count, Type type, int root, Stream stream);
  /// Collective, enqueued. As all_gather. @throws as above
  void all_gather(void const* in, void* out, std::size_t count, Type type, Stream stream);
  /// Collective, enqueued. As reduce_scatter. @throws as above
  void reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op,
                      Stream stream);
  /// Collective, enqueued. As all_to_all; in place it uses memory of its own, which one stream at a
  /// time may do. @throws as above
  void all_to_all(void const* in, void* out, std::size_t count, Type type, Stream stream);
  /// Enqueued. As send. @throws as above
  void send(void const* in, std::size_t count, Type type, int to, Stream stream);
  /// Enqueued. As receive. @throws as above
  void receive(void* out, std::size_t count, Type type, int from, Stream stream);
  /// Local, bounded: returns when everything on `stream` is done and no rank of the communicator is
  /// known to be lost. Makes MPI progress. Without a deadline op_deadline holds.
  /// @throws Error lost, timeout, aborted, device, nccl, invalid_argument; the communicator is then
  ///   aborted, so that its streams drain
  void wait(Stream stream, std::optional<std::chrono::milliseconds> deadline = {});
  /// Local. NCCL's own communicator for codes that call NCCL themselves: an ncclComm_t. Owned by
  /// this object; null where the backend is not nccl.
  [[nodiscard]] ncclComm* native_nccl() const noexcept;

  /// Local. Starts a collective ahead of its wait; host memory alone; buffers stay as they are
  /// until it is complete. What is started is made in order, before any later collective, at the
  /// latest by close(). Every rank starts the same calls. @throws Error invalid_argument, mpi
  [[nodiscard]] Request all_reduce_async(void const* in, void* out, std::size_t count, Type type,
                                         Op op);
  /// Local. As all_reduce_async.
  [[nodiscard]] Request reduce_async(void const* in, void* out, std::size_t count, Type type, Op op,
                                     int root);
  /// Local. As all_reduce_async.
  [[nodiscard]] Request broadcast_async(void* buffer, std::size_t count, Type type, int root);
  /// Local. As all_reduce_async.
  [[nodiscard]] Request all_gather_async(void const* in, void* out, std::size_t count, Type type);
  /// Local. As all_reduce_async.
  [[nodiscard]] Request reduce_scatter_async(void const* in, void* out, std::size_t count,
                                             Type type, Op op);
  /// Local. As all_reduce_async.
  [[nodiscard]] Request all_to_all_async(void const* in, void* out, std::size_t count, Type type);
  /// Local. As all_reduce_async.
  [[nodiscard]] Request barrier_async();

  /// Typed all_reduce; T is one of the element types of types.hpp. As all_reduce.
  template <class T>
  void all_reduce(T const* in, T* out, std::size_t count, Op op = Op::sum) {
    all_reduce(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value, op);
  }
  /// Typed all_reduce on a stream. As all_reduce.
  template <class T>
  void all_reduce(T const* in, T* out, std::size_t count, Op op, Stream stream) {
    all_reduce(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value, op,
               stream);
  }
  /// Typed reduce. As reduce.
  template <class T>
  void reduce(T const* in, T* out, std::size_t count, Op op, int root) {
    reduce(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value, op,
           root);
  }
  /// Typed broadcast. As broadcast.
  template <class T>
  void broadcast(T* buffer, std::size_t count, int root) {
    broadcast(static_cast<void*>(buffer), count, type_of<T>::value, root);
  }
  /// Typed all_gather. As all_gather.
  template <class T>
  void all_gather(T const* in, T* out, std::size_t count) {
    all_gather(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value);
  }
  /// Typed reduce_scatter. As reduce_scatter.
  template <class T>
  void reduce_scatter(T const* in, T* out, std::size_t count, Op op = Op::sum) {
    reduce_scatter(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value,
                   op);
  }
  /// Typed all_to_all. As all_to_all.
  template <class T>
  void all_to_all(T const* in, T* out, std::size_t count) {
    all_to_all(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value);
  }
  /// Typed send. As send.
  template <class T>
  void send(T const* in, std::size_t count, int to) {
    send(static_cast<void const*>(in), count, type_of<T>::value, to);
  }
  /// Typed receive. As receive.
  template <class T>
  void receive(T* out, std::size_t count, int from) {
    receive(static_cast<void*>(out), count, type_of<T>::value, from);
  }
#if __cplusplus >= 202002L
  /// In-place all_reduce of a span. As all_reduce.
  template <class T, std::size_t N>
  void all_reduce(std::span<T, N> data, Op op = Op::sum) {
    all_reduce(data.data(), data.data(), data.size(), type_of<T>::value, op);
  }
#endif

  /// Collective, blocking. A communicator of the ranks that give the same `color`, in the order of
  /// `key` and, where keys are equal, of rank; none for a negative colour. It has the choices and
  /// the place of this one; close it first. @throws Error as the constructor
  [[nodiscard]] std::optional<Communicator> split(int color, int key = 0);

  /// Local, never waits. Peers inside or before a collective throw Errc::aborted naming this rank.
  /// Afterwards only the destructor may be called.
  void abort() noexcept;
  /// Collective, blocking. Ends the communicator; finalises MPI when this object had begun it.
  /// Afterwards only the destructor may be called. @throws Error lost, timeout, aborted, mpi
  void close();

  class Impl;
  /// Local. For Berth's own tools; not part of the stable interface.
  [[nodiscard]] Impl& impl() noexcept {
    return *impl_;
  }
  /// Local. For Berth's own tools; not part of the stable interface.
  explicit Communicator(std::unique_ptr<Impl> impl) noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth

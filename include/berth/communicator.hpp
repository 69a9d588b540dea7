// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
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

namespace berth {

/// Time of one step of start-up on this rank.
struct PhaseTime {
  std::string name;    ///< "roll-call", "plan", "bind", "connect", "data"
  double seconds = 0;  ///< duration
  std::string note;    ///< what is to be said of it: "2 of 2 present"
};

/// Ranks that are placed, bound, connected, and have carried right data.
///
/// One communicator serves one thread at a time. Counts are elements. Host memory, any alignment.
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

  /// Collective, blocking. out[i] = in[i] of rank 0 op in[i] of rank 1 op ...
  /// `in` and `out` hold `count` elements; in == out: in place; partial overlap is refused;
  /// both may be null when count is 0. Bitwise the same result on every rank.
  /// @throws Error invalid_argument, mismatch, lost, timeout, aborted, mpi
  void all_reduce(void const* in, void* out, std::size_t count, Type type, Op op);
  /// Collective, blocking. `buffer` of rank `root` is copied to every rank.
  /// @throws Error invalid_argument, mismatch, lost, timeout, aborted, mpi
  void broadcast(void* buffer, std::size_t count, Type type, int root);
  /// Collective, blocking. Returns after every rank has entered.
  /// @throws Error mismatch, lost, timeout, aborted, mpi
  void barrier();

  /// Typed all_reduce; T is std::int32_t, std::int64_t, float or double. As all_reduce.
  template <class T>
  void all_reduce(T const* in, T* out, std::size_t count, Op op = Op::sum) {
    all_reduce(static_cast<void const*>(in), static_cast<void*>(out), count, type_of<T>::value, op);
  }
  /// Typed broadcast. As broadcast.
  template <class T>
  void broadcast(T* buffer, std::size_t count, int root) {
    broadcast(static_cast<void*>(buffer), count, type_of<T>::value, root);
  }
#if __cplusplus >= 202002L
  /// In-place all_reduce of a span. As all_reduce.
  template <class T, std::size_t N>
  void all_reduce(std::span<T, N> data, Op op = Op::sum) {
    all_reduce(data.data(), data.data(), data.size(), type_of<T>::value, op);
  }
#endif

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

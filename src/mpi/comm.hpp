// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mpi.h>

#include <base/patience.hpp>
#include <berth/error.hpp>
#include <berth/types.hpp>

/// The only room that calls MPI, always as PMPI_*, so that tools and drop-ins that wrap MPI_* never
/// see Berth. Nothing here blocks inside MPI except where the name says so.
namespace berth::mpi {

/// MPI's life: initialises when nobody has (FUNNELED), finalises only what it began.
class Session {
 public:
  /// @throws Error mpi; unsupported when MPI is already finalised
  Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;
  ~Session() = default;
  [[nodiscard]] bool began() const { return began_; }
  /// Finalises when it began; blocking, collective over the job.
  void finalize();
  /// True between MPI_Init and MPI_Finalize.
  static bool is_active() noexcept;

 private:
  bool began_ = false;
};

/// One nonblocking operation. Move-only. A pending one that is destroyed is leaked on purpose: its
/// peer may be gone, and MPI_Cancel may wait.
class Request {
 public:
  Request() = default;
  explicit Request(MPI_Request request) : request_(request) {}
  Request(Request&& other) noexcept : request_(other.request_) {
    other.request_ = MPI_REQUEST_NULL;
  }
  Request& operator=(Request&& other) noexcept {
    request_ = other.request_;
    other.request_ = MPI_REQUEST_NULL;
    return *this;
  }
  /// True once complete (or never started); makes MPI progress. @throws Error mpi
  bool test();
  [[nodiscard]] bool is_null() const { return request_ == MPI_REQUEST_NULL; }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Outcome of an agreement; the same on every rank.
struct Agreed {
  Errc code = Errc::ok;
  int rank = -1;     ///< lowest rank that failed; -1: none
  std::string text;  ///< its text
};

/// A duplicate of the user's communicator with MPI_ERRORS_RETURN. Move-only. The destructor does
/// not free it (that is collective); free() does.
class Comm {
 public:
  Comm() = default;
  /// Collective over `parent`, bounded (MPI_Comm_idup). @throws Error mpi, lost, timeout;
  /// invalid_argument for MPI_COMM_NULL and inter-communicators
  static Comm duplicate(MPI_Comm parent, base::Patience& patience);
  Comm(Comm&& other) noexcept;
  Comm& operator=(Comm&& other) noexcept;
  Comm(Comm const&) = delete;
  Comm& operator=(Comm const&) = delete;
  ~Comm() = default;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// Collective; frees the duplicate.
  void free();

  /// Starts a send or receive of at most 2^31-1 bytes; the buffer belongs to MPI until complete.
  [[nodiscard]] Request send(void const* data, std::size_t bytes, int to, int tag) const;
  [[nodiscard]] Request receive(void* data, std::size_t bytes, int from, int tag) const;
  /// A short text that reaches other hosts without anybody waiting for it: the end of a
  /// communicator. 512 bytes, plain data.
  struct Note {
    int code = 0;  ///< an Errc
    int rank = -1;
    char kind[16] = {};  ///< as a Verdict's: "silent" for lost, else the name of the code
    char text[488] = {};
    Note() = default;
    Note(Errc reason, int at_fault, char const* message) noexcept;
  };
  /// Makes MPI progress (MPI_Iprobe): a peer may sit in a rendezvous with us. Local, cheap. Returns
  /// a note that has arrived.
  std::optional<Note> progress() const noexcept;
  /// Sends a note to `to` and forgets it; never waits. Nothing when MPI is not active.
  void send_note(Note const& note, int to) const noexcept;

  /// Bounded collectives over bytes; `out` holds size() * bytes. @throws Error mpi, lost, timeout
  void all_gather(void const* in, std::size_t bytes, void* out, base::Patience& patience) const;
  void broadcast(void* data, std::size_t bytes, int root, base::Patience& patience) const;
  void barrier(base::Patience& patience) const;
  /// Starts a barrier: complete once every rank has started it. Local. @throws Error mpi
  [[nodiscard]] Request start_barrier() const;
  /// True when `value` is the same on all ranks; the same answer on all. @throws Error as above
  [[nodiscard]] bool is_same(std::uint64_t value, base::Patience& patience) const;
  /// Every rank learns whether any failed: the lowest failing rank's code and text.
  [[nodiscard]] Agreed agree(Errc code, std::string const& text, base::Patience& patience) const;
  /// Ranks on this host as MPI sees them (MPI_Comm_split_type): their number and the own place.
  /// Collective and BLOCKING: MPI 3.1 has no other form; guard it.
  struct Locals {
    int rank = 0;
    int size = 1;
    int lowest = 0;  ///< lowest rank of this communicator on this host, as MPI sees it
  };
  [[nodiscard]] Locals split_by_host() const;
  /// The ranks of one colour in the order of key and rank; MPI_COMM_NULL for a negative colour. The
  /// caller frees it. Collective and BLOCKING: guard it. @throws Error mpi
  [[nodiscard]] MPI_Comm split(int color, int key) const;
  /// For this room alone.
  [[nodiscard]] MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

/// Ranks of MPI_COMM_WORLD by rank of `parent`; empty for MPI_COMM_NULL and inter-communicators.
/// Local. @throws Error mpi
std::vector<int> world_ranks(MPI_Comm parent);
/// Frees what Comm::split made. Collective. @throws Error mpi
void free(MPI_Comm part);
/// Number of ranks of MPI_COMM_WORLD. Local. @throws Error mpi
int world_size();

/// "Open MPI v4.1.4" and so on: the library that is loaded. Local.
std::string library_version();

/// Throws Errc::mpi with MPI's own text unless `result` is MPI_SUCCESS.
void check(int result, char const* call);

}  // namespace berth::mpi

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

/// Memory that the ranks of one host share. Two ways; the third (none) is the caller's.
namespace berth::sys {

/// How a segment is made.
enum class SharedKind {
  memfd,     ///< no name anywhere; peers open /proc/<pid>/fd/<fd>; sealed against shrinking
  shm_open,  ///< random 128-bit name, O_EXCL, 0600; unlinked as soon as every peer has mapped it
};

/// What a peer needs to open a segment; plain data, carried by MPI inside one host.
struct SharedTicket {
  int kind = 0;                  ///< a SharedKind
  int pid = 0;                   ///< creator
  int descriptor = -1;           ///< memfd: its descriptor in the creator
  unsigned long long inode = 0;  ///< both: must match after opening (the handshake)
  unsigned long long device = 0;
  unsigned long long bytes = 0;
  unsigned long long token[2] = {0, 0};  ///< random; stored in the segment's last 16 bytes
  char name[64] = {};                    ///< shm_open: its name
};

/// One mapped segment. Move-only; unmaps when destroyed. Its pages are reserved before use, so that
/// a full /dev/shm is an error here and not a SIGBUS later.
class SharedMemory {
 public:
  SharedMemory() = default;
  /// Creates and maps `bytes` (rounded up to pages), zeroed. @throws Error system, out_of_memory
  static SharedMemory create(std::size_t bytes, SharedKind kind);
  /// Opens a peer's segment and checks that it is the one meant. @throws Error system
  static SharedMemory open(SharedTicket const& ticket);
  /// Anonymous memory of this process with the same interface (ranks as threads; one rank alone).
  static SharedMemory anonymous(std::size_t bytes);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  [[nodiscard]] SharedTicket ticket() const;
  [[nodiscard]] std::byte* data() const { return data_; }
  /// Usable bytes (without the token at the end).
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Closes the descriptor and removes the name; the mapping stays. Called once all peers have it.
  void forget_name() noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t mapped_ = 0;
  int descriptor_ = -1;
  SharedTicket ticket_;
};

}  // namespace berth::sys

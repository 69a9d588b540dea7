// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <nccl/bootstrap.hpp>

#include <coll/backend.hpp>

namespace berth::nccl {

/// Collectives on device memory. Enqueued on the stream that was chosen; the calls of
/// coll::Backend, which are blocking, enqueue on a stream of their own and wait for it.
/// One thread at a time, the one whose device was set.
class DeviceBackend : public coll::Backend {
 public:
  /// Collective, bounded: see nccl::connect. @throws Error
  static std::unique_ptr<DeviceBackend> connect(Setup setup);

  /// Local. From here to finish() calls are enqueued on `stream` and not waited for.
  void enqueue_on(gpu::Stream stream) {
    is_enqueued_ = true;
    user_stream_ = stream;
  }
  void finish() noexcept { is_enqueued_ = false; }
  /// Bounded: returns when everything on `stream` is done and the communicator is well. Makes MPI
  /// progress, notices lost ranks and NCCL's own errors. @throws Error lost, timeout, device, nccl
  virtual void wait(gpu::Stream stream) = 0;
  /// Calls between them start together (ncclGroupStart, ncclGroupEnd); blocking ones are waited
  /// for at the end of the outermost group.
  virtual void group_start() = 0;
  virtual void group_end() = 0;
  /// Local. Tells NCCL of memory that many calls will use; the handle is for unregister_memory,
  /// before the communicator ends. @throws Error unsupported before NCCL 2.19, nccl
  [[nodiscard]] virtual void* register_memory(void* memory, std::size_t bytes) = 0;
  virtual void unregister_memory(void* handle) noexcept = 0;
  /// The ncclComm_t, owned by this object; null after abort() and close().
  [[nodiscard]] virtual void* native() const noexcept = 0;
  /// The stream that blocking calls use. Owned by this object.
  [[nodiscard]] virtual gpu::Stream own_stream() const noexcept = 0;
  /// Collective, bounded: finalizes and destroys. @throws Error
  virtual void close() = 0;
  /// Local, at most 3 s: frees streams that wait for lost ranks. Idempotent.
  virtual void abort() noexcept = 0;

 protected:
  gpu::Stream user_stream_ = nullptr;
  bool is_enqueued_ = false;  ///< calls go to user_stream_ and are not waited for
};

/// The same collectives for buffers in host memory, carried by `device`, which outlives it: in to
/// the device, through NCCL, out again. For verify and for the first data, which look at every
/// element.
std::unique_ptr<coll::Backend> staged(DeviceBackend& device, gpu::Runtime& runtime, int rank,
                                      int ranks);

}  // namespace berth::nccl

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>
#include <nccl/library.hpp>

#include <base/dynlib.hpp>

namespace berth::nccl {

/// The functions of NCCL 2.18 that Berth uses: X(member, symbol).
#define BERTH_NCCL_REQUIRED(X)                \
  X(get_version, ncclGetVersion)              \
  X(get_error_string, ncclGetErrorString)     \
  X(get_last_error, ncclGetLastError)         \
  X(get_unique_id, ncclGetUniqueId)           \
  X(init_rank_config, ncclCommInitRankConfig) \
  X(get_async_error, ncclCommGetAsyncError)   \
  X(finalize, ncclCommFinalize)               \
  X(destroy, ncclCommDestroy)                 \
  X(abort, ncclCommAbort)                     \
  X(all_reduce, ncclAllReduce)                \
  X(reduce, ncclReduce)                       \
  X(broadcast, ncclBroadcast)                 \
  X(all_gather, ncclAllGather)                \
  X(reduce_scatter, ncclReduceScatter)        \
  X(send, ncclSend)                           \
  X(receive, ncclRecv)                        \
  X(group_start, ncclGroupStart)              \
  X(group_end, ncclGroupEnd)

/// Those of newer versions, which may be null: from 2.23, 2.19 and 2.19.
#define BERTH_NCCL_OPTIONAL(X)                    \
  X(init_rank_scalable, ncclCommInitRankScalable) \
  X(register_buffer, ncclCommRegister)            \
  X(deregister_buffer, ncclCommDeregister)

class Library {
 public:
  /// @throws Error unsupported: a required function is missing
  explicit Library(base::DynLib library);

  [[nodiscard]] std::string const& path() const { return library_.path(); }
  [[nodiscard]] int version() const { return version_; }
  /// Throws unless `result` is success: Errc::lost for a remote end, system, invalid_argument or
  /// nccl, with NCCL's own words and its last error. ncclInProgress is no error.
  void check(ncclResult_t result, char const* call) const;
  /// NCCL's words for a result and its last error.
  [[nodiscard]] std::string words(ncclResult_t result) const;

#define BERTH_X(member, symbol) decltype(&::symbol) member = nullptr;
  BERTH_NCCL_REQUIRED(BERTH_X)
  BERTH_NCCL_OPTIONAL(BERTH_X)
#undef BERTH_X

 private:
  base::DynLib library_;
  int version_ = 0;
};

}  // namespace berth::nccl

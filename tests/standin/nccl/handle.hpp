// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// What an ncclComm_t points to, and what every exported function does first and last.
#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "communicator.hpp"
#include "log.hpp"
#include "nccl_api.hpp"

/// Every function has a second name, for profilers.
#define STANDIN_TWIN(name) \
  extern "C" decltype(name) p##name __attribute__((alias(#name), visibility("default")))

struct ncclComm {
  std::uint64_t sign;
  std::shared_ptr<standin::Communicator> communicator;
};

namespace standin {

constexpr std::uint64_t handle_sign = 0x4b1d0c0ffee5a1adULL;

inline ncclComm_t make_handle(std::shared_ptr<Communicator> communicator) {
  return communicator == nullptr ? nullptr : new ncclComm{handle_sign, std::move(communicator)};
}

/// The communicator of a handle; fails with ncclInvalidArgument for what is none.
inline std::shared_ptr<Communicator> communicator_of(ncclComm* handle) {
  if (handle == nullptr || handle->sign != handle_sign) {
    fail(ncclInvalidArgument, "comm argument is NULL or no communicator");
  }
  return handle->communicator;
}

/// The same, of one that is ready for the next call.
inline std::shared_ptr<Communicator> ready_communicator(ncclComm* handle) {
  auto communicator = communicator_of(handle);
  ncclResult_t const ready = communicator->ready();
  if (ready != ncclSuccess) throw Failure{ready};
  return communicator;
}

inline void free_handle(ncclComm* handle) {
  handle->sign = 0;
  delete handle;
}

template <typename Body>
ncclResult_t guarded(Body body) {
  try {
    return body();
  } catch (Failure const& failure) {
    return failure.result;
  } catch (Stopped const&) {
    return ncclInternalError;
  } catch (std::bad_alloc const&) {
    return ncclSystemError;
  }
}

}  // namespace standin

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Exported functions that tell something, and those for memory, which need nothing here.
#include "handle.hpp"
#include "settings.hpp"

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = standin::version();
  return ncclSuccess;
}
STANDIN_TWIN(ncclGetVersion);

char const* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}
STANDIN_TWIN(ncclGetErrorString);

char const* ncclGetLastError(ncclComm_t /*comm*/) {
  return standin::last_error();
}
STANDIN_TWIN(ncclGetLastError);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
void ncclResetDebugInit() {}
STANDIN_TWIN(ncclResetDebugInit);
#pragma GCC diagnostic pop

ncclResult_t ncclCommCount(ncclComm_t const comm, int* count) {
  return standin::guarded([&] {
    *count = standin::ready_communicator(comm)->ranks();
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommCount);

ncclResult_t ncclCommUserRank(ncclComm_t const comm, int* rank) {
  return standin::guarded([&] {
    *rank = standin::ready_communicator(comm)->rank();
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommUserRank);

ncclResult_t ncclCommCuDevice(ncclComm_t const comm, int* device) {
  return standin::guarded([&] {
    *device = standin::ready_communicator(comm)->device();
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommCuDevice);

ncclResult_t ncclMemAlloc(void** pointer, size_t size) {
  if (pointer == nullptr) return ncclInvalidArgument;
  cudaError_t const error = cudaMalloc(pointer, size);
  if (error == cudaSuccess) return ncclSuccess;
  standin::warn("Cuda failure '" + std::string(cudaGetErrorString(error)) + "'");
  return ncclUnhandledCudaError;
}
STANDIN_TWIN(ncclMemAlloc);

ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
STANDIN_TWIN(ncclMemFree);

ncclResult_t ncclCommRegister(ncclComm_t const comm, void* buffer, size_t size, void** handle) {
  return standin::guarded([&] {
    standin::ready_communicator(comm);
    if (buffer == nullptr || size == 0 || handle == nullptr) {
      standin::fail(ncclInvalidArgument, "nothing to register");
    }
    *handle = buffer;
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommRegister);

ncclResult_t ncclCommDeregister(ncclComm_t const comm, void* /*handle*/) {
  return standin::guarded([&] {
    standin::communicator_of(comm);
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommDeregister);

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t size,
                                    ncclWindow_t* window, int /*flags*/) {
  return standin::guarded([&] {
    standin::ready_communicator(comm);
    if (buffer == nullptr || size == 0 || window == nullptr) {
      standin::fail(ncclInvalidArgument, "nothing to register");
    }
    *window = static_cast<ncclWindow_t>(buffer);
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommWindowRegister);

ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t /*window*/) {
  return standin::guarded([&] {
    standin::communicator_of(comm);
    return ncclSuccess;
  });
}
STANDIN_TWIN(ncclCommWindowDeregister);

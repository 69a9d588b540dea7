// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include "call.hpp"
#include "default_stream.hpp"
#include "event.hpp"
#include "settings.hpp"
#include "stream.hpp"

// Compiled twice, see default_stream.hpp.
using namespace berth::standin;

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call([&] {
    count_use();
    WorkPtr const work = last_work(*find_stream(chosen(stream)));
    require_safe_to_call();
    return work == nullptr || work->is_done() ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] {
    count_use();
    WorkPtr const work = last_work(*find_stream(chosen(stream)));
    require_safe_to_call();
    if (work) work->wait();
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return call([&] {
    require(device != nullptr);
    *device = find_stream(chosen(stream))->device;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return call([&] {
    require(flags != nullptr);
    bool const apart = find_stream(chosen(stream))->kind == Stream::Kind::non_blocking;
    *flags = apart ? cudaStreamNonBlocking : cudaStreamDefault;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call([&] {
    require(id != nullptr);
    *id = find_stream(chosen(stream))->id;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call([&] {
    require(priority != nullptr);
    *priority = find_stream(chosen(stream))->priority;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call([&] {
    find_stream(chosen(to));
    find_stream(chosen(from));
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] { record_event(event, *find_stream(chosen(stream)), cudaEventRecordDefault); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return call([&] { record_event(event, *find_stream(chosen(stream)), flags); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return call([&] { wait_for_event(*find_stream(chosen(stream)), event, flags); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call([&] {
    require(function != nullptr);
    Step step;
    step.type = cudaGraphNodeTypeHost;
    step.run = [function, data] {
      NoCallsHere const none;
      function(data);
    };
    submit(*find_stream(chosen(stream)), std::move(step));
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned int flags) {
  return call([&] {
    require(function != nullptr && flags == 0);
    std::shared_ptr<Stream> const found = find_stream(chosen(stream));
    {
      auto const lock = lock_engine();
      if (found->capture) spoil(*found->capture, cudaErrorStreamCaptureUnsupported);
    }
    Step step;
    step.run = [function, data, stream] {
      NoCallsHere const none;
      function(stream, sticky_error(), data);
    };
    submit(*found, std::move(step));
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* at, size_t, unsigned int flags) {
  return call([&] {
    require(at != nullptr && flags != 0);
    submit(*find_stream(chosen(stream)), {});
  });
}

namespace {

// There is no driver library behind this runtime, so it knows none of its functions.
cudaError_t find_no_function(char const* name, void** function,
                             cudaDriverEntryPointQueryResult* result) {
  return call([&] {
    require(name != nullptr && function != nullptr);
    *function = nullptr;
    require(result != nullptr, cudaErrorSymbolNotFound);
    *result = cudaDriverEntryPointSymbolNotFound;
  });
}

}  // namespace

cudaError_t cudaGetDriverEntryPoint(char const* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  return find_no_function(name, function, result);
}

cudaError_t cudaGetDriverEntryPointByVersion(char const* name, void** function, unsigned int,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  return find_no_function(name, function, result);
}

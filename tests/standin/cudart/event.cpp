// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "event.hpp"

#include <chrono>
#include <map>
#include <thread>

#include "call.hpp"
#include "devices.hpp"
#include "settings.hpp"

namespace berth::standin {
namespace {

constexpr unsigned known_flags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

// Guarded by lock_engine().
std::map<cudaEvent_t, std::shared_ptr<Event>>& events() {
  static auto* const all = new std::map<cudaEvent_t, std::shared_ptr<Event>>;
  return *all;
}

void wait_for_shared(SharedEvent const& shared, unsigned long long record) {
  while (shared.completed.load(std::memory_order_acquire) < record) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void complete(SharedEvent& shared, unsigned long long record) {
  unsigned long long before = shared.completed.load();
  while (before < record && !shared.completed.compare_exchange_weak(before, record)) {
  }
}

// Fails for an event whose last record was captured: it has no state of its own.
WorkPtr work_of(Event const& event) {
  auto const lock = lock_engine();
  require(event.captured_by == nullptr, cudaErrorCapturedEvent);
  return event.work;
}

void capture_record(std::shared_ptr<Event> const& event, Stream& stream, unsigned flags) {
  if (flags == cudaEventRecordExternal) {
    Step step;
    step.type = cudaGraphNodeTypeEventRecord;
    step.records = event;
    capture_step(stream, std::move(step));
    return;
  }
  require(stream.capture->valid, cudaErrorStreamCaptureInvalidated);
  event->captured_by = stream.capture;
  event->captured = stream.frontier;
}

bool is_complete(Event const& event) {
  if (event.shared) return event.shared->completed.load() >= event.shared->recorded.load();
  WorkPtr const work = work_of(event);
  return work == nullptr || work->is_done();
}

}  // namespace

cudaEvent_t adopt_event(std::shared_ptr<Event> event) {
  auto const lock = lock_engine();
  auto const handle = reinterpret_cast<cudaEvent_t>(event.get());
  events()[handle] = std::move(event);
  return handle;
}

cudaEvent_t create_event(unsigned flags) {
  require((flags & ~known_flags) == 0);
  bool const for_others = (flags & unsigned{cudaEventInterprocess}) != 0;
  require(!for_others || (flags & unsigned{cudaEventDisableTiming}) != 0);
  auto event = std::make_shared<Event>();
  event->flags = flags;
  event->device = current_device();
  if (for_others) event->shared = make_shared_event();
  return adopt_event(std::move(event));
}

std::shared_ptr<Event> find_event(cudaEvent_t handle) {
  auto const lock = lock_engine();
  auto const found = events().find(handle);
  require(found != events().end(), cudaErrorInvalidResourceHandle);
  return found->second;
}

void record_event(cudaEvent_t handle, Stream& stream, unsigned flags) {
  require(flags == cudaEventRecordDefault || flags == cudaEventRecordExternal);
  std::shared_ptr<Event> const event = find_event(handle);
  require(event->device == stream.device, cudaErrorInvalidResourceHandle);
  auto const lock = lock_engine();
  if (stream.capture) {
    capture_record(event, stream, flags);
    return;
  }
  require(flags == cudaEventRecordDefault, cudaErrorIllegalState);
  if (stream.kind == Stream::Kind::legacy) require_no_implicit_capture(stream.device);
  std::function<void()> run;
  if (event->shared) {
    run = [shared = event->shared, record = ++event->shared->recorded] {
      complete(*shared, record);
    };
  }
  event->captured_by = nullptr;
  event->captured.clear();
  event->work = enqueue(stream, std::move(run), {});
}

void wait_for_event(Stream& stream, cudaEvent_t handle, unsigned flags) {
  require(flags == cudaEventWaitDefault || flags == cudaEventWaitExternal);
  std::shared_ptr<Event> const event = find_event(handle);
  auto const lock = lock_engine();
  if (stream.capture && flags == cudaEventWaitExternal) {
    Step step;
    step.type = cudaGraphNodeTypeWaitEvent;
    step.waits_for = event;
    capture_step(stream, std::move(step));
  } else if (event->captured_by) {
    require(stream.kind != Stream::Kind::legacy, cudaErrorStreamCaptureImplicit);
    join_capture(stream, event->captured_by, event->captured);
  } else if (stream.capture) {
    // A dependency on work outside of the graph cannot be part of the graph.
    spoil(*stream.capture, cudaErrorStreamCaptureIsolation);
  } else if (event->shared) {
    unsigned long long const record = event->shared->recorded.load();
    enqueue(stream, [shared = event->shared, record] { wait_for_shared(*shared, record); }, {});
  } else {
    if (event->work) enqueue(stream, nullptr, {event->work});
  }
}

}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return call([&] {
    require(event != nullptr);
    *event = create_event(cudaEventDefault);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return call([&] {
    require(event != nullptr);
    *event = create_event(flags);
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call([&] {
    std::shared_ptr<Event> const event = find_event(handle);
    auto const lock = lock_engine();
    events().erase(handle);
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call([&] {
    count_use();
    std::shared_ptr<Event> const event = find_event(handle);
    require_safe_to_call();
    return is_complete(*event) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call([&] {
    count_use();
    std::shared_ptr<Event> const event = find_event(handle);
    require_safe_to_call();
    if (event->shared) {
      wait_for_shared(*event->shared, event->shared->recorded.load());
    } else if (WorkPtr const work = work_of(*event)) {
      work->wait();
    }
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return call([&] {
    require(milliseconds != nullptr);
    std::shared_ptr<Event> const first = find_event(start);
    std::shared_ptr<Event> const second = find_event(end);
    bool const timed = ((first->flags | second->flags) & unsigned{cudaEventDisableTiming}) == 0;
    require(timed && first->device == second->device, cudaErrorInvalidResourceHandle);
    WorkPtr const from = work_of(*first);
    WorkPtr const to = work_of(*second);
    require(from != nullptr && to != nullptr, cudaErrorInvalidResourceHandle);
    if (!from->is_done() || !to->is_done()) return cudaErrorNotReady;
    *milliseconds = std::chrono::duration<float, std::milli>(to->finished - from->finished).count();
    return cudaSuccess;
  });
}

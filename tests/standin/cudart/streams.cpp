// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "state.hpp"

namespace berth::standin::cuda {

Stream::Stream(int device, bool is_blocking)
    : device_(device), is_blocking_(is_blocking), queue_(std::make_shared<Queue>()) {
  // Alone: a process may end while work is stuck in here.
  std::thread(serve, queue_).detach();
}

void Stream::serve(std::shared_ptr<Queue> const& queue) {
  for (;;) {
    std::unique_lock<std::mutex> lock(queue->mutex);
    queue->changed.wait(lock, [&] { return !queue->waiting.empty(); });
    Work const work = std::move(queue->waiting.front());
    queue->waiting.pop_front();
    lock.unlock();
    if (!work) return;  // the stream was destroyed
    work();
    lock.lock();
    ++queue->done;
    lock.unlock();
    queue->changed.notify_all();
  }
}

void Stream::add(Work work) {
  {
    std::lock_guard<std::mutex> const lock(queue_->mutex);
    queue_->added += work ? 1 : 0;
    queue_->waiting.push_back(std::move(work));
  }
  queue_->changed.notify_all();
}

bool Stream::is_idle() {
  std::lock_guard<std::mutex> const lock(queue_->mutex);
  return queue_->done == queue_->added;
}

void Stream::drain() {
  std::unique_lock<std::mutex> lock(queue_->mutex);
  std::uint64_t const all = queue_->added;
  queue_->changed.wait(lock, [&] { return queue_->done >= all; });
}

Stream& stream_of(cudaStream_t handle) {
  if (handle != nullptr && handle != cudaStreamLegacy && handle != cudaStreamPerThread)
    return *reinterpret_cast<Stream*>(handle);
  State& all = state();
  int const device = current_device();
  std::lock_guard<std::mutex> const lock(all.mutex);
  Stream*& stream = all.default_streams[device];
  if (stream == nullptr) stream = new Stream(device, true);
  return *stream;
}

void enqueue(Stream& stream, Work work) {
  if (stream.recording) {
    stream.recording->push_back(std::move(work));
    return;
  }
  // The default stream and the blocking ones take turns; draining is a simple way to that.
  State& all = state();
  std::vector<Stream*> others;
  {
    std::lock_guard<std::mutex> const lock(all.mutex);
    auto const found = all.default_streams.find(stream.device());
    Stream* const plain = found == all.default_streams.end() ? nullptr : found->second;
    if (plain == &stream) {
      for (auto const& one : all.streams)
        if (one->is_blocking() && one->device() == stream.device()) others.push_back(one.get());
    } else if (plain != nullptr && stream.is_blocking()) {
      others.push_back(plain);
    }
  }
  for (Stream* const other : others) other->drain();
  stream.add(std::move(work));
}

void drain_device(int device) {
  State& all = state();
  std::vector<Stream*> streams;
  {
    std::lock_guard<std::mutex> const lock(all.mutex);
    for (auto const& one : all.streams)
      if (one->device() == device) streams.push_back(one.get());
    if (auto const found = all.default_streams.find(device); found != all.default_streams.end())
      streams.push_back(found->second);
  }
  for (Stream* const stream : streams) stream->drain();
}

namespace {

cudaError_t make_stream(cudaStream_t* stream, unsigned flags) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  State& all = state();
  auto made = std::make_unique<Stream>(current_device(), (flags & cudaStreamNonBlocking) == 0);
  *stream = reinterpret_cast<cudaStream_t>(made.get());
  std::lock_guard<std::mutex> const lock(all.mutex);
  all.streams.push_back(std::move(made));
  return cudaSuccess;
}

std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

Event& event_of(cudaEvent_t handle) {
  return **reinterpret_cast<std::shared_ptr<Event>*>(handle);
}

void wait_for(Event& event, std::uint64_t wanted) {
  std::unique_lock<std::mutex> lock(event.mutex);
  event.changed.wait(lock, [&] { return event.reached >= wanted; });
}

}  // namespace
}  // namespace berth::standin::cuda

using namespace berth::standin::cuda;

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return make_stream(stream, cudaStreamDefault);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return make_stream(stream, flags);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int /*priority*/) {
  return make_stream(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  State& all = state();
  std::unique_ptr<Stream> gone;
  {
    std::lock_guard<std::mutex> const lock(all.mutex);
    auto const found = std::find_if(all.streams.begin(), all.streams.end(), [&](auto const& one) {
      return one.get() == reinterpret_cast<Stream*>(handle);
    });
    if (found == all.streams.end()) return note(cudaErrorInvalidResourceHandle);
    gone = std::move(*found);
    all.streams.erase(found);
  }
  gone->add(nullptr);  // its thread ends behind the work that is left
  return broken();
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  if (cudaError_t const error = broken(true); error != cudaSuccess) return error;
  Stream& stream = stream_of(handle);
  if (stream.recording) return note(cudaErrorStreamCaptureUnsupported);
  return stream.is_idle() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  if (cudaError_t const error = broken(true); error != cudaSuccess) return error;
  Stream& stream = stream_of(handle);
  if (stream.recording) return note(cudaErrorStreamCaptureUnsupported);
  stream.drain();
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  auto const event = *reinterpret_cast<std::shared_ptr<Event>*>(event_handle);
  std::uint64_t wanted = 0;
  {
    std::lock_guard<std::mutex> const lock(event->mutex);
    wanted = event->recorded;
  }
  enqueue(stream_of(handle), [event, wanted] { wait_for(*event, wanted); });
  return cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  enqueue(stream_of(handle), [function, data] { function(data); });
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  if (cudaError_t const error = broken(true); error != cudaSuccess) return error;
  drain_device(current_device());
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  *event = reinterpret_cast<cudaEvent_t>(new std::shared_ptr<Event>(std::make_shared<Event>()));
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<std::shared_ptr<Event>*>(event);
  return broken();
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  auto const event = *reinterpret_cast<std::shared_ptr<Event>*>(handle);
  std::uint64_t number = 0;
  {
    std::lock_guard<std::mutex> const lock(event->mutex);
    number = ++event->recorded;
  }
  enqueue(stream_of(stream), [event, number] {
    {
      std::lock_guard<std::mutex> const lock(event->mutex);
      event->reached = std::max(event->reached, number);
      event->nanoseconds = now();
    }
    event->changed.notify_all();
  });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  if (cudaError_t const error = broken(true); error != cudaSuccess) return error;
  Event& event = event_of(handle);
  std::lock_guard<std::mutex> const lock(event.mutex);
  return event.reached >= event.recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  if (cudaError_t const error = broken(true); error != cudaSuccess) return error;
  Event& event = event_of(handle);
  std::unique_lock<std::mutex> lock(event.mutex);
  event.changed.wait(lock, [&] { return event.reached >= event.recorded; });
  return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t first, cudaEvent_t second) {
  if (cudaError_t const error = broken(); error != cudaSuccess) return error;
  Event& start = event_of(first);
  Event& end = event_of(second);
  std::scoped_lock const lock(start.mutex, end.mutex);
  if (start.recorded == 0 || end.recorded == 0) return note(cudaErrorInvalidResourceHandle);
  if (start.reached < start.recorded || end.reached < end.recorded) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(end.nanoseconds - start.nanoseconds) / 1e6F;
  return cudaSuccess;
}

}  // extern "C"

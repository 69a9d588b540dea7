// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "stream.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <thread>

#include "call.hpp"
#include "devices.hpp"

namespace berth::standin {
namespace {

// Never destroyed: threads of streams may outlive the static objects of the program.
struct Engine {
  std::mutex mutex;
  unsigned long long next_id = 1;
  std::vector<std::shared_ptr<Stream>> streams;  ///< the legacy ones too; retired ones while busy
  std::map<int, std::shared_ptr<Stream>> legacy;
};
Engine& engine() {
  static auto* const only = new Engine;
  return *only;
}

// The per-thread default streams of one thread, one for each device.
struct OwnStreams {
  std::map<int, std::shared_ptr<Stream>> by_device;
  ~OwnStreams() {
    auto const lock = lock_engine();
    for (auto const& [device, stream] : by_device) stream->retired = true;
    for (auto const& [device, stream] : by_device) stream->close();
  }
};
thread_local OwnStreams own_streams;

std::shared_ptr<Stream> add_stream(Stream::Kind kind, int device, int priority) {
  Engine& all = engine();
  std::erase_if(all.streams, [](std::shared_ptr<Stream> const& stream) {
    return stream->retired && (!stream->last || stream->last->is_done());
  });
  all.streams.push_back(std::make_shared<Stream>(kind, device, priority));
  return all.streams.back();
}

std::shared_ptr<Stream> default_stream(std::map<int, std::shared_ptr<Stream>>& by_device,
                                       Stream::Kind kind, int device) {
  auto const lock = lock_engine();
  std::shared_ptr<Stream>& stream = by_device[device];
  if (!stream || stream->retired) stream = add_stream(kind, device, 0);
  return stream;
}

bool busy(Stream const& stream) {
  return stream.last && !stream.last->is_done();
}

// Work of other streams that has to be done first because of the legacy default stream.
void add_implicit(Stream const& stream, std::vector<WorkPtr>& after) {
  if (stream.kind == Stream::Kind::legacy) {
    for (auto const& other : engine().streams) {
      if (other->device == stream.device && other->follows_legacy() && busy(*other)) {
        after.push_back(other->last);
      }
    }
  } else if (stream.follows_legacy()) {
    auto const found = engine().legacy.find(stream.device);
    if (found != engine().legacy.end() && busy(*found->second)) {
      after.push_back(found->second->last);
    }
  }
}

// Signals are for the threads of the program.
void start_thread(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread(std::move(body)).detach();
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

std::unique_lock<std::mutex> lock_engine() {
  return std::unique_lock(engine().mutex);
}

// The engine is locked by whoever makes a stream.
Stream::Stream(Kind kind_of, int on_device, int with_priority)
    : kind(kind_of), device(on_device), priority(with_priority), id(engine().next_id++) {}

void Stream::push(WorkPtr const& work) {
  std::lock_guard const lock(mutex_);
  if (!has_thread_) {
    start_thread([self = shared_from_this()] { self->serve(); });
    has_thread_ = true;
  }
  queue_.push_back(work);
  wake_.notify_one();
}

void Stream::close() {
  std::lock_guard const lock(mutex_);
  closed_ = true;
  wake_.notify_one();
}

WorkPtr Stream::next() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return closed_ || !queue_.empty(); });
  if (queue_.empty()) return nullptr;
  WorkPtr work = std::move(queue_.front());
  queue_.pop_front();
  return work;
}

void Stream::serve() {
  while (WorkPtr const work = next()) {
    for (WorkPtr const& other : work->after) other->wait();
    if (work->run) work->run();
    // What the work held goes before it counts as done; otherwise chains of finished work grow.
    work->after.clear();
    work->run = nullptr;
    work->finish();
  }
}

std::shared_ptr<Stream> legacy_stream(int device) {
  return default_stream(engine().legacy, Stream::Kind::legacy, device);
}

std::shared_ptr<Stream> find_stream(cudaStream_t handle) {
  if (handle == nullptr || handle == cudaStreamLegacy) return legacy_stream(current_device());
  if (handle == cudaStreamPerThread) {
    return default_stream(own_streams.by_device, Stream::Kind::per_thread, current_device());
  }
  auto const lock = lock_engine();
  for (auto const& stream : engine().streams) {
    if (reinterpret_cast<cudaStream_t>(stream.get()) == handle && !stream->retired) return stream;
  }
  fail(cudaErrorInvalidResourceHandle);
}

cudaStream_t create_stream(unsigned flags, int priority) {
  require((flags & ~unsigned{cudaStreamNonBlocking}) == 0);
  auto const kind = flags == 0 ? Stream::Kind::blocking : Stream::Kind::non_blocking;
  auto const lock = lock_engine();
  return reinterpret_cast<cudaStream_t>(
      add_stream(kind, current_device(), std::clamp(priority, -5, 0)).get());
}

void destroy_stream(cudaStream_t handle) {
  require(handle != nullptr && handle != cudaStreamLegacy && handle != cudaStreamPerThread,
          cudaErrorInvalidResourceHandle);
  std::shared_ptr<Stream> const stream = find_stream(handle);
  auto const lock = lock_engine();
  abandon_capture(*stream);
  stream->retired = true;
  stream->close();
}

WorkPtr enqueue(Stream& stream, std::function<void()> run, std::vector<WorkPtr> after) {
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  std::erase_if(after, [](WorkPtr const& one) { return !one || one->is_done(); });
  add_implicit(stream, after);
  work->after = std::move(after);
  stream.push(work);
  stream.last = work;
  return work;
}

WorkPtr submit(Stream& stream, Step step, std::vector<WorkPtr> after) {
  auto const lock = lock_engine();
  if (stream.capture) {
    capture_step(stream, std::move(step));
    return nullptr;
  }
  if (stream.kind == Stream::Kind::legacy) require_no_implicit_capture(stream.device);
  return enqueue(stream, std::move(step.run), std::move(after));
}

WorkPtr last_work(Stream& stream) {
  auto const lock = lock_engine();
  if (stream.capture) spoil(*stream.capture, cudaErrorStreamCaptureUnsupported);
  if (stream.kind != Stream::Kind::legacy) return stream.last;
  require_no_implicit_capture(stream.device);
  // Waiting for the legacy default stream means waiting for all that it would wait for.
  std::vector<WorkPtr> after;
  add_implicit(stream, after);
  if (after.empty()) return stream.last;
  return enqueue(stream, nullptr, {});
}

void wait_for_device(int device) {
  std::vector<WorkPtr> all;
  {
    auto const lock = lock_engine();
    for (auto const& stream : engine().streams) {
      if (stream->device == device && busy(*stream)) all.push_back(stream->last);
    }
  }
  for (WorkPtr const& work : all) work->wait();
}

void retire_streams(int device) {
  auto const lock = lock_engine();
  for (auto const& stream : engine().streams) {
    if (stream->device != device) continue;
    stream->retired = true;
    stream->close();
  }
}

}  // namespace berth::standin

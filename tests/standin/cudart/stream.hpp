// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

#include "graph.hpp"
#include "work.hpp"

namespace berth::standin {

struct Capture;

/// Guards the order in which work is given to streams, and all captures. Held for short moments
/// only, never while waiting for work.
std::unique_lock<std::mutex> lock_engine();

/// A queue and, from its first work on, a thread that serves it. Nobody ever joins that thread: a
/// process may end while work is stuck.
struct Stream : std::enable_shared_from_this<Stream> {
  enum class Kind { legacy, per_thread, blocking, non_blocking };

  Stream(Kind kind_of, int on_device, int with_priority);

  Kind const kind;
  int const device;
  int const priority;
  unsigned long long const id;

  // Guarded by lock_engine().
  WorkPtr last;          ///< null: nothing was ever given to it
  bool retired = false;  ///< destroyed by the program, maybe still busy
  std::shared_ptr<Capture> capture;
  std::vector<Node*> frontier;  ///< what the next captured node depends on

  [[nodiscard]] bool follows_legacy() const {
    return kind == Kind::blocking || kind == Kind::per_thread;
  }
  /// Gives it work as is.
  void push(WorkPtr const& work);
  /// Lets the thread end when nothing is left to do.
  void close();

 private:
  void serve();
  WorkPtr next();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<WorkPtr> queue_;
  bool has_thread_ = false;
  bool closed_ = false;
};

/// The stream that a handle means; fails with cudaErrorInvalidResourceHandle. The handle 0 means
/// the legacy default stream.
std::shared_ptr<Stream> find_stream(cudaStream_t handle);
std::shared_ptr<Stream> legacy_stream(int device);
cudaStream_t create_stream(unsigned flags, int priority);
void destroy_stream(cudaStream_t handle);

/// Gives the stream work that starts after all that CUDA's rules for default streams ask for, and
/// after `after`. While the stream is capturing it becomes a node of the graph instead, and null
/// is returned.
WorkPtr submit(Stream& stream, Step step, std::vector<WorkPtr> after = {});
/// As submit, for a caller that holds lock_engine() and knows that the stream is not capturing.
WorkPtr enqueue(Stream& stream, std::function<void()> run, std::vector<WorkPtr> after);

/// What was given to the stream last, so that waiting for it means waiting for the stream. Fails
/// if the stream is capturing.
WorkPtr last_work(Stream& stream);
/// Waits for all that was given to the streams of the device, captures or not.
void wait_for_device(int device);
void retire_streams(int device);

}  // namespace berth::standin

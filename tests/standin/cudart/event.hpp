// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "graph.hpp"
#include "stream.hpp"
#include "work.hpp"

namespace berth::standin {

/// What processes share of an event that cudaIpcGetEventHandle gave away.
struct SharedEvent {
  std::atomic<unsigned long long> recorded{0};
  std::atomic<unsigned long long> completed{0};
};

struct Event {
  unsigned flags = 0;
  int device = 0;
  std::shared_ptr<SharedEvent> shared;  ///< null unless made for several processes

  // Guarded by lock_engine().
  WorkPtr work;                          ///< null: never recorded
  std::shared_ptr<Capture> captured_by;  ///< the last record was part of this capture
  std::vector<Node*> captured;
};

cudaEvent_t create_event(unsigned flags);
cudaEvent_t adopt_event(std::shared_ptr<Event> event);
/// Fails with cudaErrorInvalidResourceHandle.
std::shared_ptr<Event> find_event(cudaEvent_t handle);
void record_event(cudaEvent_t handle, Stream& stream, unsigned flags);
/// Makes all further work of the stream wait for what the event recorded last.
void wait_for_event(Stream& stream, cudaEvent_t handle, unsigned flags);

/// Memory that `shared` of an event lies in, for another process of this machine.
std::shared_ptr<SharedEvent> make_shared_event();

}  // namespace berth::standin

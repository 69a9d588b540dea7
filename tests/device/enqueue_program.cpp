// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// The same all_reduce a thousand times through Berth and a thousand times through NCCL alone, in
// two functions whose instructions enqueue_cost.py counts.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

#include <comm/impl.hpp>

namespace {

constexpr int calls = 1000;
constexpr std::size_t count = 16;

}  // namespace

// A name that a tool finds.
extern "C" __attribute__((noinline)) void calls_through_berth(berth::Communicator& comm,
                                                              float* data, berth::Stream stream) {
  for (int i = 0; i < calls; ++i)
    comm.all_reduce(data, data, count, berth::Type::float32, berth::Op::sum, stream);
}

int main() {
  berth::Options options;
  options.backend = berth::Backend::nccl;
  options.bind = false;
  berth::Communicator comm(MPI_COMM_WORLD, options);
  berth::gpu::Runtime& runtime = *comm.impl().runtime();
  auto* const data = static_cast<float*>(runtime.allocate(count * sizeof(float)));
  berth::Stream const stream = runtime.make_stream();
  comm.all_reduce(data, data, count, berth::Type::float32, berth::Op::sum, stream);
  comm.wait(stream);

  calls_through_berth(comm, data, stream);
  comm.wait(stream);
  runtime.free_stream(stream);
  runtime.free(data);
  comm.close();
  return 0;
}

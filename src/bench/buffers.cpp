// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include <bench/buffers.hpp>
#include <pattern/pattern.hpp>

namespace berth::bench {
namespace {

constexpr std::size_t line = 64;
/// Small enough to stay in the first cache while it is copied all over the buffer.
constexpr std::size_t block = 4096;

}  // namespace

void copy(Communicator::Impl& impl, void* to, void const* from, std::size_t bytes) {
  gpu::Stream const stream = impl.on_device()->own_stream();
  impl.runtime()->copy(to, from, bytes, stream);
  impl.on_device()->wait(stream);
}

Buffer::Buffer(std::size_t bytes, Communicator::Impl& impl)
    : memory_(static_cast<std::byte*>(impl.runtime()->allocate(std::max(bytes, line))),
              [&impl](std::byte* memory) { impl.runtime()->free(memory); }),
      size_(bytes),
      device_(&impl) {}

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
  std::size_t const whole = (std::max(bytes, line) + line - 1) / line * line;
  if (whole < bytes) throw std::bad_alloc();
  memory_ = {static_cast<std::byte*>(std::aligned_alloc(line, whole)),
             [](std::byte* memory) { std::free(memory); }};
  if (!memory_) throw std::bad_alloc();
}

void Buffer::rewrite(Type type, int rank) const {
  alignas(line) std::array<std::byte, block> source;
  pattern::fill({type, Op::sum, rank + 1, 0}, rank, source.data(), 0, block / size_of(type));
  if (device_ != nullptr) {
    std::vector<std::byte> all(size_);
    for (std::size_t at = 0; at < size_; at += block)
      std::memcpy(all.data() + at, source.data(), std::min(block, size_ - at));
    copy(*device_, memory_.get(), all.data(), size_);
    return;
  }
  for (std::size_t at = 0; at < size_; at += block)
    std::memcpy(memory_.get() + at, source.data(), std::min(block, size_ - at));
}

}  // namespace berth::bench

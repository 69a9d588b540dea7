// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"

#include <cstring>
#include <memory>
#include <vector>

#include "call.hpp"
#include "memory.hpp"

namespace berth::standin {
namespace {

enum class Side { pageable, pinned, device };

// Where a range lies; fails if it leaves its allocation.
Side side_of(void const* at, std::size_t bytes) {
  std::optional<Block> const block = find_block(at);
  if (!block) return Side::pageable;
  require(bytes <= block->left_from(at));
  if (block->kind == Block::Kind::managed) return Side::device;
  return block->for_host() ? Side::pinned : Side::device;
}

bool host_can_use(void const* at) {
  std::optional<Block> const block = find_block(at);
  return !block || block->for_host();
}

std::size_t span(std::size_t width, std::size_t height, std::size_t pitch) {
  return height == 0 ? 0 : (height - 1) * pitch + width;
}

struct Sides {
  Side to;
  Side from;
};

Sides check(Copy const& copy, cudaMemcpyKind kind) {
  require(copy.to != nullptr && copy.from != nullptr);
  bool const rows = copy.height > 1;
  require(!rows || (copy.to_pitch >= copy.width && copy.from_pitch >= copy.width),
          cudaErrorInvalidPitchValue);
  Sides const sides = {side_of(copy.to, span(copy.width, copy.height, copy.to_pitch)),
                       side_of(copy.from, span(copy.width, copy.height, copy.from_pitch))};
  bool const to_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost;
  bool const from_host = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice;
  bool const known =
      to_host || from_host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
  require(known, cudaErrorInvalidMemcpyDirection);
  if (kind == cudaMemcpyDefault) return sides;
  require(to_host ? host_can_use(copy.to) : sides.to != Side::pageable);
  require(from_host ? host_can_use(copy.from) : sides.from != Side::pageable);
  return sides;
}

void move_rows(Copy const& copy) {
  auto* to = static_cast<std::byte*>(copy.to);
  auto const* from = static_cast<std::byte const*>(copy.from);
  for (std::size_t row = 0; row < copy.height; ++row) {
    std::memmove(to + row * copy.to_pitch, from + row * copy.from_pitch, copy.width);
  }
}

void set_rows(Fill const& fill) {
  auto* const at = static_cast<std::byte*>(fill.at);
  for (std::size_t row = 0; row < fill.height; ++row) {
    std::memset(at + row * fill.pitch, fill.value, fill.width);
  }
}

// The same copy out of memory of its own, so that the caller may change the source at once.
Step staged(Copy const& copy) {
  auto const rows = std::make_shared<std::vector<std::byte>>(copy.width * copy.height);
  Copy const keep = {rows->data(), copy.from, copy.width, copy.height, copy.width, copy.from_pitch};
  move_rows(keep);
  Copy const later = {copy.to, rows->data(), copy.width, copy.height, copy.to_pitch, copy.width};
  Step step;
  step.type = cudaGraphNodeTypeMemcpy;
  step.run = [later, rows] { move_rows(later); };
  return step;
}

bool is_capturing(Stream const& stream) {
  auto const lock = lock_engine();
  return stream.capture != nullptr;
}

// A call that is not ordered by a stream of the program's choice.
void require_no_capture_around(Stream const& stream) {
  if (stream.kind == Stream::Kind::legacy) {
    auto const lock = lock_engine();
    require_no_implicit_capture(stream.device);
  }
  require_safe_to_call();
}

}  // namespace

Step copy_step(Copy const& copy, cudaMemcpyKind kind) {
  check(copy, kind);
  Step step;
  step.type = cudaGraphNodeTypeMemcpy;
  step.run = [copy] { move_rows(copy); };
  return step;
}

Step fill_step(Fill const& fill) {
  require(fill.at != nullptr);
  require(fill.height <= 1 || fill.pitch >= fill.width, cudaErrorInvalidPitchValue);
  Side const side = side_of(fill.at, span(fill.width, fill.height, fill.pitch));
  require(side != Side::pageable);
  Step step;
  step.type = cudaGraphNodeTypeMemset;
  step.run = [fill] { set_rows(fill); };
  return step;
}

void copy_async(Copy const& copy, cudaMemcpyKind kind, Stream& stream) {
  if (copy.width == 0 || copy.height == 0) return;
  Sides const sides = check(copy, kind);
  if (is_capturing(stream)) {
    submit(stream, copy_step(copy, kind));
    return;
  }
  bool const returns_early = sides.to != Side::pageable;
  bool const copy_source = returns_early && sides.from == Side::pageable;
  WorkPtr const work = submit(stream, copy_source ? staged(copy) : copy_step(copy, kind));
  if (work && !returns_early) work->wait();
}

void copy_now(Copy const& copy, cudaMemcpyKind kind, Stream& stream) {
  require_no_capture_around(stream);
  if (copy.width == 0 || copy.height == 0) return;
  Sides const sides = check(copy, kind);
  WorkPtr const work = submit(stream, copy_step(copy, kind));
  bool const on_device = sides.to == Side::device && sides.from == Side::device;
  if (work && !on_device) work->wait();
}

void fill_async(Fill const& fill, Stream& stream) {
  if (fill.width == 0 || fill.height == 0) return;
  submit(stream, fill_step(fill));
}

void fill_now(Fill const& fill, Stream& stream) {
  require_no_capture_around(stream);
  if (fill.width == 0 || fill.height == 0) return;
  WorkPtr const work = submit(stream, fill_step(fill));
  if (work && side_of(fill.at, fill.width) == Side::pinned) work->wait();
}

}  // namespace berth::standin

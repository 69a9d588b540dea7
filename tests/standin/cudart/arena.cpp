// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "call.hpp"
#include "settings.hpp"

namespace berth::standin {
namespace {

constexpr std::size_t page = 4096;
constexpr auto guard_byte = std::byte{0xA5};

std::size_t in_pages(std::size_t bytes) {
  return (bytes + page - 1) / page * page;
}

}  // namespace

// Twice as much address space as memory, for what the guard pages and the gaps take. Nothing of it
// costs anything before it is touched.
Arena::Arena(std::size_t capacity) : capacity_(capacity), space_(in_pages(2 * capacity)) {
  descriptor_ = memfd_create("standin-device", MFD_CLOEXEC);
  struct stat status {};
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(space_)) != 0 ||
      fstat(descriptor_, &status) != 0) {
    die("no memory for a device: " + std::string(std::strerror(errno)));
  }
  inode_ = status.st_ino;
  void* const at = mmap(nullptr, space_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (at == MAP_FAILED) die("no address space for a device: " + std::string(std::strerror(errno)));
  base_ = static_cast<std::byte*>(at);
  gaps_[0] = space_;
}

std::byte* Arena::allocate(std::size_t size) {
  require(size <= capacity_ && used_ + in_pages(size) <= capacity_, cudaErrorMemoryAllocation);
  std::size_t const taken = in_pages(size) + page;  // one page that nobody may touch
  auto const gap = std::find_if(gaps_.begin(), gaps_.end(),
                                [&](auto const& one) { return one.second >= taken; });
  require(gap != gaps_.end(), cudaErrorMemoryAllocation);
  auto const [offset, length] = *gap;
  std::byte* const at = base_ + offset;
  require(mprotect(at, in_pages(size), PROT_READ | PROT_WRITE) == 0, cudaErrorMemoryAllocation);
  gaps_.erase(gap);
  if (length > taken) gaps_[offset + taken] = length - taken;
  used_ += in_pages(size);
  std::fill(at + size, at + in_pages(size), guard_byte);
  return at;
}

void Arena::release(std::byte* at, std::size_t size) {
  bool const intact =
      std::all_of(at + size, at + in_pages(size), [](std::byte one) { return one == guard_byte; });
  if (!intact) {
    die("somebody wrote behind the " + std::to_string(size) + " bytes of a device allocation");
  }
  std::size_t offset = offset_of(at);
  std::size_t length = in_pages(size) + page;
  fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(in_pages(size)));
  mprotect(at, in_pages(size), PROT_NONE);
  used_ -= in_pages(size);
  auto const next = gaps_.find(offset + length);
  if (next != gaps_.end()) {
    length += next->second;
    gaps_.erase(next);
  }
  auto const behind = gaps_.lower_bound(offset);
  if (behind != gaps_.begin()) {
    auto const before = std::prev(behind);
    if (before->first + before->second == offset) {
      offset = before->first;
      length += before->second;
    }
  }
  gaps_[offset] = length;
}

std::size_t Arena::mapped_bytes(std::size_t size) {
  return in_pages(size);
}

}  // namespace berth::standin

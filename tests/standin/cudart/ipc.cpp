// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/stat.h>

#include "arena.hpp"
#include "call.hpp"
#include "devices.hpp"
#include "event.hpp"
#include "graph.hpp"
#include "memory.hpp"

// Memory and events for another process of the machine. A handle says where the memory lies in a
// memfd of the process that made it, which is opened through /proc.
namespace berth::standin {
namespace {

constexpr std::uint64_t magic = 0x7472644e49646e53ULL;

struct Ticket {
  std::uint64_t mark = magic;
  std::int32_t pid = 0;
  std::int32_t descriptor = -1;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  bool operator<(Ticket const& other) const { return std::memcmp(this, &other, sizeof *this) < 0; }
};
static_assert(sizeof(Ticket) == 40 && sizeof(Ticket) <= CUDA_IPC_HANDLE_SIZE);

struct Opened {
  std::mutex mutex;
  std::map<Ticket, std::byte*> memory;
  std::map<SharedEvent const*, Ticket> events;  // of those that this process made
};
Opened& opened() {
  static auto* const all = new Opened;
  return *all;
}

template <typename Handle>
Ticket ticket_in(Handle const& handle) {
  Ticket ticket;
  std::memcpy(static_cast<void*>(&ticket), &handle, sizeof ticket);
  require(ticket.mark == magic, cudaErrorInvalidValue);
  return ticket;
}

template <typename Handle>
void put_ticket(Handle& handle, Ticket const& ticket) {
  handle = {};
  std::memcpy(&handle, &ticket, sizeof ticket);
}

// Maps what the ticket means; fails if the process that made it is gone. Freed memory reads as
// zeros: CUDA leaves it undefined.
std::byte* map(Ticket const& ticket) {
  std::string const path =
      "/proc/" + std::to_string(ticket.pid) + "/fd/" + std::to_string(ticket.descriptor);
  struct stat status {};
  bool const there = stat(path.c_str(), &status) == 0 && status.st_ino == ticket.inode;
  require(there, cudaErrorMapBufferObjectFailed);
  int const descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  require(descriptor >= 0, cudaErrorMapBufferObjectFailed);
  void* const at = mmap(nullptr, Arena::mapped_bytes(ticket.bytes), PROT_READ | PROT_WRITE,
                        MAP_SHARED, descriptor, static_cast<off_t>(ticket.offset));
  close(descriptor);
  require(at != MAP_FAILED, cudaErrorMapBufferObjectFailed);
  return static_cast<std::byte*>(at);
}

}  // namespace

std::shared_ptr<SharedEvent> make_shared_event() {
  int const descriptor = memfd_create("standin-event", MFD_CLOEXEC);
  struct stat status {};
  bool const made = descriptor >= 0 && ftruncate(descriptor, sizeof(SharedEvent)) == 0 &&
                    fstat(descriptor, &status) == 0;
  require(made, cudaErrorOperatingSystem);
  Ticket ticket;
  ticket.pid = getpid();
  ticket.descriptor = descriptor;
  ticket.inode = status.st_ino;
  ticket.bytes = sizeof(SharedEvent);
  auto* const shared = new (map(ticket)) SharedEvent;
  std::lock_guard const lock(opened().mutex);
  opened().events[shared] = ticket;
  return {shared, [](SharedEvent* gone) {
            std::lock_guard const again(opened().mutex);
            close(opened().events[gone].descriptor);
            opened().events.erase(gone);
            munmap(gone, Arena::mapped_bytes(sizeof(SharedEvent)));
          }};
}

}  // namespace berth::standin

using namespace berth::standin;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* at) {
  return call([&] {
    require(handle != nullptr);
    require_safe_to_call();
    std::optional<Block> const block = find_block(at);
    bool const good = block && block->kind == Block::Kind::device && !block->stream_ordered;
    require(good);
    Exported const place = exported(*block);
    Ticket ticket;
    ticket.pid = getpid();
    ticket.descriptor = place.descriptor;
    ticket.inode = place.inode;
    ticket.offset = place.offset;
    ticket.bytes = place.bytes;
    put_ticket(*handle, ticket);
  });
}

cudaError_t cudaIpcOpenMemHandle(void** at, cudaIpcMemHandle_t handle, unsigned int flags) {
  return call([&] {
    require(at != nullptr && flags == cudaIpcMemLazyEnablePeerAccess);
    require_safe_to_call();
    Ticket const ticket = ticket_in(handle);
    require(ticket.pid != getpid(), cudaErrorDeviceUninitialized);  // as CUDA answers
    std::lock_guard const lock(opened().mutex);
    auto const known = opened().memory.find(ticket);
    if (known != opened().memory.end()) {
      change_block(known->second, [](Block& block) { ++block.opened; });
      *at = known->second;
      return;
    }
    Block block;
    block.base = map(ticket);
    block.size = ticket.bytes;
    block.kind = Block::Kind::imported;
    block.device = current_device();
    add_block(block);
    opened().memory[ticket] = block.base;
    *at = block.base;
  });
}

cudaError_t cudaIpcCloseMemHandle(void* at) {
  return call([&] {
    require_safe_to_call();
    std::optional<Block> const block = find_block(at);
    require(block && block->base == at && block->kind == Block::Kind::imported);
    wait_for_device(block->device);
    std::lock_guard const lock(opened().mutex);
    if (block->opened > 1) {
      change_block(at, [](Block& one) { --one.opened; });
      return;
    }
    std::erase_if(opened().memory, [&](auto const& entry) { return entry.second == at; });
    release(take_block(at, Block::Kind::imported, cudaErrorInvalidValue));
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return call([&] {
    require(handle != nullptr);
    std::shared_ptr<Event> const known = find_event(event);
    std::lock_guard const lock(opened().mutex);
    auto const found = opened().events.find(known->shared.get());
    require(found != opened().events.end(), cudaErrorInvalidResourceHandle);
    put_ticket(*handle, found->second);
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return call([&] {
    require(event != nullptr);
    Ticket const ticket = ticket_in(handle);
    auto* const shared = reinterpret_cast<SharedEvent*>(map(ticket));
    auto adopted = std::make_shared<Event>();
    adopted->flags = cudaEventDisableTiming | cudaEventInterprocess;
    adopted->device = current_device();
    adopted->shared = std::shared_ptr<SharedEvent>(
        shared, [](SharedEvent* gone) { munmap(gone, Arena::mapped_bytes(sizeof(SharedEvent))); });
    *event = adopt_event(std::move(adopted));
  });
}

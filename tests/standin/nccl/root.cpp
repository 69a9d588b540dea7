// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "root.hpp"

#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/random.h>

#include "log.hpp"
#include "settings.hpp"

namespace standin {
namespace {

/// NCCL's own magic for NCCL_COMM_ID.
constexpr std::uint64_t named_magic = 0x6e63636c6e63636cULL;

/// One id's root. Its thread lives until all have checked in, or it is ended.
struct Root {
  std::uint64_t magic = 0;
  Descriptor listener;
  Signal stop;
  std::thread thread;
};

std::mutex roots_mutex;

std::map<std::uint64_t, std::unique_ptr<Root>>& roots() {
  static auto* const the = new std::map<std::uint64_t, std::unique_ptr<Root>>;
  return *the;
}

/// Ranks that have checked in at one root.
class Roll {
 public:
  /// False: the message contradicts the ones before it, and the root gives up.
  bool enter(CheckIn const& message, Descriptor connection) {
    if (expected_.ranks == 0) expected_ = message;
    if (message.ranks != expected_.ranks || message.roots != expected_.roots ||
        message.root != expected_.root) {
      warn(
          text("Bootstrap Root : mismatch in info from procs, nranks %d vs %d, nroots %d vs %d, "
               "iroot %d vs %d",
               expected_.ranks, message.ranks, expected_.roots, message.roots, expected_.root,
               message.root));
      return false;
    }
    if (!entries_.emplace(message.rank, Entry{message.listener, std::move(connection)}).second) {
      warn(text("Bootstrap Root : rank %d of %d ranks has already checked in", message.rank,
                message.ranks));
      return false;
    }
    return true;
  }

  /// The block of this root, and with several roots the first rank of the next block.
  bool complete() const {
    if (expected_.ranks == 0) return false;
    Block const block = block_of(expected_.root, expected_.roots, expected_.ranks);
    return static_cast<int>(entries_.size()) == block.count + (expected_.roots > 1 ? 1 : 0);
  }

  /// Sends each rank of the block the address of the next one in the ring.
  void answer(Signal const& stop) const {
    Block const block = block_of(expected_.root, expected_.roots, expected_.ranks);
    for (int rank = block.first; rank < block.first + block.count; ++rank) {
      auto const mine = entries_.find(rank);
      auto const next = entries_.find((rank + 1) % expected_.ranks);
      if (mine == entries_.end() || next == entries_.end()) continue;
      try {
        send_all(mine->second.connection, &next->second.listener, sizeof(Address), stop);
      } catch (Failure const&) {
        info("Bootstrap Root : a rank left before its answer");
      }
    }
  }

 private:
  struct Entry {
    Address listener;
    Descriptor connection;
  };

  CheckIn expected_{};
  std::map<int, Entry> entries_;
};

void serve(Root const& root) {
  Roll roll;
  while (!roll.complete()) {
    Descriptor connection = accept_one(root.listener, root.stop);
    CheckIn message{};
    try {
      receive_all(connection, &message, sizeof message, root.stop);
    } catch (Failure const&) {
      continue;  // whoever that was is gone
    }
    if (message.magic != root.magic) continue;
    if (!roll.enter(message, std::move(connection))) return;
  }
  roll.answer(root.stop);
}

/// Body of the thread: removes the root when it is done, unless end_root() does.
void run_root(Root* root) {
  try {
    serve(*root);
  } catch (Stopped const&) {
    return;
  } catch (Failure const& failure) {
    warn(text("Bootstrap Root : ended with %d", failure.result));
  }
  std::lock_guard const lock(roots_mutex);
  auto const found = roots().find(root->magic);
  if (found == roots().end()) return;  // being ended, who joins
  found->second->thread.detach();
  roots().erase(found);
}

void start(std::uint64_t magic, Address& address) {
  auto root = std::make_unique<Root>();
  root->magic = magic;
  root->listener = listen_on(address);
  std::lock_guard const lock(roots_mutex);
  Root* const plain = root.get();
  roots()[magic] = std::move(root);
  plain->thread = std::thread(run_root, plain);
}

/// Writes the address that STANDIN_NCCL_ADDRESS wants into the id; its port only when it names one.
void disguise(Address& address) {
  char const* const name = "STANDIN_NCCL_ADDRESS";
  std::string const wanted = setting(name);
  if (wanted.empty()) return;
  in_port_t const port =
      address.plain.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port;
  if (!parse_address(wanted, address)) bad_setting(name, wanted, "not an IP address");
  in_port_t& written =
      address.plain.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port;
  if (written == 0) written = port;
}

bool named_address(Address& address) {
  std::string const name = setting("NCCL_COMM_ID");
  if (name.empty()) return false;
  if (!parse_address(name, address)) {
    fail(ncclInvalidArgument,
         "Invalid NCCL_COMM_ID, please use format: <ipv4>:<port> or "
         "[<ipv6>]:<port>");
  }
  return true;
}

}  // namespace

Block block_of(int root, int roots, int ranks) {
  int const share = ranks / roots;
  int const more = ranks % roots;  // so many roots have one rank more
  return {root * share + (root < more ? root : more), share + (root < more ? 1 : 0)};
}

int root_of(int rank, int roots, int ranks) {
  int root = 0;
  while (root + 1 < roots && block_of(root + 1, roots, ranks).first <= rank) ++root;
  return root;
}

Id read_id(ncclUniqueId const& bytes) {
  Id id;
  std::memcpy(static_cast<void*>(&id), bytes.internal, sizeof id);
  return id;
}

ncclUniqueId make_id() {
  Id id;
  if (named_address(id.root)) {
    id.magic = named_magic;
  } else {
    if (getrandom(&id.magic, sizeof id.magic, 0) != sizeof id.magic) {
      fail(ncclSystemError, "getrandom failed");
    }
    id.root = interface_address();
    info("Bootstrap: Using " + interface_name() + ":" + id.root.text());
    start(id.magic, id.root);
    disguise(id.root);
  }
  ncclUniqueId bytes{};
  std::memcpy(bytes.internal, &id, sizeof id);
  return bytes;
}

void start_named_root() {
  Address address;
  if (named_address(address)) start(named_magic, address);
}

void end_root(std::uint64_t magic) {
  std::unique_ptr<Root> root;
  {
    std::lock_guard const lock(roots_mutex);
    auto const found = roots().find(magic);
    if (found == roots().end()) return;
    root = std::move(found->second);
    roots().erase(found);
  }
  root->stop.raise();
  root->thread.join();
}

}  // namespace standin

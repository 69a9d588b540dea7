// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "links.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

#include <sys/uio.h>

#include "log.hpp"

namespace standin {
namespace traffic {  // not unnamed: a class below has members of these types

constexpr std::uint64_t data_tag = 2;

/// Before the bytes of each transfer.
struct Header {
  std::uint64_t label;
  std::uint64_t bytes;
};

/// A transfer on its way.
struct Moving {
  Transfer transfer;
  Header header;
  std::size_t moved = 0;  ///< header included

  std::size_t total() const { return sizeof header + transfer.bytes; }
};

/// All transfers of one direction with one peer, in order.
struct Lane {
  std::vector<Moving> queue;
  std::size_t front = 0;

  bool busy() const { return front < queue.size(); }
};

/// What is left of a message, as sendmsg and recvmsg want it.
ssize_t move_some(int socket, Moving& moving, bool sends) {
  iovec parts[2];
  std::size_t count = 0;
  std::size_t at = moving.moved;
  if (at < sizeof moving.header) {
    parts[count++] = {reinterpret_cast<char*>(&moving.header) + at, sizeof moving.header - at};
    at = sizeof moving.header;
  }
  // The data of a message goes nowhere before its header is known to be right.
  bool const with_data = sends || count == 0;
  std::size_t const offset = at - sizeof moving.header;
  if (with_data && offset < moving.transfer.bytes) {
    parts[count++] = {moving.transfer.data + offset, moving.transfer.bytes - offset};
  }
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  return sends ? sendmsg(socket, &message, MSG_NOSIGNAL) : recvmsg(socket, &message, 0);
}

}  // namespace traffic

using namespace traffic;

/// One exchange.
class Links::Traffic {
 public:
  Traffic(Links& links, std::vector<Transfer> const& transfers, Signal const& stop)
      : links_(links), stop_(stop), sending_(links.links_.size()), receiving_(links.links_.size()) {
    for (Transfer const& each : transfers) {
      auto const peer = static_cast<std::size_t>(each.peer);
      Lane& lane = each.sends ? sending_[peer] : receiving_[peer];
      Header const header = {each.label, each.bytes};
      lane.queue.push_back({each, each.sends ? header : Header{}, 0});
      if (std::find(busy_.begin(), busy_.end(), peer) == busy_.end()) busy_.push_back(peer);
    }
  }

  void run() {
    for (std::size_t const peer : busy_) notice_end(peer);
    while (true) {
      bool progress = false;
      bool left = false;
      for (std::size_t const peer : busy_) {
        progress = advance(peer, sending_[peer], true) || progress;
        progress = advance(peer, receiving_[peer], false) || progress;
        left = left || sending_[peer].busy() || receiving_[peer].busy();
      }
      if (!left) return;
      if (stop_.raised()) throw Stopped{};
      if (!progress) wait();
    }
  }

 private:
  /// A peer that ended before this exchange is noticed even when nothing is to come from it.
  void notice_end(std::size_t peer) {
    char byte = 0;
    ssize_t const got = recv(links_.links_[peer].socket.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got == 0) lose(peer);
  }

  void lose(std::size_t peer) {
    Link& link = links_.links_[peer];
    if (link.over_sockets) {
      Peer const& who = links_.peers_[peer];
      fail(ncclRemoteError, "socketProgress: Connection closed by remote peer " +
                                std::string(who.host_name) + "<" + who.listener.text() + ">");
    }
    link.lost = true;
  }

  bool advance(std::size_t peer, Lane& lane, bool sends) {
    bool progress = false;
    Link const& link = links_.links_[peer];
    while (lane.busy() && !link.lost) {
      Moving& moving = lane.queue[lane.front];
      ssize_t const moved = move_some(link.socket.get(), moving, sends);
      if (moved < 0 && errno == EINTR) continue;
      if (moved < 0 && errno == EAGAIN) break;
      if (moved <= 0) {
        lose(peer);
        break;
      }
      progress = true;
      moving.moved += static_cast<std::size_t>(moved);
      if (!sends && moving.moved == sizeof(Header)) check(moving);
      if (moving.moved == moving.total()) ++lane.front;
    }
    return progress;
  }

  void check(Moving const& moving) const {
    if (moving.header.label == moving.transfer.label &&
        moving.header.bytes == moving.transfer.bytes) {
      return;
    }
    info(text("mismatch: rank %d sends %llu bytes of %llx, wanted are %zu bytes of %llx",
              moving.transfer.peer, static_cast<unsigned long long>(moving.header.bytes),
              static_cast<unsigned long long>(moving.header.label), moving.transfer.bytes,
              static_cast<unsigned long long>(moving.transfer.label)));
    stop_.park();
  }

  void wait() const {
    std::vector<pollfd> waits = {{stop_.descriptor(), POLLIN, 0}};
    for (std::size_t const peer : busy_) {
      if (links_.links_[peer].lost) continue;
      int const out = sending_[peer].busy() ? POLLOUT : 0;
      int const in = receiving_[peer].busy() ? POLLIN : 0;
      if ((in | out) == 0) continue;
      waits.push_back({links_.links_[peer].socket.get(), static_cast<short>(in | out), 0});
    }
    poll(waits.data(), waits.size(), 1000);
  }

  Links& links_;
  Signal const& stop_;
  std::vector<Lane> sending_;
  std::vector<Lane> receiving_;
  std::vector<std::size_t> busy_;
};

void Links::open(int rank, std::uint64_t magic, std::vector<Peer> const& peers) {
  rank_ = rank;
  magic_ = magic;
  peers_ = peers;
  links_ = std::vector<Link>(peers.size());
  for (std::size_t peer = 0; peer < peers.size(); ++peer) {
    links_[peer].over_sockets = peers[peer].host != peers[static_cast<std::size_t>(rank)].host;
  }
}

void Links::close() {
  links_.clear();
}

bool Links::connected(std::vector<int> const& peers) const {
  return std::all_of(peers.begin(), peers.end(), [&](int peer) {
    return links_[static_cast<std::size_t>(peer)].socket.valid();
  });
}

void Links::connect(std::vector<int> const& peers, Door& door, Signal const& stop) {
  // The lower rank calls. Everybody calls before anybody waits, so nobody waits in a circle.
  std::vector<std::pair<int, Descriptor>> called;
  std::vector<int> expected;
  for (int const peer : peers) {
    auto const at = static_cast<std::size_t>(peer);
    if (links_[at].socket.valid()) continue;
    if (rank_ < peer) {
      called.emplace_back(peer, call(peers_[at].listener, {magic_, data_tag, rank_}, stop));
    } else {
      expected.push_back(peer);
    }
  }
  char byte = 1;
  for (int const peer : expected) {
    Descriptor socket = door.expect({magic_, data_tag, peer}, stop);
    send_all(socket, &byte, 1, stop);
    links_[static_cast<std::size_t>(peer)].socket = std::move(socket);
  }
  for (auto& [peer, socket] : called) {
    receive_all(socket, &byte, 1, stop);
    links_[static_cast<std::size_t>(peer)].socket = std::move(socket);
  }
  for (int const peer : peers) {
    bool const sockets = links_[static_cast<std::size_t>(peer)].over_sockets;
    info(text("Channel 00/0 : %d[%d] -> %d[%d] %s", rank_,
              peers_[static_cast<std::size_t>(rank_)].device, peer,
              peers_[static_cast<std::size_t>(peer)].device,
              sockets ? "[send] via NET/Socket/0" : "via SHM/direct/direct"));
  }
}

void Links::exchange(std::vector<Transfer> const& transfers, Signal const& stop) {
  Traffic(*this, transfers, stop).run();
}

}  // namespace standin

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// The algorithms between hosts. Operands are combined in host order or in the order of the ring,
// the same on every host, never in the order of arrival.
#include <algorithm>
#include <cstring>

#include <cpu/hosts.hpp>

namespace berth::cpu {
namespace {

constexpr int fold_back = 1 << 20;
constexpr int piece_step = 1 << 21;

}  // namespace

// Exchange: everybody sends its part to everybody and reduces all of them.

void Hosts::start_exchange(Set& set) {
  std::size_t const bytes = set.count * element();
  std::size_t next = 0;
  for (int host = 0; host < host_count_; ++host) {
    if (host == context_.host) continue;
    set.receives.push_back(mail_.receive(set.received[next++], counterpart(host)));
  }
  mail_.seal(set.work, set.chunk, 0);
  for (int host = 0; host < host_count_; ++host) {
    if (host == context_.host) continue;
    set.sends.push_back(mail_.send(set.work, bytes, counterpart(host)));
  }
}

void Hosts::finish_exchange(Set& set) {
  std::size_t next = 0;
  for (int host = 0; host < host_count_; ++host) {
    auto const index = static_cast<std::size_t>(host);
    if (host == context_.host) {
      sources_[index] = set.work.payload();
      continue;
    }
    mail_.complete(set.receives[next]);
    sources_[index] = mail_.open(set.received[next], counterpart(host), set.chunk, 0);
    ++next;
  }
  set.receives.clear();
  mail_.complete_all(set.sends);  // the result replaces what was sent
  arithmetic().combine(set.work.payload(), sources_.data(), host_count_, set.count);
}

// Recursive doubling, for any number of hosts: the first hosts of an excess over a power of two
// fold into their neighbours and get the result back.

std::byte const* Hosts::swap(Set& set, int host, int step, int answer) {
  Transfer in = mail_.receive(set.received[0], counterpart(host));
  mail_.seal(set.work, set.chunk, step);
  Transfer out = mail_.send(set.work, set.count * element(), counterpart(host));
  mail_.complete(in);
  // Looked at before the send is waited for: who does something else may never receive it.
  std::byte const* const theirs = mail_.open(set.received[0], counterpart(host), set.chunk, answer);
  mail_.complete(out);
  return theirs;
}

void Hosts::double_up(Set& set) {
  int power = 1;
  while (power * 2 <= host_count_) power *= 2;
  int const excess = host_count_ - power;
  int const self = context_.host;
  std::size_t const bytes = set.count * element();
  std::byte* const own = set.work.payload();
  bool const is_folded = self < 2 * excess;
  if (is_folded && self % 2 == 0) {
    std::byte const* const result = swap(set, self + 1, 0, fold_back);
    if (bytes > 0) std::memcpy(own, result, bytes);
    return;
  }
  if (is_folded) {
    Transfer in = mail_.receive(set.received[0], counterpart(self - 1));
    mail_.complete(in);
    reduce(own, mail_.open(set.received[0], counterpart(self - 1), set.chunk, 0), own, set.count);
  }
  int const index = is_folded ? self / 2 : self - excess;
  int step = 1;
  for (int mask = 1; mask < power; mask *= 2, ++step) {
    int const partner = index ^ mask;
    int const host = partner < excess ? 2 * partner + 1 : partner + excess;
    std::byte const* const theirs = swap(set, host, step, step);
    if (partner < index) {
      reduce(own, theirs, own, set.count);
    } else {
      reduce(own, own, theirs, set.count);
    }
  }
  if (is_folded) {
    mail_.seal(set.work, set.chunk, fold_back);
    Transfer out = mail_.send(set.work, bytes, counterpart(self - 1));
    mail_.complete(out);
  }
}

// Ring: reduce-scatter, then all-gather, over host_count_ parts.

std::size_t Hosts::part_begin(Set const& set, int part) const {
  auto const parts = static_cast<std::size_t>(host_count_);
  auto const index = static_cast<std::size_t>(part);
  return set.count / parts * index + std::min(index, set.count % parts);
}

void Hosts::start_step(Set& set, int step) {
  int const last = host_count_ - 1;
  bool const is_gathering = step >= last;
  int const part = is_gathering ? (context_.host + 1 - (step - last) + host_count_) % host_count_
                                : (context_.host - step + host_count_) % host_count_;
  std::size_t const begin = part_begin(set, part) * element();
  std::size_t const bytes = part_begin(set, part + 1) * element() - begin;
  set.receives.push_back(
      mail_.receive(set.received[0], counterpart((context_.host + last) % host_count_)));
  std::memcpy(set.send.payload(), set.work.payload() + begin, bytes);
  mail_.seal(set.send, set.chunk, step);
  set.sends.push_back(mail_.send(set.send, bytes, counterpart((context_.host + 1) % host_count_)));
}

void Hosts::finish_step(Set& set, int step) {
  int const last = host_count_ - 1;
  bool const is_gathering = step >= last;
  int const part = is_gathering ? (context_.host - (step - last) + host_count_) % host_count_
                                : (context_.host - step - 1 + host_count_) % host_count_;
  std::size_t const begin = part_begin(set, part);
  std::size_t const count = part_begin(set, part + 1) - begin;
  std::byte* const own = set.work.payload() + begin * element();
  mail_.complete_all(set.receives);
  std::byte const* const theirs = mail_.open(
      set.received[0], counterpart((context_.host + last) % host_count_), set.chunk, step);
  if (is_gathering) {
    std::memcpy(own, theirs, count * element());
  } else {
    reduce(own, theirs, own, count);
  }
  mail_.complete_all(set.sends);
}

// Broadcast.

int Hosts::representative(int root) const {
  Place const& place = context_.topology.place(root);
  return place.host == context_.host ? place.local : 0;
}

void Hosts::agree() {
  start(0, 0, 0);
  finish(0);
}

void Hosts::begin_broadcast(int root, bool is_chain) {
  int const root_host = context_.topology.place(root).host;
  int const index = (context_.host - root_host + host_count_) % host_count_;
  auto const rank_at = [&](int other) {
    return other == 0 ? root : context_.topology.rank((other + root_host) % host_count_, 0);
  };
  parent_ = -1;
  children_.clear();
  if (is_chain) {
    if (index > 0) parent_ = rank_at(index - 1);
    if (index + 1 < host_count_) children_.push_back(rank_at(index + 1));
  } else {
    int mask = 1;
    while (mask < host_count_ && (index & mask) == 0) mask *= 2;
    if (index > 0) parent_ = rank_at(index - mask);
    // The children with the largest subtrees come first.
    for (mask /= 2; mask > 0; mask /= 2) {
      if (index + mask < host_count_) children_.push_back(rank_at(index + mask));
    }
  }
}

std::byte* Hosts::fill(std::uint32_t chunk) {
  Set& set = sets_[chunk % 2];
  mail_.complete_all(set.sends);
  return set.work.payload();
}

void Hosts::forward(std::uint32_t chunk, std::size_t bytes) {
  Set& set = sets_[chunk % 2];
  Buffer& message = parent_ < 0 ? set.work : set.received[0];
  mail_.seal(message, chunk, piece_step);
  for (int child : children_) set.sends.push_back(mail_.send(message, bytes, child));
}

void Hosts::expect(std::uint32_t chunk) {
  Set& set = sets_[chunk % 2];
  mail_.complete_all(set.sends);
  set.receives.push_back(mail_.receive(set.received[0], parent_));
}

std::byte const* Hosts::arrived(std::uint32_t chunk) {
  Set& set = sets_[chunk % 2];
  mail_.complete_all(set.receives);
  return mail_.open(set.received[0], parent_, chunk, piece_step);
}

void Hosts::end_broadcast() {
  for (Set& set : sets_) mail_.complete_all(set.sends);
}

}  // namespace berth::cpu

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <cpu/rounds.hpp>

namespace berth::cpu {
namespace {

constexpr std::size_t line_bytes = 64;
/// Bytes of all hosts' partial results of one piece.
constexpr std::size_t partials_bytes_max = std::size_t{8} << 20;

constexpr int gather_step = 1 << 22;
constexpr int scatter_step = gather_step + 1;
constexpr int exchange_step = gather_step + 2;

std::byte const* bytes_of(void const* data) {
  return static_cast<std::byte const*>(data);
}
std::byte* bytes_of(void* data) {
  return static_cast<std::byte*>(data);
}

void copy(std::byte* to, std::byte const* from, std::size_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, bytes);
}

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

Rounds::Rounds(Context const& context, Arrivals& arrivals, Hosts& hosts, Mail const& mail,
               Slots& slots)
    : context_(context),
      arrivals_(arrivals),
      hosts_(hosts),
      mail_(mail),
      slots_(slots),
      outbox_(mail, context),
      inbox_(mail),
      ahead_(hosts.is_needed() ? 0 : context.segment.slots() - 2),
      fullest_(context.topology.fullest()),
      own_group_{{context.host, 0}},
      groups_from_(own_group_),
      sources_(static_cast<std::size_t>(std::max(context.local_size, context.topology.hosts()))) {
  Topology const& topology = context.topology;
  int const hosts_all = topology.hosts();
  for (int distance = 1; distance < hosts_all; ++distance) {
    int const from = (context.host - distance + hosts_all) % hosts_all;
    int const to = (context.host + distance) % hosts_all;
    for (int first = 0; first < topology.local_size(from); first += context.local_size) {
      groups_from_.push_back({from, first});
      int const sender = rank_of(groups_from_.back(), context.local);
      if (sender >= 0) gather_senders_.push_back(sender);
    }
    for (int first = 0; first < topology.local_size(to); first += context.local_size) {
      groups_to_.push_back({to, first});
    }
    gather_readers_.push_back(proxy_on(to));
    partial_senders_.push_back(proxy_on(from));
  }
  groups_to_.push_back(own_group_.front());
  // In meeting m rank r is paired with m - r, which is paired with r.
  for (int meeting = 0; meeting < topology.size(); ++meeting) {
    int const partner = (meeting - context.rank + topology.size()) % topology.size();
    if (topology.place(partner).host != context.host) partners_.push_back(partner);
  }
}

int Rounds::rank_of(Group const& group, int local) const {
  int const there = group.first + local;
  return there < context_.topology.local_size(group.host)
             ? context_.topology.rank(group.host, there)
             : -1;
}

int Rounds::proxy_on(int host) const {
  return context_.topology.rank(host, context_.local % context_.topology.local_size(host));
}

std::size_t Rounds::Cut::end_group(std::uint64_t round) const {
  return std::min(first_group(round) + groups_a_round, groups);
}

Rounds::Range Rounds::Cut::range(std::uint64_t piece_number) const {
  std::size_t const begin = std::min(static_cast<std::size_t>(piece_number) * piece, part);
  return {begin, std::min(piece, part - begin)};
}

Rounds::Cut Rounds::cut(std::size_t room, std::size_t room_a_group, std::size_t groups) const {
  model::Descriptor const& operation = arrivals_.operation();
  Cut made;
  made.element = size_of(operation.type);
  made.part = operation.count;
  made.groups = groups;
  std::size_t const most = std::max(room / line_bytes, std::size_t{1}) * line_bytes / made.element;
  made.piece = std::max(std::min(most, made.part), std::size_t{1});
  made.stride = whole_lines(made.piece * made.element);
  made.pieces = std::max((made.part + made.piece - 1) / made.piece, std::size_t{1});
  made.groups_a_round = std::clamp(context_.segment.slot_bytes() / (made.stride * room_a_group),
                                   std::size_t{1}, groups);
  made.rounds_a_piece = (groups + made.groups_a_round - 1) / made.groups_a_round;
  return made;
}

void Rounds::arrive() {
  arrivals_.post();
  slots_.free_own();
}

void Rounds::meet() {
  arrivals_.await_all();
  // Messages that wait for each other could otherwise hide that two hosts do different things.
  if (hosts_.is_needed() && context_.local == 0) hosts_.agree();
}

template <class Ready>
void Rounds::await(Ready&& ready, int peer) {
  for (bool is_ready = false;;) {
    // The work is done outside of the wait, where it may throw a mismatch.
    context_.wait(
        [&] {
          is_ready = ready();
          return is_ready || can_move();
        },
        peer);
    if (is_ready) return;
    move();
  }
}

bool Rounds::can_move() {
  switch (arrivals_.operation().collective) {
    case model::Collective::all_gather:
      return !gather_readers_.empty() && pieces_sent_ < cut_->pieces && outbox_.has_room();
    case model::Collective::reduce_scatter:
      return inbox_.position() < partial_limit_ && inbox_.has_mail();
    default:
      return false;
  }
}

void Rounds::move() {
  if (arrivals_.operation().collective == model::Collective::all_gather) {
    send_own_piece();
  } else {
    keep_partial();
  }
}

void Rounds::await_room(std::uint64_t round) {
  if (round < context_.segment.slots()) return;
  std::uint64_t const needed = slots_.next() + round + 1 - context_.segment.slots();
  for (int turn = 1; turn < context_.local_size; ++turn) {
    int const local = (context_.local + turn) % context_.local_size;
    std::atomic<std::uint64_t> const& mark = context_.segment.mark(local, Mark::taken);
    await([&] { return mark.load(std::memory_order_acquire) >= needed; }, context_.rank_of(local));
  }
}

void Rounds::await_copied(int local, std::uint64_t round) {
  std::atomic<std::uint64_t> const& mark = context_.segment.mark(local, Mark::copied);
  std::uint64_t const needed = slots_.next() + round + 1;
  await([&] { return mark.load(std::memory_order_acquire) >= needed; }, context_.rank_of(local));
}

// All-gather. The groups of a piece: the own host's ranks, then those of the others, nearest first.

void Rounds::all_gather(void const* in, void* out) {
  std::size_t const room = std::min(context_.tuning.slice_bytes, context_.segment.slot_bytes());
  Cut const made = cut(std::min(room, mail_.capacity()), 1, groups_from_.size());
  cut_ = &made;
  own_part_ = in;
  pieces_sent_ = 0;
  arrive();
  for (std::uint64_t round = 0; round < std::min(ahead_, made.rounds()); ++round) {
    publish_gathered(made, round, in, out);
  }
  meet();
  inbox_.begin(gather_senders_, made.pieces, gather_step);
  for (std::uint64_t round = 0; round < made.rounds(); ++round) {
    if (can_move()) move();
    if (round + ahead_ < made.rounds()) publish_gathered(made, round + ahead_, in, out);
    take_gathered(made, round, out);
    mark_taken(round);
    context_.step();
  }
  await([&] { return gather_readers_.empty() || pieces_sent_ == made.pieces; }, -1);
  outbox_.flush();
  slots_.pass_unread(made.rounds());
}

void Rounds::publish_gathered(Cut const& cut, std::uint64_t round, void const* in, void* out) {
  await_room(round);
  Range const range = cut.range(cut.piece_of(round));
  std::size_t const bytes = range.count * cut.element;
  std::byte* to = slot(context_.local, round);
  for (std::size_t group = cut.first_group(round); group < cut.end_group(round); ++group) {
    int const rank = rank_of(groups_from_[group], context_.local);
    if (rank >= 0) {
      bool const is_own = rank == context_.rank;
      if (!is_own) await([&] { return inbox_.has_mail(); }, rank);
      std::byte const* const from =
          is_own ? bytes_of(in) + range.begin * cut.element : inbox_.front();
      if (context_.local_size > 1) copy(to, from, bytes);
      if (bytes > 0) copy(bytes_of(out) + cut.offset(rank, range), from, bytes);
      if (!is_own) inbox_.pop();
    }
    to += cut.stride;
  }
  mark_copied(round);
}

void Rounds::take_gathered(Cut const& cut, std::uint64_t round, void* out) {
  Range const range = cut.range(cut.piece_of(round));
  for (int turn = 1; turn < context_.local_size; ++turn) {
    int const local = (context_.local + turn) % context_.local_size;
    await_copied(local, round);
    if (range.count == 0) continue;
    std::byte const* from = slot(local, round);
    for (std::size_t group = cut.first_group(round); group < cut.end_group(round); ++group) {
      int const rank = rank_of(groups_from_[group], local);
      if (rank >= 0) copy(bytes_of(out) + cut.offset(rank, range), from, range.count * cut.element);
      from += cut.stride;
    }
  }
}

void Rounds::send_own_piece() {
  Range const range = cut_->range(pieces_sent_);
  std::size_t const bytes = range.count * cut_->element;
  if (bytes > 0) copy(outbox_.room(), bytes_of(own_part_) + range.begin * cut_->element, bytes);
  outbox_.room();
  outbox_.send(bytes, gather_readers_, static_cast<std::uint32_t>(pieces_sent_), gather_step);
  ++pieces_sent_;
}

// Parts for every rank, published for its proxies: slots hold [group][local rank].

void Rounds::publish_parts(Cut const& cut, std::vector<Group> const& groups, std::uint64_t round,
                           void const* in) {
  await_room(round);
  Range const range = cut.range(cut.piece_of(round));
  std::byte* to = slot(context_.local, round);
  for (std::size_t group = cut.first_group(round); group < cut.end_group(round); ++group) {
    for (int local = 0; local < context_.local_size; ++local, to += cut.stride) {
      int const rank = rank_of(groups[group], local);
      if (local == context_.local || rank < 0 || range.count == 0) continue;
      copy(to, bytes_of(in) + cut.offset(rank, range), range.count * cut.element);
    }
  }
  mark_copied(round);
}

void Rounds::reduce_scatter(void const* in, void* out) {
  auto const fullest = static_cast<std::size_t>(fullest_);
  auto const hosts_all = static_cast<std::size_t>(context_.topology.hosts());
  std::size_t const narrow = size_of(arrivals_.operation().type);
  std::size_t const wide = arithmetic().wide_bytes();
  std::size_t room = std::min(context_.tuning.slice_bytes, context_.segment.slot_bytes() / fullest);
  if (hosts_.is_needed()) {
    room = std::min(
        {room, mail_.capacity() / wide * narrow, partials_bytes_max / hosts_all / wide * narrow});
  }
  Cut const made = cut(room, static_cast<std::size_t>(context_.local_size), groups_to_.size());
  cut_ = &made;
  partial_limit_ = 0;
  partial_bytes_ = whole_lines(made.piece * wide);
  if (hosts_.is_needed() && partials_.size() < hosts_all * partial_bytes_) {
    partials_.resize(hosts_all * partial_bytes_);
  }
  arrive();
  for (std::uint64_t round = 0; round < std::min(ahead_, made.rounds()); ++round) {
    publish_parts(made, groups_to_, round, in);
  }
  meet();
  inbox_.begin(partial_senders_, made.pieces, scatter_step);
  for (std::uint64_t round = 0; round < made.rounds(); ++round) {
    partial_limit_ = (made.piece_of(round) + 1) * partial_senders_.size();
    if (round + ahead_ < made.rounds()) publish_parts(made, groups_to_, round + ahead_, in);
    reduce_parts(made, round, in, out);
    mark_taken(round);
    if ((round + 1) % made.rounds_a_piece == 0) finish_piece(made, made.piece_of(round), out);
    context_.step();
  }
  outbox_.flush();
  slots_.pass_unread(made.rounds());
}

void Rounds::reduce_parts(Cut const& cut, std::uint64_t round, void const* in, void* out) {
  Range const range = cut.range(cut.piece_of(round));
  for (int turn = 1; turn < context_.local_size; ++turn) {
    await_copied((context_.local + turn) % context_.local_size, round);
  }
  std::size_t place = static_cast<std::size_t>(context_.local) * cut.stride;
  for (std::size_t group = cut.first_group(round); group < cut.end_group(round);
       ++group, place += static_cast<std::size_t>(context_.local_size) * cut.stride) {
    int const rank = rank_of(groups_to_[group], context_.local);
    if (rank < 0) continue;
    if (rank != context_.rank) await([&] { return outbox_.has_room(); }, outbox_.slowest());
    if (range.count > 0) {
      for (int local = 0; local < context_.local_size; ++local) {
        sources_[static_cast<std::size_t>(local)] = local == context_.local
                                                        ? bytes_of(in) + cut.offset(rank, range)
                                                        : slot(local, round) + place;
      }
    }
    if (rank != context_.rank) {
      arithmetic().part(outbox_.room(), sources_.data(), context_.local_size, range.count);
      outbox_.send(range.count * arithmetic().wide_bytes(), rank,
                   static_cast<std::uint32_t>(cut.piece_of(round)), scatter_step);
    } else if (hosts_.is_needed()) {
      arithmetic().part(partials_.data() + static_cast<std::size_t>(context_.host) * partial_bytes_,
                        sources_.data(), context_.local_size, range.count);
    } else if (range.count > 0) {
      arithmetic().whole(bytes_of(out) + range.begin * cut.element, sources_.data(),
                         context_.local_size, range.count);
    }
  }
}

void Rounds::keep_partial() {
  auto const host = static_cast<std::size_t>(context_.topology.place(inbox_.sender()).host);
  Range const range = cut_->range(inbox_.position() / partial_senders_.size());
  copy(partials_.data() + host * partial_bytes_, inbox_.front(),
       range.count * arithmetic().wide_bytes());
  inbox_.pop();
}

void Rounds::finish_piece(Cut const& cut, std::uint64_t piece, void* out) {
  if (!hosts_.is_needed()) return;
  await([&] { return inbox_.position() == partial_limit_; }, inbox_.sender());
  Range const range = cut.range(piece);
  if (range.count == 0) return;
  int const hosts_all = context_.topology.hosts();
  for (int host = 0; host < hosts_all; ++host) {
    auto const index = static_cast<std::size_t>(host);
    sources_[index] = partials_.data() + index * partial_bytes_;
  }
  arithmetic().combine(partials_.data(), sources_.data(), hosts_all, range.count);
  arithmetic().finish(bytes_of(out) + range.begin * cut.element, partials_.data(), range.count);
}

// All-to-all: rounds among the ranks of the host, messages between those of different ones.

void Rounds::all_to_all(void const* in, void* out) {
  exchange_on_host(in, out);
  if (hosts_.is_needed()) exchange_between_hosts(in, out);
}

void Rounds::exchange_on_host(void const* in, void* out) {
  auto const ranks = static_cast<std::size_t>(context_.local_size);
  Cut const made = cut(std::min(context_.tuning.slice_bytes, context_.segment.slot_bytes() / ranks),
                       ranks, own_group_.size());
  std::uint64_t const ahead = context_.segment.slots() - 2;
  arrive();
  for (std::uint64_t round = 0; round < std::min(ahead, made.rounds()); ++round) {
    publish_parts(made, own_group_, round, in);
  }
  meet();
  for (std::uint64_t round = 0; round < made.rounds(); ++round) {
    if (round + ahead < made.rounds()) publish_parts(made, own_group_, round + ahead, in);
    Range const range = made.range(round);
    for (int turn = 1; turn <= context_.local_size; ++turn) {
      int const local = (context_.local + turn) % context_.local_size;
      if (local != context_.local) await_copied(local, round);
      if (range.count == 0) continue;
      std::size_t const offset = made.offset(context_.rank_of(local), range);
      std::byte const* const from =
          local == context_.local
              ? bytes_of(in) + offset
              : slot(local, round) + static_cast<std::size_t>(context_.local) * made.stride;
      copy(bytes_of(out) + offset, from, range.count * made.element);
    }
    mark_taken(round);
    context_.step();
  }
  slots_.pass_unread(made.rounds());
}

void Rounds::exchange_between_hosts(void const* in, void* out) {
  Cut const made = cut(std::min(context_.tuning.slice_bytes, mail_.capacity()), 1, 1);
  std::uint64_t const messages = made.pieces * partners_.size();
  inbox_.begin(partners_, made.pieces, exchange_step);
  for (std::uint64_t sent = 0; !inbox_.is_done();) {
    auto const can_send = [&] { return sent < messages && outbox_.has_room(); };
    // In place: what is received replaces what was sent to the same rank.
    auto const can_receive = [&] { return inbox_.position() < sent && inbox_.has_mail(); };
    context_.wait([&] { return can_send() || can_receive(); }, inbox_.sender());
    if (can_send()) {
      int const to = partners_[static_cast<std::size_t>(sent % partners_.size())];
      std::uint64_t const piece = sent / partners_.size();
      Range const range = made.range(piece);
      std::size_t const bytes = range.count * made.element;
      std::byte* const room = outbox_.room();
      if (bytes > 0) copy(room, bytes_of(in) + made.offset(to, range), bytes);
      outbox_.send(bytes, to, static_cast<std::uint32_t>(piece), exchange_step);
      ++sent;
    }
    if (can_receive()) {
      Range const range = made.range(inbox_.position() / partners_.size());
      std::byte const* const from = inbox_.front();
      if (range.count > 0) {
        copy(bytes_of(out) + made.offset(inbox_.sender(), range), from, range.count * made.element);
      }
      inbox_.pop();
      context_.step();
    }
  }
  outbox_.flush();
}

}  // namespace berth::cpu

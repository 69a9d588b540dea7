// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <comm/reference_backend.hpp>
#include <cpu/mismatch.hpp>
#include <mpi/parcel.hpp>
#include <mpi/value.hpp>

namespace berth::comm {

namespace {

constexpr int header_tag = 141;
constexpr int data_tag = 142;
constexpr std::size_t piece_bytes = std::size_t{1} << 30;

/// In front of every transfer between two ranks.
struct Header {
  std::uint64_t count = 0;
  std::uint64_t type = 0;
};

/// A send on its way: copies that MPI reads, because a wait that ends with an error leaves them to
/// MPI for good.
class Sending {
 public:
  Sending(mpi::Comm const& comm, coll::Message const& message) : peer_(message.peer) {
    Header const header{message.count, static_cast<std::uint64_t>(message.type)};
    add(comm, &header, sizeof header, header_tag);
    auto const* const from = static_cast<std::byte const*>(message.from);
    std::size_t const bytes = message.count * size_of(message.type);
    for (std::size_t done = 0; done < bytes; done += piece_bytes)
      add(comm, from + done, std::min(bytes - done, piece_bytes), data_tag);
  }
  void complete(base::Patience& patience) {
    for (auto& [parcel, request] : parts_) parcel->deliver(std::move(request), patience, peer_);
  }

 private:
  void add(mpi::Comm const& comm, void const* data, std::size_t bytes, int tag) {
    auto parcel = std::make_unique<mpi::Parcel>(bytes);
    std::memcpy(parcel->data(), data, bytes);
    mpi::Request request = comm.send(parcel->data(), bytes, peer_, tag);
    parts_.emplace_back(std::move(parcel), std::move(request));
  }

  int peer_;
  std::vector<std::pair<std::unique_ptr<mpi::Parcel>, mpi::Request>> parts_;
};

}  // namespace

ReferenceBackend::ReferenceBackend(mpi::Comm const& comm, ledger::Watch& watch)
    : comm_(comm),
      watch_(watch),
      blocking_(watch.on_lost() == OnLost::exit),
      reference_(comm, blocking_, watch),
      kernels_(kernel::best()) {}

void ReferenceBackend::compare(model::Descriptor const& op) {
  if (comm_.is_same(model::fingerprint(op), watch_)) return;
  std::vector<model::Descriptor> all(static_cast<std::size_t>(comm_.size()));
  comm_.all_gather(&op, sizeof op, all.data(), watch_);
  auto const like = [&](std::size_t rank) {
    return std::count_if(all.begin(), all.end(), [&](model::Descriptor const& other) {
      return model::fingerprint(other) == model::fingerprint(all[rank]);
    });
  };
  // The smallest party strays; of equal ones that without rank 0.
  std::size_t stray = 0;
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    bool const differs = model::fingerprint(all[rank]) != model::fingerprint(all[stray]);
    if (differs && (like(rank) < like(stray) || (like(rank) == like(stray) && stray == 0))) {
      stray = rank;
    }
  }
  std::size_t other = 0;
  while (model::fingerprint(all[other]) == model::fingerprint(all[stray])) ++other;
  watch_.raise(cpu::mismatch(op.number, {static_cast<int>(stray), all[stray]},
                             {static_cast<int>(other), all[other]}));
}

template <class Call>
void ReferenceBackend::run(model::Descriptor const& op, int peer, Call&& call) {
  if (!blocking_) {
    compare(op);
    call();
    return;
  }
  ledger::Watch::Blocked const blocked(watch_, peer);
  call();
}

ReferenceBackend::Operand ReferenceBackend::operand(model::Descriptor const& op, void const* in,
                                                    std::size_t count) const {
  Operand made{in, kernel::wide_type(op.type), op.op == Op::avg ? Op::sum : op.op, {}};
  if (made.type == op.type) return made;
  made.wide.resize(count);
  auto const type = static_cast<std::size_t>(op.type);
  auto const sum = static_cast<std::size_t>(Op::sum);
  if (count > 0) kernels_.reduce_wide[type][sum](made.wide.data(), &in, 1, count);
  made.data = made.wide.data();
  return made;
}

void* ReferenceBackend::result(model::Descriptor const& op, void* out,
                               std::vector<float>& scratch) {
  if (kernel::wide_type(op.type) == op.type) return out;
  scratch.resize(op.count);
  return scratch.data();
}

void ReferenceBackend::finish(model::Descriptor const& op, void* out, void const* result) const {
  bool const is_average = op.op == Op::avg;
  if ((out == result && !is_average) || op.count == 0) return;
  kernels_.finish[static_cast<std::size_t>(op.type)](out, result, op.count,
                                                     is_average ? comm_.size() : 1);
}

void ReferenceBackend::all_reduce(model::Descriptor const& op, void const* in, void* out) {
  Operand const mine = operand(op, in, op.count);
  std::vector<float> scratch;
  void* const to = result(op, out, scratch);
  run(op, -1, [&] { reference_.all_reduce(mine.data, to, op.count, mine.type, mine.op); });
  finish(op, out, to);
}

void ReferenceBackend::reduce(model::Descriptor const& op, void const* in, void* out) {
  bool const is_root = comm_.rank() == op.root;
  Operand const mine = operand(op, in, op.count);
  std::vector<float> scratch;
  void* const to = is_root ? result(op, out, scratch) : nullptr;
  run(op, is_root ? -1 : op.root,
      [&] { reference_.reduce(mine.data, to, op.count, mine.type, mine.op, op.root); });
  if (is_root) finish(op, out, to);
}

void ReferenceBackend::broadcast(model::Descriptor const& op, void* buffer) {
  run(op, comm_.rank() == op.root ? -1 : op.root,
      [&] { reference_.broadcast(buffer, op.count * size_of(op.type), op.root); });
}

void ReferenceBackend::all_gather(model::Descriptor const& op, void const* in, void* out) {
  run(op, -1, [&] { reference_.all_gather(in, out, op.count * size_of(op.type)); });
}

void ReferenceBackend::reduce_scatter(model::Descriptor const& op, void const* in, void* out) {
  Operand const mine = operand(op, in, op.count * static_cast<std::size_t>(comm_.size()));
  std::vector<float> scratch;
  void* const to = result(op, out, scratch);
  run(op, -1, [&] { reference_.reduce_scatter(mine.data, to, op.count, mine.type, mine.op); });
  finish(op, out, to);
}

void ReferenceBackend::all_to_all(model::Descriptor const& op, void const* in, void* out) {
  run(op, -1, [&] { reference_.all_to_all(in, out, op.count * size_of(op.type)); });
}

void ReferenceBackend::exchange(std::vector<coll::Message> const& messages) {
  // All sends are under way before anything is waited for, so no set of matching messages can
  // deadlock, whatever their order.
  std::vector<std::unique_ptr<Sending>> sendings;
  for (coll::Message const& message : messages) {
    if (message.is_send) sendings.push_back(std::make_unique<Sending>(comm_, message));
  }
  for (coll::Message const& message : messages) {
    if (!message.is_send) receive(message);
  }
  for (auto const& sending : sendings) sending->complete(watch_);
}

void ReferenceBackend::receive(coll::Message const& message) {
  auto const sent = mpi::receive_value<Header>(comm_, message.peer, header_tag, watch_);
  if (sent.count != message.count || sent.type != static_cast<std::uint64_t>(message.type)) {
    model::Descriptor here;
    here.collective = model::Collective::send_recv;
    here.count = message.count;
    here.type = message.type;
    model::Descriptor there = here;
    there.count = sent.count;
    there.type = static_cast<Type>(sent.type);
    watch_.raise(cpu::mismatch(0, {message.peer, there}, {comm_.rank(), here}));
  }
  std::size_t const bytes = message.count * size_of(message.type);
  for (std::size_t done = 0; done < bytes;) {
    std::size_t const now = std::min(bytes - done, piece_bytes);
    mpi::Parcel parcel(now);
    parcel.deliver(comm_.receive(parcel.data(), now, message.peer, data_tag), watch_, message.peer);
    std::memcpy(static_cast<std::byte*>(message.to) + done, parcel.data(), now);
    done += now;
  }
}

void ReferenceBackend::barrier(model::Descriptor const& op) {
  run(op, -1, [&] { reference_.barrier(); });
}

}  // namespace berth::comm

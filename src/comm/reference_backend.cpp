// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <comm/reference_backend.hpp>
#include <cpu/mismatch.hpp>

namespace berth::comm {

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

void ReferenceBackend::barrier(model::Descriptor const& op) {
  run(op, -1, [&] { reference_.barrier(); });
}

}  // namespace berth::comm

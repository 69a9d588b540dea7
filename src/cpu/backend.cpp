// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <base/error.hpp>
#include <cpu/backend.hpp>

namespace berth::cpu {
namespace {

Context make_context(Setup const& setup) {
  if (setup.watch == nullptr || setup.segment == nullptr) {
    base::fail(Errc::internal, "cpu: a backend needs a watch and a segment");
  }
  if (setup.rank < 0 || setup.rank >= setup.topology.size()) {
    base::fail(Errc::internal, "cpu: the own rank is not in the topology");
  }
  Context context;
  Place const& place = setup.topology.place(setup.rank);
  context.rank = setup.rank;
  context.host = place.host;
  context.local = place.local;
  context.local_size = setup.topology.local_size(place.host);
  context.topology = setup.topology;
  context.tuning = setup.tuning;
  context.segment = Segment(setup.segment, setup.tuning);
  context.ledger = setup.ledger;
  context.watch = setup.watch;
  context.lane = setup.lane;
  context.kernels = setup.kernels != nullptr ? setup.kernels : &kernel::best();
  return context;
}

std::size_t flat_limit(coll::Tuning const& tuning, int ranks) {
  if (ranks <= 2) return tuning.flat_bytes_max_2;
  return ranks <= 4 ? tuning.flat_bytes_max_4 : tuning.flat_bytes_max_many;
}

}  // namespace

CpuBackend::CpuBackend(Setup const& setup)
    : context_(make_context(setup)),
      arrivals_(context_),
      mail_(context_, arrivals_),
      hosts_(context_, arrivals_, mail_),
      stores_(context_, !hosts_.is_needed()),
      slots_(context_),
      small_(context_, arrivals_, hosts_, stores_),
      ring_(context_, arrivals_, hosts_, stores_, slots_),
      rounds_(context_, arrivals_, hosts_, mail_, slots_),
      pairs_(context_, mail_),
      line_bytes_max_(std::min(Small::line_capacity, setup.tuning.line_bytes_max)),
      flat_bytes_max_(flat_limit(setup.tuning, setup.topology.fullest())) {}

coll::Design CpuBackend::design_for(model::Descriptor const& op) const {
  // In elements first: count * size may not fit.
  if (op.count > flat_bytes_max_ / size_of(op.type)) return coll::Design::ring;
  std::size_t const bytes = op.count * size_of(op.type);
  switch (context_.tuning.design) {
    case coll::Design::automatic:
      return bytes <= line_bytes_max_ ? coll::Design::line : coll::Design::flat;
    case coll::Design::line:
      return bytes <= Small::line_capacity ? coll::Design::line : coll::Design::flat;
    case coll::Design::flat:
    case coll::Design::ring:
      break;
  }
  return context_.tuning.design;
}

template <class Step>
void CpuBackend::guard(Step&& step) {
  try {
    step();
  } catch (Error const& error) {
    hosts_.tell_failure(error);
    throw;
  }
}

bool CpuBackend::fits_flat(model::Descriptor const& op, std::size_t parts) const {
  if (hosts_.is_needed() || context_.tuning.design == coll::Design::ring) return false;
  return op.count <= flat_bytes_max_ / size_of(op.type) / parts;
}

void CpuBackend::reduce_to(model::Descriptor const& op, void const* in, void* out) {
  arrivals_.enter(op);
  if (context_.topology.size() == 1) {
    if (out != nullptr && in != out && op.count > 0)
      std::memcpy(out, in, op.count * size_of(op.type));
    return;
  }
  switch (design_for(op)) {
    case coll::Design::line:
      small_.all_reduce_line(in, out);
      break;
    case coll::Design::flat:
      small_.all_reduce_flat(in, out);
      break;
    case coll::Design::automatic:
    case coll::Design::ring:
      ring_.all_reduce(in, out);
      break;
  }
}

void CpuBackend::all_reduce(model::Descriptor const& op, void const* in, void* out) {
  guard([&] { reduce_to(op, in, out); });
}

void CpuBackend::reduce(model::Descriptor const& op, void const* in, void* out) {
  guard([&] { reduce_to(op, in, context_.rank == op.root ? out : nullptr); });
}

void CpuBackend::broadcast(model::Descriptor const& op, void* buffer) {
  guard([&] {
    arrivals_.enter(op);
    if (context_.topology.size() == 1) return;
    switch (design_for(op)) {
      case coll::Design::line:
        small_.broadcast_line(buffer);
        break;
      case coll::Design::flat:
        small_.broadcast_flat(buffer);
        break;
      case coll::Design::automatic:
      case coll::Design::ring:
        ring_.broadcast(buffer);
        break;
    }
  });
}

void CpuBackend::all_gather(model::Descriptor const& op, void const* in, void* out) {
  guard([&] {
    arrivals_.enter(op);
    if (fits_flat(op, 1)) {
      small_.all_gather_flat(in, out);
    } else {
      rounds_.all_gather(in, out);
    }
  });
}

void CpuBackend::reduce_scatter(model::Descriptor const& op, void const* in, void* out) {
  guard([&] {
    arrivals_.enter(op);
    if (fits_flat(op, static_cast<std::size_t>(context_.local_size))) {
      small_.reduce_scatter_flat(in, out);
    } else {
      rounds_.reduce_scatter(in, out);
    }
  });
}

void CpuBackend::all_to_all(model::Descriptor const& op, void const* in, void* out) {
  guard([&] {
    arrivals_.enter(op);
    if (fits_flat(op, static_cast<std::size_t>(context_.local_size))) {
      small_.all_to_all_flat(in, out);
    } else {
      rounds_.all_to_all(in, out);
    }
  });
}

void CpuBackend::exchange(std::vector<coll::Message> const& messages) {
  guard([&] { pairs_.exchange(messages); });
}

void CpuBackend::barrier(model::Descriptor const& op) {
  guard([&] {
    arrivals_.enter(op);
    if (context_.topology.size() > 1) small_.barrier();
  });
}

}  // namespace berth::cpu

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
  context.lane = setup.topology.hosts() > 1 ? setup.lane : nullptr;
  context.kernels = setup.kernels != nullptr ? setup.kernels : &kernel::best();
  return context;
}

/// Ranks on the fullest host: what every rank can know and what the choice of a design depends on.
int fullest_host(Topology const& topology) {
  int most = 0;
  for (int host = 0; host < topology.hosts(); ++host) {
    most = std::max(most, topology.local_size(host));
  }
  return most;
}

std::size_t flat_limit(coll::Tuning const& tuning, int ranks) {
  if (ranks <= 2) return tuning.flat_bytes_max_2;
  return ranks <= 4 ? tuning.flat_bytes_max_4 : tuning.flat_bytes_max_many;
}

}  // namespace

CpuBackend::CpuBackend(Setup const& setup)
    : context_(make_context(setup)),
      arrivals_(context_),
      hosts_(context_, arrivals_),
      stores_(context_, !hosts_.is_needed()),
      small_(context_, arrivals_, hosts_, stores_),
      ring_(context_, arrivals_, hosts_, stores_),
      line_bytes_max_(std::min(Small::line_capacity, setup.tuning.line_bytes_max)),
      flat_bytes_max_(flat_limit(setup.tuning, fullest_host(setup.topology))) {}

coll::Design CpuBackend::design_for(model::Descriptor const& op) const {
  // In elements first: count * size may not fit.
  if (op.count > (size_of(op.type) == 4 ? flat_bytes_max_ / 4 : flat_bytes_max_ / 8)) {
    return coll::Design::ring;
  }
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

void CpuBackend::all_reduce(model::Descriptor const& op, void const* in, void* out) {
  guard([&] {
    arrivals_.enter(op);
    if (context_.topology.size() == 1) {
      if (in != out && op.count > 0) std::memcpy(out, in, op.count * size_of(op.type));
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
  });
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

void CpuBackend::barrier(model::Descriptor const& op) {
  guard([&] {
    arrivals_.enter(op);
    if (context_.topology.size() > 1) small_.barrier();
  });
}

}  // namespace berth::cpu

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <cpu/small.hpp>

namespace berth::cpu {

Small::Small(Context const& context, Arrivals& arrivals, Hosts& hosts)
    : context_(context),
      arrivals_(arrivals),
      hosts_(hosts),
      sources_(static_cast<std::size_t>(context.local_size)) {}

std::size_t Small::bytes() const {
  model::Descriptor const& operation = arrivals_.operation();
  return operation.count * size_of(operation.type);
}

kernel::ReduceFunction Small::reduce_function() const {
  model::Descriptor const& operation = arrivals_.operation();
  return context_.kernels->reduce[static_cast<int>(operation.type)][static_cast<int>(operation.op)];
}

void Small::between_hosts(std::size_t count) {
  hosts_.start(0, count, 0);
  hosts_.finish(0);
}

// Lines.

void Small::reduce_lines(void const* in, void* out) {
  arrivals_.await_all();
  std::size_t const total = bytes();
  std::size_t const element = size_of(arrivals_.operation().type);
  kernel::ReduceFunction const reduce = reduce_function();
  auto const own = static_cast<std::size_t>(context_.local);
  for (std::size_t line = 0, at = 0; at < total; ++line, at += line_payload) {
    for (std::size_t local = 0; local < sources_.size(); ++local) {
      if (local == own) continue;
      if (line > 0) arrivals_.await_line(static_cast<int>(local), line);
      sources_[local] =
          context_.segment.lines(static_cast<int>(local), arrivals_.parity())[line].payload;
    }
    sources_[own] = static_cast<std::byte const*>(in) + at;
    reduce(static_cast<std::byte*>(out) + at, sources_.data(), context_.local_size,
           std::min(line_payload, total - at) / element);
  }
}

void Small::read_lines(int local, void* out) {
  arrivals_.await(local);
  std::size_t const total = bytes();
  Line const* const lines = context_.segment.lines(local, arrivals_.parity());
  for (std::size_t line = 0, at = 0; at < total; ++line, at += line_payload) {
    if (line > 0) arrivals_.await_line(local, line);
    std::memcpy(static_cast<std::byte*>(out) + at, lines[line].payload,
                std::min(line_payload, total - at));
  }
}

void Small::all_reduce_line(void const* in, void* out) {
  if (!hosts_.is_needed()) {
    arrivals_.post(in, bytes());
    reduce_lines(in, out);
  } else if (is_leader()) {
    reduce_lines(in, hosts_.work(0));
    between_hosts(arrivals_.operation().count);
    arrivals_.post(hosts_.work(0), bytes());
    if (bytes() > 0) std::memcpy(out, hosts_.work(0), bytes());
  } else {
    arrivals_.post(in, bytes());
    read_lines(0, out);
    arrivals_.all_have_entered();  // the leader has seen them all
  }
}

void Small::broadcast_line(void* buffer) {
  if (void const* const data = broadcast_between_hosts(buffer)) {
    arrivals_.post(data, bytes());
    if (data != buffer && bytes() > 0) std::memcpy(buffer, data, bytes());
    hosts_.end_broadcast();
  } else {
    arrivals_.post();
    read_lines(hosts_.representative(arrivals_.operation().root), buffer);
  }
}

void Small::barrier() {
  if (!hosts_.is_needed()) {
    arrivals_.post();
    arrivals_.await_all();
  } else if (is_leader()) {
    arrivals_.await_all();
    between_hosts(0);
    arrivals_.post();
  } else {
    arrivals_.post();
    arrivals_.await(0);
    arrivals_.all_have_entered();
  }
}

// Flat buffers.

void Small::copy_to_flat(void const* data, std::size_t count) {
  if (count == 0) return;
  bool const is_streamed = context_.tuning.store == coll::Store::streamed &&
                           count >= context_.tuning.stream_flat_from_bytes;
  if (is_streamed) {
    context_.kernels->stream_copy(arrivals_.own_flat(), data, count);
  } else {
    std::memcpy(arrivals_.own_flat(), data, count);
  }
}

void Small::reduce_flats(void const* in, void* out) {
  arrivals_.await_all();
  std::size_t const count = arrivals_.operation().count;
  for (int local = 0; local < context_.local_size; ++local) {
    sources_[static_cast<std::size_t>(local)] =
        local == context_.local ? in : context_.segment.flat(local, arrivals_.parity());
  }
  if (count > 0) reduce_function()(out, sources_.data(), context_.local_size, count);
}

void Small::all_reduce_flat(void const* in, void* out) {
  if (!hosts_.is_needed()) {
    copy_to_flat(in, bytes());
    arrivals_.post();
    reduce_flats(in, out);
  } else if (is_leader()) {
    reduce_flats(in, hosts_.work(0));
    between_hosts(arrivals_.operation().count);
    copy_to_flat(hosts_.work(0), bytes());
    arrivals_.post();
    if (bytes() > 0) std::memcpy(out, hosts_.work(0), bytes());
  } else {
    copy_to_flat(in, bytes());
    arrivals_.post();
    arrivals_.await(0);
    arrivals_.all_have_entered();
    if (bytes() > 0) std::memcpy(out, context_.segment.flat(0, arrivals_.parity()), bytes());
  }
}

void Small::broadcast_flat(void* buffer) {
  if (void const* const data = broadcast_between_hosts(buffer)) {
    copy_to_flat(data, bytes());
    arrivals_.post();
    if (data != buffer && bytes() > 0) std::memcpy(buffer, data, bytes());
    hosts_.end_broadcast();
  } else {
    int const source = hosts_.representative(arrivals_.operation().root);
    arrivals_.post();
    arrivals_.await(source);
    if (bytes() > 0)
      std::memcpy(buffer, context_.segment.flat(source, arrivals_.parity()), bytes());
  }
}

void const* Small::broadcast_between_hosts(void const* buffer) {
  int const root = arrivals_.operation().root;
  if (context_.local != hosts_.representative(root)) return nullptr;
  if (!hosts_.is_needed()) return buffer;
  hosts_.begin_broadcast(root, false);
  void const* data = buffer;
  if (context_.rank == root) {
    std::byte* const message = hosts_.fill(0);
    if (bytes() > 0) std::memcpy(message, buffer, bytes());
  } else {
    hosts_.expect(0);
    data = hosts_.arrived(0);
  }
  hosts_.forward(0, bytes());
  return data;
}

}  // namespace berth::cpu

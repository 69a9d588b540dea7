// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include <cpu/copy_line.hpp>
#include <cpu/small.hpp>

namespace berth::cpu {

Small::Small(Context const& context, Arrivals& arrivals, Hosts& hosts, Stores& stores)
    : context_(context),
      arrivals_(arrivals),
      hosts_(hosts),
      stores_(stores),
      sources_(static_cast<std::size_t>(context.local_size)) {}

std::size_t Small::bytes() const {
  model::Descriptor const& operation = arrivals_.operation();
  return operation.count * size_of(operation.type);
}

void Small::between_hosts(std::size_t count) {
  hosts_.start(0, count, 0);
  hosts_.finish(0);
}

void Small::reduce_sources(void* out) const {
  std::size_t const count = arrivals_.operation().count;
  if (hosts_.is_needed()) {
    arithmetic().part(out, sources_.data(), context_.local_size, count);
  } else {
    arithmetic().whole(out, sources_.data(), context_.local_size, count);
  }
}

// Lines.

void Small::reduce_lines(void const* in, void* out) {
  arrivals_.await_all();
  arrivals_.take_back_line();
  for (int local = 0; local < context_.local_size; ++local) {
    sources_[static_cast<std::size_t>(local)] =
        local == context_.local ? in : context_.segment.line(local, arrivals_.parity())->payload;
  }
  reduce_sources(out);
}

void Small::read_line(int local, void* out) {
  arrivals_.await(local);
  copy_line(static_cast<std::byte*>(out), context_.segment.line(local, arrivals_.parity())->payload,
            bytes());
}

void Small::all_reduce_line(void const* in, void* out) {
  if (!hosts_.is_needed()) {
    arrivals_.post(in, bytes());
    // Who gets nothing looks at the others before the next operation.
    if (out != nullptr) reduce_lines(in, out);
  } else if (is_leader()) {
    reduce_lines(in, hosts_.work(0));
    between_hosts(arrivals_.operation().count);
    arrivals_.post(hosts_.work(0), bytes());
    if (out != nullptr && bytes() > 0) std::memcpy(out, hosts_.work(0), bytes());
  } else {
    arrivals_.post(in, bytes());
    arrivals_.await(0);
    if (out != nullptr) read_line(0, out);
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
    read_line(hosts_.representative(arrivals_.operation().root), buffer);
  }
}

void Small::barrier() {
  if (!hosts_.is_needed()) {
    arrivals_.post();
    arrivals_.await_all();
    arrivals_.take_back_line();
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

void Small::copy_to_flat(void const* data, std::size_t count, bool is_streamed) {
  if (count == 0) return;
  if (is_streamed && count >= context_.tuning.flat_store_from_bytes) {
    context_.kernels->stream_copy(arrivals_.own_flat(), data, count);
  } else {
    std::memcpy(arrivals_.own_flat(), data, count);
  }
}

void Small::reduce_flats(void const* in, void* out) {
  for (int local = 0; local < context_.local_size; ++local) {
    sources_[static_cast<std::size_t>(local)] =
        local == context_.local ? in : context_.segment.flat(local, arrivals_.parity());
  }
  reduce_sources(out);
}

void Small::all_reduce_flat_on_one_host(void const* in, void* out) {
  if (bytes() < context_.tuning.flat_store_from_bytes) {
    copy_to_flat(in, bytes(), false);
    arrivals_.post();
    arrivals_.await_all();
    arrivals_.take_back_line();
    Context::take_back(context_.segment.flat(context_.local, arrivals_.parity() ^ 1U), bytes());
    reduce_flats(in, out);
    return;
  }
  stores_.begin(bytes());
  stores_.start();
  copy_to_flat(in, bytes(), stores_.is_streamed());
  arrivals_.post();
  stores_.stop();
  arrivals_.await_all();
  stores_.start();
  reduce_flats(in, out);
  stores_.stop();
  stores_.end();
}

void Small::reduce_flat_on_one_host(void const* in, void* out) {
  if (out == nullptr) {
    copy_to_flat(in, bytes(), stores_.is_streamed(bytes()));
    arrivals_.post();
    return;
  }
  arrivals_.post();
  arrivals_.await_all();
  reduce_flats(in, out);
}

void Small::all_reduce_flat(void const* in, void* out) {
  bool const is_reduce = arrivals_.operation().collective == model::Collective::reduce;
  if (!hosts_.is_needed() && is_reduce) {
    reduce_flat_on_one_host(in, out);
  } else if (!hosts_.is_needed()) {
    all_reduce_flat_on_one_host(in, out);
  } else if (is_leader()) {
    arrivals_.await_all();
    reduce_flats(in, hosts_.work(0));
    between_hosts(arrivals_.operation().count);
    copy_to_flat(hosts_.work(0), bytes(), stores_.is_streamed(bytes()));
    arrivals_.post();
    if (out != nullptr && bytes() > 0) std::memcpy(out, hosts_.work(0), bytes());
  } else {
    copy_to_flat(in, bytes(), stores_.is_streamed(bytes()));
    arrivals_.post();
    arrivals_.await(0);
    arrivals_.all_have_entered();
    if (out != nullptr && bytes() > 0) {
      std::memcpy(out, context_.segment.flat(0, arrivals_.parity()), bytes());
    }
  }
}

void Small::broadcast_flat(void* buffer) {
  if (hosts_.is_needed() && is_leader()) hosts_.agree();
  if (void const* const data = broadcast_between_hosts(buffer)) {
    copy_to_flat(data, bytes(), stores_.is_streamed(bytes()));
    arrivals_.post();
    if (data != buffer && bytes() > 0) std::memcpy(buffer, data, bytes());
    hosts_.end_broadcast();
  } else {
    int const source = hosts_.representative(arrivals_.operation().root);
    arrivals_.post();
    arrivals_.await(source);
    std::byte const* const flat = context_.segment.flat(source, arrivals_.parity());
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): null only without bytes
    if (bytes() > 0) std::memcpy(buffer, flat, bytes());
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

// What every rank has for every other one: after one synchronisation all flat buffers can be read.

void Small::all_gather_flat(void const* in, void* out) {
  std::size_t const part = bytes();
  copy_to_flat(in, part, stores_.is_streamed(part));
  arrivals_.post();
  arrivals_.await_all();
  if (part == 0) return;
  for (int local = 0; local < context_.local_size; ++local) {
    std::byte* const to = part_of(out, local);
    if (local != context_.local) {
      std::memcpy(to, context_.segment.flat(local, arrivals_.parity()), part);
    } else if (to != in) {
      std::memcpy(to, in, part);
    }
  }
}

void Small::reduce_scatter_flat(void const* in, void* out) {
  std::size_t const all = bytes() * static_cast<std::size_t>(context_.local_size);
  copy_to_flat(in, all, stores_.is_streamed(all));
  arrivals_.post();
  arrivals_.await_all();
  for (int local = 0; local < context_.local_size; ++local) {
    void const* const from =
        local == context_.local ? in : context_.segment.flat(local, arrivals_.parity());
    sources_[static_cast<std::size_t>(local)] = part_of(from, context_.local);
  }
  reduce_sources(out);
}

void Small::all_to_all_flat(void const* in, void* out) {
  std::size_t const part = bytes();
  std::size_t const all = part * static_cast<std::size_t>(context_.local_size);
  copy_to_flat(in, all, stores_.is_streamed(all));
  arrivals_.post();
  arrivals_.await_all();
  if (part == 0) return;
  for (int local = 0; local < context_.local_size; ++local) {
    if (local == context_.local && in == out) continue;
    void const* const from =
        local == context_.local ? in : context_.segment.flat(local, arrivals_.parity());
    std::memcpy(part_of(out, local), part_of(from, context_.local), part);
  }
}

}  // namespace berth::cpu

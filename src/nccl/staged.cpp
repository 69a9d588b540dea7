// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <nccl/backend.hpp>
#include <nccl/memory.hpp>

namespace berth::nccl {

namespace {

/// Buffers in host memory, by way of the device.
class Staged final : public coll::Backend {
 public:
  Staged(DeviceBackend& device, gpu::Runtime& runtime, int rank, int ranks)
      : device_(device),
        runtime_(runtime),
        rank_(rank),
        ranks_(static_cast<std::size_t>(ranks)),
        in_(runtime),
        out_(runtime) {}

  std::string_view name() const override { return device_.name(); }

  void all_reduce(model::Descriptor const& op, void const* in, void* out) override {
    std::size_t const bytes = bytes_of(op);
    if (bytes == 0) return;
    void* const from = put(in, bytes);
    device_.all_reduce(op, from, in == out ? from : out_.reserve(bytes));
    get(out, in == out ? from : out_.reserve(bytes), bytes);
  }

  void reduce(model::Descriptor const& op, void const* in, void* out) override {
    std::size_t const bytes = bytes_of(op);
    if (bytes == 0) return;
    void* const from = put(in, bytes);
    void* const to = in == out ? from : out_.reserve(bytes);
    device_.reduce(op, from, to);
    if (rank_ == op.root) get(out, to, bytes);
  }

  void broadcast(model::Descriptor const& op, void* buffer) override {
    std::size_t const bytes = bytes_of(op);
    if (bytes == 0) return;
    void* const data = put(buffer, bytes);
    device_.broadcast(op, data);
    get(buffer, data, bytes);
  }

  void all_gather(model::Descriptor const& op, void const* in, void* out) override {
    std::size_t const bytes = bytes_of(op);
    if (bytes == 0) return;
    void* const to = out_.reserve(bytes * ranks_);
    std::byte* const part = offset(to, bytes * static_cast<std::size_t>(rank_));
    bool const is_in_place = in == offset(out, bytes * static_cast<std::size_t>(rank_));
    void* const from = put(in, bytes);
    if (is_in_place) runtime_.copy(part, from, bytes, device_.own_stream());
    device_.all_gather(op, is_in_place ? part : from, to);
    get(out, to, bytes * ranks_);
  }

  void reduce_scatter(model::Descriptor const& op, void const* in, void* out) override {
    std::size_t const bytes = bytes_of(op);
    if (bytes == 0) return;
    void* const from = put(in, bytes * ranks_);
    std::size_t const own = bytes * static_cast<std::size_t>(rank_);
    void* const to = out == offset(in, own) ? offset(from, own) : out_.reserve(bytes);
    device_.reduce_scatter(op, from, to);
    get(out, to, bytes);
  }

  void all_to_all(model::Descriptor const& op, void const* in, void* out) override {
    std::size_t const bytes = bytes_of(op) * ranks_;
    if (bytes == 0) return;
    void* const from = put(in, bytes);
    void* const to = in == out ? from : out_.reserve(bytes);
    device_.all_to_all(op, from, to);
    get(out, to, bytes);
  }

  void exchange(std::vector<coll::Message> const& messages) override {
    std::vector<coll::Message> there = messages;
    std::size_t sent = 0;
    std::size_t received = 0;
    for (coll::Message const& message : messages) {
      (message.is_send ? sent : received) += message.count * size_of(message.type);
    }
    void* const from = in_.reserve(sent);
    void* const to = out_.reserve(received);
    std::size_t put_bytes = 0;
    std::size_t got_bytes = 0;
    for (coll::Message& message : there) {
      std::size_t const bytes = message.count * size_of(message.type);
      if (bytes == 0) continue;
      if (message.is_send) {
        void* const data = offset(from, put_bytes);
        runtime_.copy(data, message.from, bytes, device_.own_stream());
        message.from = data;
        put_bytes += bytes;
      } else {
        message.to = offset(to, got_bytes);
        got_bytes += bytes;
      }
    }
    device_.exchange(there);
    for (std::size_t i = 0; i < messages.size(); ++i) {
      std::size_t const bytes = messages[i].count * size_of(messages[i].type);
      if (bytes == 0 || messages[i].is_send) continue;
      runtime_.copy(messages[i].to, there[i].to, bytes, device_.own_stream());
    }
    device_.wait(device_.own_stream());
  }

  void barrier(model::Descriptor const& op) override { device_.barrier(op); }

 private:
  static std::size_t bytes_of(model::Descriptor const& op) { return op.count * size_of(op.type); }

  /// `bytes` of host memory, on the device. Enqueued.
  void* put(void const* from, std::size_t bytes) {
    void* const to = in_.reserve(bytes);
    runtime_.copy(to, from, bytes, device_.own_stream());
    return to;
  }
  void get(void* to, void const* from, std::size_t bytes) {
    runtime_.copy(to, from, bytes, device_.own_stream());
    device_.wait(device_.own_stream());
  }

  DeviceBackend& device_;
  gpu::Runtime& runtime_;
  int rank_;
  std::size_t ranks_;
  Memory in_;
  Memory out_;
};

}  // namespace

std::unique_ptr<coll::Backend> staged(DeviceBackend& device, gpu::Runtime& runtime, int rank,
                                      int ranks) {
  return std::make_unique<Staged>(device, runtime, rank, ranks);
}

}  // namespace berth::nccl

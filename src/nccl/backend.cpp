// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <nccl/abandon.hpp>
#include <nccl/api.hpp>
#include <nccl/backend.hpp>
#include <nccl/memory.hpp>

#include <base/error.hpp>

namespace berth::nccl {

namespace {

/// By value of Type and of Op.
constexpr ncclDataType_t types[type_count] = {ncclInt32,   ncclInt64,   ncclFloat32, ncclFloat64,
                                              ncclInt8,    ncclUint8,   ncclUint32,  ncclUint64,
                                              ncclFloat16, ncclBfloat16};
constexpr ncclRedOp_t ops[op_count] = {ncclSum, ncclProd, ncclMin, ncclMax, ncclAvg};
static_assert(static_cast<int>(Type::float64) == 3 && static_cast<int>(Type::uint64) == 7 &&
              static_cast<int>(Type::bfloat16) == 9 && static_cast<int>(Op::avg) == 4);

ncclDataType_t type_of(Type type) {
  return types[static_cast<std::size_t>(type)];
}

ncclRedOp_t op_of(Op op) {
  return ops[static_cast<std::size_t>(op)];
}

/// Looks at a stream before, and between, comparisons of what the ranks do: none in a short wait.
constexpr unsigned first_comparison = 4000;
constexpr unsigned comparison_every = 64;

class Nccl final : public DeviceBackend {
 public:
  explicit Nccl(Setup setup)
      : setup_(std::move(setup)), nccl_(*setup_.nccl), scratch_(*setup_.runtime) {
    comm_ = static_cast<ncclComm_t>(nccl::connect(setup_));
    try {
      stream_ = setup_.runtime->make_stream();
    } catch (...) {
      abort();
      throw;
    }
  }

  ~Nccl() override {
    abort();
    if (stream_ != nullptr) setup_.runtime->free_stream(stream_);
  }

  std::string_view name() const override { return "nccl"; }

  void all_reduce(model::Descriptor const& op, void const* in, void* out) override {
    enqueue("ncclAllReduce", [&] {
      return nccl_.all_reduce(in, out, op.count, type_of(op.type), op_of(op.op), comm_, target());
    });
  }

  void reduce(model::Descriptor const& op, void const* in, void* out) override {
    enqueue("ncclReduce", [&] {
      return nccl_.reduce(in, out, op.count, type_of(op.type), op_of(op.op), op.root, comm_,
                          target());
    });
  }

  void broadcast(model::Descriptor const& op, void* buffer) override {
    enqueue("ncclBroadcast", [&] {
      return nccl_.broadcast(buffer, buffer, op.count, type_of(op.type), op.root, comm_, target());
    });
  }

  void all_gather(model::Descriptor const& op, void const* in, void* out) override {
    enqueue("ncclAllGather",
            [&] { return nccl_.all_gather(in, out, op.count, type_of(op.type), comm_, target()); });
  }

  void reduce_scatter(model::Descriptor const& op, void const* in, void* out) override {
    enqueue("ncclReduceScatter", [&] {
      return nccl_.reduce_scatter(in, out, op.count, type_of(op.type), op_of(op.op), comm_,
                                  target());
    });
  }

  void all_to_all(model::Descriptor const& op, void const* in, void* out) override {
    std::size_t const part = op.count * size_of(op.type);
    auto const ranks = static_cast<std::size_t>(setup_.mpi->size());
    if (part == 0) return;
    void const* from = in;
    if (in == out) {
      // Sends read what receives would overwrite.
      void* const copy = scratch_.reserve(part * ranks);
      setup_.runtime->copy(copy, in, part * ranks, target());
      from = copy;
    }
    group_start();
    for (std::size_t peer = 0; peer < ranks; ++peer) {
      put({true, static_cast<int>(peer), op.type, op.count, offset(from, peer * part), nullptr});
      put({false, static_cast<int>(peer), op.type, op.count, nullptr, offset(out, peer * part)});
    }
    is_waiting_due_ = true;
    group_end();
  }

  void exchange(std::vector<coll::Message> const& messages) override {
    group_start();
    for (coll::Message const& message : messages) put(message);
    is_waiting_due_ = true;
    group_end();
  }

  void barrier(model::Descriptor const& op) override {
    void* const one = scratch_.reserve(sizeof(std::int32_t));
    model::Descriptor sum = op;
    sum.count = 1;
    sum.type = Type::int32;
    sum.op = Op::sum;
    all_reduce(sum, one, one);
  }

  void wait(gpu::Stream stream) override {
    try {
      unsigned looks = 0;
      setup_.watch->until_ready([&] {
        // From then on the wait is a long one, with a nap between two looks.
        if (++looks > first_comparison && looks % comparison_every == 0) setup_.compare();
        return is_healthy() && setup_.runtime->is_done(stream);
      });
    } catch (Error const& error) {
      give_up(error);
      throw;
    }
  }

  void group_start() override {
    check_open();
    if (depth_ == 0) check(nccl_.group_start(), "ncclGroupStart");
    ++depth_;
  }

  void group_end() override {
    if (--depth_ > 0) return;
    settle(nccl_.group_end(), "ncclGroupEnd");
    if (std::exchange(is_waiting_due_, false) && !is_enqueued_) wait(stream_);
  }

  void* register_memory(void* memory, std::size_t bytes) override {
    check_open();
    if (nccl_.register_buffer == nullptr || nccl_.deregister_buffer == nullptr) {
      base::fail(Errc::unsupported, "registering memory needs NCCL 2.19 or newer");
    }
    void* handle = nullptr;
    settle(nccl_.register_buffer(comm_, memory, bytes, &handle), "ncclCommRegister");
    return handle;
  }
  void unregister_memory(void* handle) noexcept override {
    if (comm_ != nullptr) static_cast<void>(nccl_.deregister_buffer(comm_, handle));
  }

  void* native() const noexcept override { return comm_; }
  gpu::Stream own_stream() const noexcept override { return stream_; }

  void close() override {
    if (comm_ == nullptr) return;
    settle(nccl_.finalize(comm_), "ncclCommFinalize");
    ncclComm_t const comm = std::exchange(comm_, nullptr);
    nccl_.check(nccl_.destroy(comm), "ncclCommDestroy");
  }

  void abort() noexcept override {
    abandon(setup_.nccl, std::exchange(comm_, nullptr), *setup_.log);
  }

 private:
  [[nodiscard]] cudaStream_t target() const {
    return static_cast<cudaStream_t>(is_enqueued_ ? user_stream_ : stream_);
  }

  void check_open() const {
    if (comm_ == nullptr) {
      base::fail(Errc::aborted, "the NCCL communicator has been aborted or closed");
    }
  }

  void check(ncclResult_t result, char const* call) {
    try {
      nccl_.check(result, call);
    } catch (Error const& error) {
      give_up(error);
      throw;
    }
  }

  /// After a call of a nonblocking communicator: nothing else may be asked of it while it is in
  /// progress (it connects to new peers).
  void settle(ncclResult_t result, char const* call) {
    check(result, call);
    if (result != ncclInProgress) return;
    try {
      setup_.watch->until_ready([&] { return is_healthy(); });
    } catch (Error const& error) {
      give_up(error);
      throw;
    }
  }

  /// True when NCCL is neither busy connecting nor in error, which throws.
  bool is_healthy() {
    check_open();
    ncclResult_t state = ncclSuccess;
    nccl_.check(nccl_.get_async_error(comm_, &state), "ncclCommGetAsyncError");
    nccl_.check(state, "NCCL");
    return state == ncclSuccess;
  }

  template <class Call>
  void enqueue(char const* name, Call&& call) {
    check_open();
    if (depth_ > 0) {
      check(call(), name);
      is_waiting_due_ = true;
      return;
    }
    settle(call(), name);
    if (!is_enqueued_) wait(stream_);
  }

  void put(coll::Message const& message) {
    if (message.count == 0) return;
    if (message.is_send) {
      check(nccl_.send(message.from, message.count, type_of(message.type), message.peer, comm_,
                       target()),
            "ncclSend");
    } else {
      check(nccl_.receive(message.to, message.count, type_of(message.type), message.peer, comm_,
                          target()),
            "ncclRecv");
    }
  }

  /// The streams of the others wait in this communicator: they are told why, unless the error is
  /// what everybody knows, and the own streams are freed. @throws Error what everybody knows
  void give_up(Error const& error) {
    tell(setup_, error);
    abort();
    setup_.watch->check();
  }

  Setup setup_;
  Library const& nccl_;
  gpu::Stream stream_ = nullptr;
  Memory scratch_;
  ncclComm_t comm_ = nullptr;
  bool is_waiting_due_ = false;  ///< a blocking call of this group has not been waited for
  int depth_ = 0;
};

}  // namespace

std::unique_ptr<DeviceBackend> DeviceBackend::connect(Setup setup) {
  return std::make_unique<Nccl>(std::move(setup));
}

}  // namespace berth::nccl

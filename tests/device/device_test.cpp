// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
//
// The nccl backend through the public interface, on whatever CUDA runtime and libnccl the
// environment names: the software ones of tests/standin, or those of a machine with devices.
#include <cstring>
#include <optional>
#include <vector>

#include <gtest/gtest.h>
#include <mpi.h>

#include <comm/impl.hpp>
#include <comm/world.hpp>
#include <pattern/collective.hpp>

namespace berth::test {
namespace {

using model::Collective;

constexpr Way nccl_way = {"nccl", Backend::nccl, nullptr};
constexpr std::size_t counts[] = {0, 1, 3, 64, 1021, 70001};

/// Device memory of a communicator's device.
class OnDevice {
 public:
  OnDevice(Communicator& comm, std::size_t bytes)
      : comm_(comm), bytes_(bytes), data_(runtime().allocate(bytes + 1)) {}
  ~OnDevice() { runtime().free(data_); }
  OnDevice(OnDevice const&) = delete;
  OnDevice& operator=(OnDevice const&) = delete;

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  void put(void const* from) { copy(data_, from); }
  void get(void* to) { copy(to, data_); }

 private:
  gpu::Runtime& runtime() { return *comm_.impl().runtime(); }
  void copy(void* to, void const* from) {
    gpu::Stream const stream = comm_.impl().on_device()->own_stream();
    if (bytes_ == 0) return;
    runtime().copy(to, from, bytes_, stream);
    comm_.wait(stream);
  }

  Communicator& comm_;
  std::size_t bytes_;
  void* data_;
};

/// A stream of the communicator's device.
class UserStream {
 public:
  explicit UserStream(Communicator& comm)
      : runtime_(*comm.impl().runtime()), stream_(runtime_.make_stream()) {}
  ~UserStream() { runtime_.free_stream(stream_); }
  UserStream(UserStream const&) = delete;
  UserStream& operator=(UserStream const&) = delete;
  [[nodiscard]] Stream get() const { return stream_; }

 private:
  gpu::Runtime& runtime_;
  Stream stream_;
};

/// The public call of a collective; with a stream the one that is enqueued.
void call(Communicator& comm, pattern::Coded const& what, void* in, void* out,
          std::optional<Stream> stream) {
  Type const type = what.code.type;
  Op const op = what.code.op;
  std::size_t const count = what.count;
  switch (what.collective) {
    case Collective::all_reduce:
      return stream ? comm.all_reduce(in, out, count, type, op, *stream)
                    : comm.all_reduce(in, out, count, type, op);
    case Collective::reduce:
      return stream ? comm.reduce(in, out, count, type, op, what.root, *stream)
                    : comm.reduce(in, out, count, type, op, what.root);
    case Collective::broadcast:
      return stream ? comm.broadcast(out, count, type, what.root, *stream)
                    : comm.broadcast(out, count, type, what.root);
    case Collective::all_gather:
      return stream ? comm.all_gather(in, out, count, type, *stream)
                    : comm.all_gather(in, out, count, type);
    case Collective::reduce_scatter:
      return stream ? comm.reduce_scatter(in, out, count, type, op, *stream)
                    : comm.reduce_scatter(in, out, count, type, op);
    case Collective::all_to_all:
      return stream ? comm.all_to_all(in, out, count, type, *stream)
                    : comm.all_to_all(in, out, count, type);
    default:
      break;
  }
  int const next = (comm.rank() + 1) % comm.size();
  int const before = (comm.rank() + comm.size() - 1) % comm.size();
  comm.group_start();
  if (stream) {
    comm.send(in, count, type, next, *stream);
    comm.receive(out, count, type, before, *stream);
  } else {
    comm.send(in, count, type, next);
    comm.receive(out, count, type, before);
  }
  comm.group_end();
}

/// Wrong elements of one call with coded data on the device.
std::uint64_t wrong_of(Communicator& comm, pattern::Coded const& what, bool is_in_place,
                       std::optional<Stream> stream) {
  std::size_t const size = size_of(what.code.type);
  pattern::InPlace const shared = pattern::in_place(what, comm.rank());
  std::size_t const in_bytes = pattern::in_elements(what) * size;
  std::size_t const out_bytes = pattern::out_elements(what) * size;
  bool const one = is_in_place || what.collective == Collective::broadcast;
  std::vector<std::byte> host(std::max({in_bytes, out_bytes, shared.elements * size}));
  std::size_t const in_at = one ? shared.in * size : 0;
  std::size_t const out_at = one ? shared.out * size : 0;
  OnDevice first(comm, host.size());
  OnDevice second(comm, host.size());
  OnDevice& result = one ? first : second;
  pattern::fill_input(what, comm.rank(), host.data() + in_at);
  first.put(host.data());
  call(comm, what, first.data() + in_at, result.data() + out_at, stream);
  if (stream) comm.wait(*stream);
  result.get(host.data());
  return pattern::check_output(what, comm.rank(), host.data() + out_at).wrong;
}

std::vector<pattern::Coded> everything(int ranks) {
  std::vector<pattern::Coded> all;
  std::uint32_t round = 0;
  for (Collective const collective :
       {Collective::all_reduce, Collective::reduce, Collective::broadcast, Collective::all_gather,
        Collective::reduce_scatter, Collective::all_to_all, Collective::send_recv}) {
    for (int type = 0; type < type_count; ++type) {
      for (int op = 0; op < (model::reduces(collective) ? op_count : 1); ++op) {
        for (std::size_t const count : counts) {
          if (ranks > 4 && count > 0 && count != counts[4]) continue;  // many ranks share few cores
          pattern::Coded what;
          what.collective = collective;
          what.code = {static_cast<Type>(type), static_cast<Op>(op), ranks, ++round};
          what.count = count;
          what.root = static_cast<int>(count) % ranks;
          all.push_back(what);
        }
      }
    }
  }
  return all;
}

TEST(Device, CollectivesOfAllTypesAndOperationsAreRight) {
  Communicator comm = open(nccl_way);
  EXPECT_EQ(comm.backend(), Backend::nccl);
  EXPECT_FALSE(comm.placement().device.empty());
  UserStream stream(comm);
  int round = 0;
  for (pattern::Coded const& what : everything(comm.size())) {
    bool const can_share = what.collective != Collective::send_recv;
    bool const is_in_place = can_share && ++round % 2 == 0;
    std::optional<Stream> const on =
        round % 3 == 0 ? std::nullopt : std::optional<Stream>(stream.get());
    ASSERT_EQ(wrong_of(comm, what, is_in_place, on), 0U)
        << model::name(what.collective) << " of " << what.count << ", type "
        << static_cast<int>(what.code.type) << ", operation " << static_cast<int>(what.code.op)
        << (is_in_place ? ", in place" : "");
  }
  comm.close();
}

TEST(Device, CallsOnAStreamKeepTheirOrder) {
  Communicator comm = open(nccl_way);
  UserStream stream(comm);
  std::vector<std::int64_t> numbers(1000, 1);
  OnDevice data(comm, numbers.size() * sizeof(std::int64_t));
  data.put(numbers.data());
  auto* const on_device = reinterpret_cast<std::int64_t*>(data.data());
  for (int i = 0; i < 20; ++i)
    comm.all_reduce(on_device, on_device, numbers.size(), i % 2 == 0 ? Op::sum : Op::avg,
                    stream.get());
  comm.wait(stream.get(), std::chrono::seconds(20));
  data.get(numbers.data());
  std::int64_t wanted = 1;  // ten sums of equal numbers; their averages change nothing
  for (int i = 0; i < 10; ++i) wanted *= comm.size();
  for (std::int64_t const number : numbers) ASSERT_EQ(number, wanted);
  comm.close();
}

TEST(Device, HostAndDeviceMemoryBothWorkOnOneCommunicator) {
  Communicator comm = open(nccl_way);
  OnDevice device(comm, sizeof(float) * 4);
  float host[4] = {1, 2, 3, 4};
  device.put(host);
  comm.all_reduce(static_cast<float const*>(host), host, 4);
  auto* const data = reinterpret_cast<float*>(device.data());
  comm.all_reduce(static_cast<float const*>(data), data, 4);
  float back[4];
  device.get(back);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(host[i], back[i]);
  EXPECT_EQ(host[1], 2 * static_cast<float>(comm.size()));
  comm.barrier();
  comm.close();
}

TEST(Device, WrongUseIsRefusedOnTheSpot) {
  Communicator comm = open(nccl_way);
  OnDevice device(comm, 64);
  float host[4] = {};
  auto* const data = reinterpret_cast<float*>(device.data());
  auto const refused = [](auto&& call) {
    return outcome_of(call).errc() == Errc::invalid_argument;
  };
  EXPECT_TRUE(refused([&] { comm.all_reduce(static_cast<float const*>(host), data, 4); }));
  EXPECT_TRUE(refused(
      [&] { static_cast<void>(comm.all_reduce_async(data, data, 4, Type::float32, Op::sum)); }));
  comm.close();
  Communicator cpu = open(ways[0]);
  EXPECT_EQ(cpu.native_nccl(), nullptr);
  EXPECT_TRUE(refused([&] { cpu.wait(nullptr); }));
  cpu.close();
}

TEST(Device, AGroupOfSendsAndReductionsIsWhole) {
  Communicator comm = open(nccl_way);
  UserStream stream(comm);
  std::vector<OnDevice*> all;
  std::vector<std::int32_t> ones(100, 1);
  for (int i = 0; i < 5; ++i) {
    all.push_back(new OnDevice(comm, ones.size() * sizeof(std::int32_t)));
    all.back()->put(ones.data());
  }
  comm.group_start();
  for (OnDevice* one : all) {
    auto* const data = reinterpret_cast<std::int32_t*>(one->data());
    comm.all_reduce(data, data, ones.size(), Op::sum, stream.get());
  }
  comm.group_end();
  comm.wait(stream.get());
  for (OnDevice* one : all) {
    std::vector<std::int32_t> back(ones.size());
    one->get(back.data());
    for (std::int32_t const number : back) EXPECT_EQ(number, comm.size());
    delete one;
  }
  comm.close();
}

TEST(Device, SplitGivesCommunicatorsWithDevicesOfTheirOwn) {
  Communicator comm = open(nccl_way);
  std::optional<Communicator> half = comm.split(comm.rank() % 2, -comm.rank());
  ASSERT_TRUE(half.has_value());
  EXPECT_EQ(half->backend(), Backend::nccl);
  EXPECT_NE(half->native_nccl(), nullptr);
  EXPECT_NE(half->native_nccl(), comm.native_nccl());
  EXPECT_EQ(half->placement().device, comm.placement().device);
  pattern::Coded what;
  what.code = {Type::float32, Op::sum, half->size(), 7};
  what.count = 1000;
  EXPECT_EQ(wrong_of(*half, what, true, std::nullopt), 0U);
  half->close();
  what.code.ranks = comm.size();
  EXPECT_EQ(wrong_of(comm, what, true, std::nullopt), 0U);
  comm.close();
}

TEST(Device, DifferentCallsAreNamedOnAllRanks) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  Communicator comm = open(nccl_way, MPI_COMM_WORLD, std::chrono::seconds(10));
  OnDevice data(comm, 8000);
  auto* const numbers = reinterpret_cast<float*>(data.data());
  int const odd = comm.size() - 1;
  std::size_t const count = comm.rank() == odd ? 913 : 771;
  Outcome const mine = outcome_of([&] { comm.all_reduce(numbers, numbers, count, Op::sum); });
  std::vector<Outcome> const all = gather(mine);
  ASSERT_TRUE(agreed(all, Errc::mismatch, 5)) << "long before the deadline";
  EXPECT_NE(all[0].text.find("all_reduce of 771 float32"), std::string::npos) << all[0].text;
  EXPECT_NE(all[0].text.find("all_reduce of 913 float32"), std::string::npos) << all[0].text;
  if (comm.size() > 2) {
    EXPECT_EQ(all[0].rank, odd);
  }
}

TEST(Device, AGraphReplaysItsCollectives) {
  Communicator comm = open(nccl_way);
  UserStream stream(comm);
  gpu::Runtime& runtime = *comm.impl().runtime();
  std::vector<std::int64_t> numbers(500, 1);
  OnDevice data(comm, numbers.size() * sizeof(std::int64_t));
  data.put(numbers.data());
  auto* const on_device = reinterpret_cast<std::int64_t*>(data.data());
  // NCCL connects before it is recorded.
  comm.all_reduce(on_device, on_device, numbers.size(), Op::max, stream.get());
  comm.wait(stream.get());
  runtime.begin_capture(stream.get());
  comm.all_reduce(on_device, on_device, numbers.size(), Op::sum, stream.get());
  gpu::Graph const graph = runtime.end_capture(stream.get());
  for (int i = 0; i < 3; ++i) runtime.launch(graph, stream.get());
  comm.wait(stream.get());
  runtime.free_graph(graph);
  data.get(numbers.data());
  std::int64_t const ranks = comm.size();
  for (std::int64_t const number : numbers) ASSERT_EQ(number, ranks * ranks * ranks);
  comm.close();
}

}  // namespace
}  // namespace berth::test

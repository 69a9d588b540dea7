// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// A legal MPI program: one rank sits in a rendezvous MPI_Send to another that has posted its
// receive and already waits in a collective of Berth's. The wait must make MPI progress.
#include <functional>
#include <thread>

#include <comm/data.hpp>
#include <comm/world.hpp>

namespace berth::test {
namespace {

constexpr int bytes = 8 << 20;  // far above every eager limit

/// Rank `sender` sends and then does `late`; the receiver posts, does `early` and then completes.
void send_into(int sender, int receiver, std::function<void()> const& operation) {
  std::vector<char> buffer(bytes, world_rank() == sender ? 'x' : '.');
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  auto const start = std::chrono::steady_clock::now();
  if (world_rank() == receiver)
    MPI_Irecv(buffer.data(), bytes, MPI_CHAR, sender, 3, MPI_COMM_WORLD, &request);
  if (world_rank() == sender) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the receiver is in operation
    MPI_Send(buffer.data(), bytes, MPI_CHAR, receiver, 3, MPI_COMM_WORLD);
  }
  operation();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(is_sanitized ? 20 : 2));
  if (world_rank() == receiver) {
    EXPECT_EQ(buffer, std::vector<char>(bytes, 'x'));
  }
}

/// `operation` between the first and the last rank in both directions.
void both_directions(char const* what, std::function<void()> const& operation) {
  SCOPED_TRACE(what);
  int const last = world_size() - 1;
  send_into(0, last, operation);
  send_into(last, 0, operation);
  if (last > 1) send_into(1, last, operation);
}

TEST(LegalProgram, SendsIntoRanksThatWait) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    for (std::size_t const count : {1, 500000}) {
      std::vector<std::int64_t> data(count);
      both_directions("all_reduce", [&] {
        data.assign(count, comm.rank() + 1);
        comm.all_reduce(std::span(data));
        std::int64_t const size = comm.size();
        EXPECT_EQ(data, std::vector<std::int64_t>(count, size * (size + 1) / 2));
      });
      for (int const root : {0, comm.size() - 1})
        both_directions("broadcast", [&] {
          data.assign(count, comm.rank() == root ? 4711 : 0);
          comm.broadcast(data.data(), count, root);
          EXPECT_EQ(data, std::vector<std::int64_t>(count, 4711));
        });
    }
    both_directions("barrier", [&] { comm.barrier(); });
    comm.close();
  }
}

TEST(LegalProgram, SendsIntoRanksThatStartOrClose) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    both_directions("start and close", [&] {
      Communicator comm = open(way);
      comm.close();
    });
    std::vector<Communicator> several;
    for (int i = 0; i < 3; ++i) several.push_back(open(way));
    both_directions("close", [&] {
      several.back().close();
      several.pop_back();
    });
    for (Communicator& comm : several) comm.close();
  }
}

}  // namespace
}  // namespace berth::test

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0

// What is refused: parents, arguments, variables and options; always the same on every rank.
#include <sched.h>
#include <unistd.h>

#include <comm/data.hpp>
#include <comm/world.hpp>
#include <sys/resource.h>

namespace berth::test {
namespace {

/// Options that do not bind, everything else from the environment.
Options plain() {
  Options options;
  options.bind = false;
  return options;
}

/// A start-up that is expected to end with `code`; all ranks tell.
std::vector<Outcome> start(Options const& options, MPI_Comm parent = MPI_COMM_WORLD) {
  Outcome const mine = outcome_of([&] {
    Communicator comm(parent, options);
    comm.close();
  });
  return gather(mine);
}

/// The world still works.
void expect_usable() {
  Communicator comm = open(ways[0]);
  std::int32_t one = 1;
  comm.all_reduce(std::span(&one, 1));
  EXPECT_EQ(one, world_size());
  comm.close();
}

int last() {
  return world_size() - 1;
}

std::string rank_text(int rank) {
  return "rank " + std::to_string(rank);
}

TEST(Refusals, NullCommunicator) {
  std::vector<Outcome> const all = start(plain(), MPI_COMM_NULL);
  EXPECT_TRUE(agreed(all, Errc::invalid_argument, 2)) << "MPI_COMM_NULL";
  EXPECT_NE(all[0].text.find("MPI_COMM_NULL"), std::string::npos) << all[0].text;
}

TEST(Refusals, InterCommunicators) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm inter = MPI_COMM_NULL;
  int const side = world_rank() == 0 ? 0 : 1;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 1 : 0, 17, &inter);
  std::vector<Outcome> const all = start(plain(), inter);
  EXPECT_TRUE(equal(all));
  EXPECT_TRUE(all[0].errc() == Errc::unsupported || all[0].errc() == Errc::invalid_argument)
      << describe(all);
  EXPECT_NE(all[0].text.find("inter"), std::string::npos) << all[0].text;
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
  expect_usable();
}

/// Every rank makes the same bad call: each is told so at once, and the communicator goes on.
void expect_invalid(Communicator& comm, char const* what, std::function<void()> const& call) {
  std::vector<Outcome> const all = gather(outcome_of(call));
  for (Outcome const& one : all) {
    EXPECT_EQ(one.errc(), Errc::invalid_argument) << what << describe(all);
    EXPECT_LT(one.seconds, 2) << what;
    EXPECT_EQ(one.text.find('\n'), std::string::npos) << one.text;
  }
  std::int32_t one = 1;
  Outcome const after = outcome_of([&] { comm.all_reduce(std::span(&one, 1)); });
  EXPECT_EQ(after.code, 0) << "after " << what << ": " << after.text;
  EXPECT_EQ(one, comm.size());
}

TEST(Refusals, BadArgumentsOfCollectives) {
  for (Way const& way : ways) {
    SCOPED_TRACE(way.name);
    Communicator comm = open(way);
    std::vector<double> data(100);
    void* const start = data.data();
    void* const inside = data.data() + 5;
    int const size = comm.size();
    auto const bad = [&](char const* what, std::function<void()> const& call) {
      expect_invalid(comm, what, call);
    };
    using enum Type;
    bad("null input", [&] { comm.all_reduce(nullptr, start, 1, float32, Op::sum); });
    bad("null output", [&] { comm.all_reduce(start, nullptr, 1, float32, Op::sum); });
    bad("null both", [&] { comm.all_reduce(nullptr, nullptr, 1, float32, Op::sum); });
    bad("null buffer", [&] { comm.broadcast(nullptr, 1, float32, 0); });
    bad("overlap", [&] { comm.all_reduce(start, inside, 10, float64, Op::sum); });
    bad("overlap from below", [&] { comm.all_reduce(inside, start, 10, float64, Op::sum); });
    bad("overlap of one byte",
        [&] { comm.all_reduce(start, static_cast<char*>(start) + 79, 10, float64, Op::sum); });
    bad("root too large", [&] { comm.broadcast(start, 1, float32, size); });
    bad("root negative", [&] { comm.broadcast(start, 1, float32, -1); });
    bad("root bad with nothing to send", [&] { comm.broadcast(nullptr, 0, float32, size); });
    bad("no such type",
        [&] { comm.all_reduce(start, start, 1, static_cast<Type>(type_count), Op::sum); });
    bad("no such type", [&] { comm.broadcast(start, 1, static_cast<Type>(200), 0); });
    bad("no such operation",
        [&] { comm.all_reduce(start, start, 1, float64, static_cast<Op>(op_count)); });
    bad("no such operation",
        [&] { comm.reduce_scatter(start, start, 1, float64, static_cast<Op>(op_count)); });
    bad("null of all_gather", [&] { comm.all_gather(nullptr, start, 1, float64); });
    bad("null of all_to_all", [&] { comm.all_to_all(start, nullptr, 1, float64); });
    bad("null of reduce_scatter",
        [&] { comm.reduce_scatter(nullptr, start, 1, float64, Op::avg); });
    bad("root of reduce", [&] { comm.reduce(start, start, 1, float64, Op::sum, size); });
    bad("receiver", [&] { comm.send(start, 1, float64, size); });
    bad("sender", [&] { comm.receive(start, 1, float64, -1); });
    bad("no group", [&] { comm.group_end(); });
    bad("more bytes than there are",
        [&] { comm.all_reduce(start, start, static_cast<std::size_t>(-1) / 4, float64, Op::sum); });
    comm.all_reduce(start, inside, 5, float64, Op::sum);  // neighbours are no overlap
    comm.close();
  }
}

/// `value` for `name` on the last rank only, read by all.
void expect_bad_variable(char const* name, char const* value) {
  SCOPED_TRACE(std::string(name) + "=" + value);
  std::optional<Variable> variable;
  if (world_rank() == last()) variable.emplace(name, value);
  Options options = plain();
  if (name == std::string("BERTH_BIND")) options.bind.reset();
  std::vector<Outcome> const all = start(options);
  EXPECT_TRUE(agreed(all, Errc::bad_configuration, 5));
  EXPECT_EQ(all[0].rank, last()) << all[0].text;
  std::string const text = std::string(name) + "=" + value;
  for (std::string const& part : {text, rank_text(last()) + "@"})
    EXPECT_NE(all[0].text.find(part), std::string::npos) << "no " << part << " in " << all[0].text;
}

TEST(Refusals, BadVariableOnOneRank) {
  expect_bad_variable("BERTH_BACKEND", "gpu");
  expect_bad_variable("BERTH_BACKEND", "CPU");
  expect_bad_variable("BERTH_BIND", "perhaps");
  expect_bad_variable("BERTH_ON_LOST", "panic");
  expect_bad_variable("BERTH_INIT_DEADLINE", "soon");
  expect_bad_variable("BERTH_INIT_DEADLINE", "-3s");
  expect_bad_variable("BERTH_OP_DEADLINE", "3 parsecs");
  expect_bad_variable("BERTH_OP_DEADLINE", "0");
  expect_bad_variable("BERTH_LOG", "loud");
  expect_bad_variable("BERTH_SHARED_MEMORY", "sysv");
  expect_usable();
}

TEST(Refusals, UnknownVariableOnOneRank) {
  for (int const rank : {0, last()}) {
    std::optional<Variable> variable;
    if (world_rank() == rank) variable.emplace("BERTH_OP_DEADLIN", "3s");
    std::vector<Outcome> const all = start(plain());
    EXPECT_TRUE(agreed(all, Errc::bad_configuration, 5));
    EXPECT_EQ(all[0].rank, rank);
    EXPECT_NE(all[0].text.find("BERTH_OP_DEADLIN "), std::string::npos) << all[0].text;
    EXPECT_NE(all[0].text.find("BERTH_OP_DEADLINE"), std::string::npos)
        << "the nearest known name is not offered: " << all[0].text;
  }
}

TEST(Refusals, EmptyVariableOnOneRank) {
  std::optional<Variable> variable;
  if (world_rank() == last()) variable.emplace("BERTH_BACKEND", "");
  std::vector<Outcome> const all = start(plain());
  EXPECT_TRUE(agreed(all, Errc::bad_configuration, 5));
  EXPECT_EQ(all[0].rank, last());
}

TEST(Refusals, TheFirstOfSeveralBadRanksIsNamed) {
  Variable const variable("BERTH_BACKEND", world_rank() % 2 == 0 ? "zero" : "one");
  std::vector<Outcome> const all = start(plain());
  EXPECT_TRUE(agreed(all, Errc::bad_configuration, 5));
  EXPECT_EQ(all[0].rank, 0) << all[0].text;
}

TEST(Refusals, BadVariableInAPartOfTheWorld) {
  // Ranks in reverse order: the rank that is named is the parent's.
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &part);
  std::optional<Variable> variable;
  if (world_rank() == 0) variable.emplace("BERTH_LOG", "x");
  std::vector<Outcome> const all = start(plain(), part);
  EXPECT_TRUE(agreed(all, Errc::bad_configuration, 5));
  EXPECT_EQ(all[0].rank, last());
  MPI_Comm_free(&part);
}

/// An error that names the last rank as the odd one; of two ranks either may be it.
void expect_odd_last(std::vector<Outcome> const& all) {
  if (world_rank() != 0) return;  // all ranks know the same
  EXPECT_TRUE(agreed(all, Errc::mismatch, 5));
  if (world_size() > 2) {
    EXPECT_EQ(all[0].rank, last()) << all[0].text;
  }
  EXPECT_NE(all[0].text.find(rank_text(last())), std::string::npos) << all[0].text;
}

/// Options that only the last rank has are an error that names it.
void expect_mismatch(char const* what, Options const& odd) {
  if (world_size() == 1) return;
  SCOPED_TRACE(what);
  Options common = plain();
  common.backend = Backend::cpu;
  std::vector<Outcome> const all = start(world_rank() == last() ? odd : common);
  expect_odd_last(all);
}

TEST(Refusals, OptionsThatDiffer) {
  using namespace std::chrono_literals;
  Options common = plain();
  common.backend = Backend::cpu;
  Options odd = common;
  odd.backend = Backend::mpi;
  expect_mismatch("backend", odd);
  odd = common;
  odd.bind = true;
  expect_mismatch("bind", odd);
  odd = common;
  odd.on_lost = OnLost::exit;
  expect_mismatch("on_lost", odd);
  odd = common;
  odd.init_deadline = 61s;
  expect_mismatch("init_deadline", odd);
  odd = common;
  odd.op_deadline = 61s;
  expect_mismatch("op_deadline", odd);
  expect_usable();
}

TEST(Refusals, VariablesThatDiffer) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  for (auto const& [name, value] : std::vector<std::pair<char const*, char const*>>{
           {"BERTH_OP_DEADLINE", "7s"}, {"BERTH_INIT_DEADLINE", "7s"}, {"BERTH_BACKEND", "mpi"}}) {
    SCOPED_TRACE(name);
    std::optional<Variable> variable;
    if (world_rank() == last()) variable.emplace(name, value);
    std::vector<Outcome> const all = start(plain());
    expect_odd_last(all);
  }
  expect_usable();
}

TEST(Refusals, SharedMemoryOnSomeRanksOnlyIsNoHang) {
  for (char const* const value : {"none", "shm_open"}) {
    std::optional<Variable> variable;
    if (world_rank() == last()) variable.emplace("BERTH_SHARED_MEMORY", value);
    std::vector<Outcome> const all = start(plain());
    EXPECT_TRUE(equal(all)) << value;
  }
  expect_usable();
}

/// A deadline that cannot be used is refused, not taken for another.
TEST(Refusals, DeadlinesThatAreNone) {
  using namespace std::chrono_literals;
  for (auto const deadline : {0ms, -5ms}) {
    Options options = plain();
    options.op_deadline = deadline;
    std::vector<Outcome> const all = start(options);
    EXPECT_TRUE(equal(all));
    EXPECT_TRUE(all[0].errc() == Errc::bad_configuration || all[0].errc() == Errc::invalid_argument)
        << describe(all);
  }
  expect_usable();
}

/// Sets a soft limit on the last rank; restores it.
class Limit {
 public:
  Limit(bool here, __rlimit_resource resource, rlim_t value) : here_(here), resource_(resource) {
    getrlimit(resource_, &old_);
    rlimit const lowered = {value, old_.rlim_max};
    if (here_) setrlimit(resource_, &lowered);
  }
  Limit(Limit const&) = delete;
  Limit& operator=(Limit const&) = delete;
  ~Limit() {
    if (here_) setrlimit(resource_, &old_);
  }

 private:
  bool here_;
  __rlimit_resource resource_;
  rlimit old_ = {};
};

/// Works, perhaps by another road, or fails: but the same everywhere, and right.
void expect_same_end(char const* what) {
  Options options = plain();
  options.init_deadline = std::chrono::seconds(10);
  options.op_deadline = std::chrono::seconds(10);
  bool right = true;
  Outcome const mine = outcome_of([&] {
    Communicator comm(MPI_COMM_WORLD, options);
    std::vector<std::int32_t> data(70001, comm.rank() + 1);
    comm.all_reduce(std::span(data));
    right = data == std::vector<std::int32_t>(70001, comm.size() * (comm.size() + 1) / 2);
    comm.close();
  });
  std::vector<Outcome> const all = gather(mine);
  EXPECT_TRUE(equal(all)) << what;
  EXPECT_TRUE(right) << what;
  if (all[0].code != 0 && world_rank() == 0) {
    EXPECT_EQ(all[0].rank, last()) << what << describe(all);
    EXPECT_TRUE(all[0].errc() == Errc::system || all[0].errc() == Errc::out_of_memory)
        << what << describe(all);
  }
}

TEST(Refusals, NoDescriptorsLeftOnOneRank) {
  for (rlim_t const spare : {0, 1, 2, 3, 5, 8}) {
    int const used = dup(0);
    close(used);
    Limit const limit(world_rank() == last(), RLIMIT_NOFILE, static_cast<rlim_t>(used) + spare);
    expect_same_end(("descriptors left: " + std::to_string(spare)).c_str());
  }
  expect_usable();
}

TEST(Refusals, OneProcessorForEveryone) {
  cpu_set_t old;
  sched_getaffinity(0, sizeof old, &old);
  cpu_set_t one;
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &old)) ++first;
  CPU_SET(first, &one);
  sched_setaffinity(0, sizeof one, &one);
  expect_same_end("one processor");
  sched_setaffinity(0, sizeof old, &old);
}

TEST(Refusals, OneProcessorForOneRank) {
  cpu_set_t old;
  sched_getaffinity(0, sizeof old, &old);
  cpu_set_t one;
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &old)) ++first;
  CPU_SET(first, &one);
  if (world_rank() == last()) sched_setaffinity(0, sizeof one, &one);
  expect_same_end("one processor");
  sched_setaffinity(0, sizeof old, &old);
}

}  // namespace
}  // namespace berth::test

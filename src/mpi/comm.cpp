// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <climits>
#include <cstring>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/text.hpp>
#include <mpi/comm.hpp>
#include <mpi/parcel.hpp>

namespace berth::mpi {

void check(int result, char const* call) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (PMPI_Error_string(result, text.data(), &length) != MPI_SUCCESS) length = 0;
  base::fail(Errc::mpi, fmt::format("{}: {}", call,
                                    base::printable(std::string_view(
                                        text.data(), static_cast<std::size_t>(length)))));
}

Session::Session() {
  int finalized = 0;
  check(PMPI_Finalized(&finalized), "MPI_Finalized");
  if (finalized != 0) {
    base::fail(Errc::unsupported,
               "MPI is already finalised; make the communicator before MPI_Finalize");
  }
  int initialized = 0;
  check(PMPI_Initialized(&initialized), "MPI_Initialized");
  if (initialized != 0) return;
  int provided = MPI_THREAD_SINGLE;
  check(PMPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  began_ = true;
}

void Session::finalize() {
  if (!began_ || !is_active()) return;
  began_ = false;
  check(PMPI_Finalize(), "MPI_Finalize");
}

bool Session::is_active() noexcept {
  int initialized = 0;
  int finalized = 0;
  return PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized != 0 &&
         PMPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0;
}

bool Request::test() {
  if (request_ == MPI_REQUEST_NULL) return true;
  int done = 0;
  check(PMPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

namespace {

constexpr int note_tag = 91;

int as_int(std::size_t bytes) {
  if (bytes > INT_MAX) base::fail(Errc::internal, "an MPI message above 2 GiB");
  return static_cast<int>(bytes);
}

}  // namespace

Comm::Comm(Comm&& other) noexcept : handle_(other.handle_), rank_(other.rank_), size_(other.size_) {
  other.handle_ = MPI_COMM_NULL;
}

Comm& Comm::operator=(Comm&& other) noexcept {
  handle_ = other.handle_;
  rank_ = other.rank_;
  size_ = other.size_;
  other.handle_ = MPI_COMM_NULL;
  return *this;
}

Comm Comm::duplicate(MPI_Comm parent, base::Patience& patience) {
  if (parent == MPI_COMM_NULL) {
    base::fail(Errc::invalid_argument, "the communicator is MPI_COMM_NULL");
  }
  int inter = 0;
  check(PMPI_Comm_test_inter(parent, &inter), "MPI_Comm_test_inter");
  if (inter != 0) {
    base::fail(Errc::invalid_argument, "inter-communicators are not supported; merge it first");
  }
  Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  // MPI writes the handle until the request is complete, so it lives on the heap and is leaked when
  // the wait ends with an error.
  auto* handle = new MPI_Comm(MPI_COMM_NULL);
  check(PMPI_Comm_idup(parent, handle, &request), "MPI_Comm_idup");
  finish(Request(request), patience);
  comm.handle_ = *handle;
  delete handle;
  check(PMPI_Comm_set_errhandler(comm.handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(PMPI_Comm_rank(comm.handle_, &comm.rank_), "MPI_Comm_rank");
  check(PMPI_Comm_size(comm.handle_, &comm.size_), "MPI_Comm_size");
  return comm;
}

void Comm::free() {
  if (handle_ == MPI_COMM_NULL || !Session::is_active()) return;
  check(PMPI_Comm_free(&handle_), "MPI_Comm_free");
}

Request Comm::send(void const* data, std::size_t bytes, int to, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Isend(data, as_int(bytes), MPI_BYTE, to, tag, handle_, &request), "MPI_Isend");
  return Request(request);
}

Request Comm::receive(void* data, std::size_t bytes, int from, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Irecv(data, as_int(bytes), MPI_BYTE, from, tag, handle_, &request), "MPI_Irecv");
  return Request(request);
}

Comm::Note::Note(Errc reason, int at_fault, char const* message) noexcept
    : code(static_cast<int>(reason)), rank(at_fault) {
  std::strncpy(kind, reason == Errc::lost ? "silent" : errc_name(reason), sizeof kind - 1);
  std::strncpy(text, message, sizeof text - 1);
}

std::optional<Comm::Note> Comm::progress() const noexcept {
  if (handle_ == MPI_COMM_NULL) return {};
  // MPI's progress is global, so the probe for notes serves every pending transfer.
  int found = 0;
  MPI_Status status;
  if (PMPI_Iprobe(MPI_ANY_SOURCE, note_tag, handle_, &found, &status) != MPI_SUCCESS) return {};
  if (found == 0) return {};
  Note note;
  int const got = PMPI_Recv(&note, sizeof note, MPI_BYTE, status.MPI_SOURCE, note_tag, handle_,
                            MPI_STATUS_IGNORE);
  if (got != MPI_SUCCESS) return {};
  return note;
}

void Comm::send_note(Note const& note, int to) const noexcept {
  if (handle_ == MPI_COMM_NULL || !Session::is_active()) return;
  // Nobody will wait for it, so MPI keeps the copy for good.
  auto* const kept = new (std::nothrow) Note(note);
  MPI_Request request = MPI_REQUEST_NULL;
  if (kept == nullptr) return;
  PMPI_Isend(kept, sizeof *kept, MPI_BYTE, to, note_tag, handle_, &request);
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): see above

void Comm::all_gather(void const* in, std::size_t bytes, void* out,
                      base::Patience& patience) const {
  std::size_t const total = bytes * static_cast<std::size_t>(size_);
  Parcel parcel(bytes + total);
  std::memcpy(parcel.data(), in, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Iallgather(parcel.data(), as_int(bytes), MPI_BYTE, parcel.data() + bytes,
                        as_int(bytes), MPI_BYTE, handle_, &request),
        "MPI_Iallgather");
  parcel.deliver(Request(request), patience);
  std::memcpy(out, parcel.data() + bytes, total);
}

void Comm::broadcast(void* data, std::size_t bytes, int root, base::Patience& patience) const {
  Parcel parcel(bytes);
  if (rank_ == root) std::memcpy(parcel.data(), data, bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibcast(parcel.data(), as_int(bytes), MPI_BYTE, root, handle_, &request), "MPI_Ibcast");
  parcel.deliver(Request(request), patience, rank_ == root ? -1 : root);
  if (rank_ != root) std::memcpy(data, parcel.data(), bytes);
}

Request Comm::start_barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Ibarrier(handle_, &request), "MPI_Ibarrier");
  return Request(request);
}

void Comm::barrier(base::Patience& patience) const {
  finish(start_barrier(), patience);
}

bool Comm::is_same(std::uint64_t value, base::Patience& patience) const {
  // The smallest value and the smallest complement: together they give the range in one step.
  std::uint64_t const mine[2] = {value, ~value};
  Parcel parcel(sizeof mine);
  std::memcpy(parcel.data(), mine, sizeof mine);
  MPI_Request request = MPI_REQUEST_NULL;
  check(PMPI_Iallreduce(MPI_IN_PLACE, parcel.data(), 2, MPI_UINT64_T, MPI_MIN, handle_, &request),
        "MPI_Iallreduce");
  parcel.deliver(Request(request), patience);
  std::uint64_t least[2] = {};
  std::memcpy(least, parcel.data(), sizeof least);
  return least[0] == ~least[1];
}

Agreed Comm::agree(Errc code, std::string const& text, base::Patience& patience) const {
  struct Vote {
    int failed;
    int rank;
  };
  Vote const mine{code == Errc::ok ? 0 : 1, rank_};
  Parcel parcel(2 * sizeof(Vote));
  std::memcpy(parcel.data(), &mine, sizeof mine);
  MPI_Request request = MPI_REQUEST_NULL;
  // MAXLOC gives the lowest rank among equals.
  check(PMPI_Iallreduce(parcel.data(), parcel.data() + sizeof(Vote), 1, MPI_2INT, MPI_MAXLOC,
                        handle_, &request),
        "MPI_Iallreduce");
  parcel.deliver(Request(request), patience);
  Vote all{};
  std::memcpy(&all, parcel.data() + sizeof(Vote), sizeof all);
  if (all.failed == 0) return {};
  struct {
    int code;
    char text[508];
  } message{};
  if (all.rank == rank_) {
    message.code = static_cast<int>(code);
    std::strncpy(message.text, text.c_str(), sizeof message.text - 1);
  }
  broadcast(&message, sizeof message, all.rank, patience);
  return {static_cast<Errc>(message.code), all.rank, message.text};
}

Comm::Locals Comm::split_by_host() const {
  MPI_Comm locals = MPI_COMM_NULL;
  check(PMPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &locals),
        "MPI_Comm_split_type");
  Locals result;
  check(PMPI_Comm_rank(locals, &result.rank), "MPI_Comm_rank");
  check(PMPI_Comm_size(locals, &result.size), "MPI_Comm_size");
  result.lowest = rank_;
  check(PMPI_Bcast(&result.lowest, 1, MPI_INT, 0, locals), "MPI_Bcast");
  check(PMPI_Comm_free(&locals), "MPI_Comm_free");
  return result;
}

MPI_Comm Comm::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  check(PMPI_Comm_split(handle_, color < 0 ? MPI_UNDEFINED : color, key, &part), "MPI_Comm_split");
  return part;
}

void free(MPI_Comm part) {
  check(PMPI_Comm_free(&part), "MPI_Comm_free");
}

std::vector<int> world_ranks(MPI_Comm parent) {
  int inter = 0;
  if (parent == MPI_COMM_NULL) return {};
  check(PMPI_Comm_test_inter(parent, &inter), "MPI_Comm_test_inter");
  if (inter != 0) return {};
  MPI_Group members = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  int size = 0;
  check(PMPI_Comm_group(parent, &members), "MPI_Comm_group");
  check(PMPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(PMPI_Group_size(members, &size), "MPI_Group_size");
  std::vector<int> own(static_cast<std::size_t>(size));
  std::iota(own.begin(), own.end(), 0);
  std::vector<int> ranks(own.size());
  check(PMPI_Group_translate_ranks(members, size, own.data(), world, ranks.data()),
        "MPI_Group_translate_ranks");
  check(PMPI_Group_free(&members), "MPI_Group_free");
  check(PMPI_Group_free(&world), "MPI_Group_free");
  return ranks;
}

int world_size() {
  int size = 0;
  check(PMPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return size;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown MPI";
  std::string_view whole(text.data(), static_cast<std::size_t>(length));
  // "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n...": the first line, up to a
  // comma.
  std::string line(whole.substr(0, whole.find_first_of(",\n")));
  for (char& c : line) {
    if (c == '\t') c = ' ';
  }
  return base::printable(base::trim(line));
}

}  // namespace berth::mpi

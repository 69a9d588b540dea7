// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <base/error.hpp>
#include <base/names.hpp>
#include <comm/impl.hpp>

// The public class: every call goes to Impl.

namespace berth {

using model::Collective;

Communicator::Communicator(MPI_Comm parent, Options const& options)
    : impl_(std::make_unique<Impl>(parent, options, comm::Seams{})) {}

Communicator::Communicator(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

int Communicator::rank() const noexcept {
  return impl_->rank();
}
int Communicator::size() const noexcept {
  return impl_->size();
}
int Communicator::hosts() const noexcept {
  return static_cast<int>(impl_->host_names().size());
}

std::string const& Communicator::host(int rank) const {
  if (rank < 0 || rank >= size()) {
    base::fail(Errc::invalid_argument, fmt::format("host of rank {} of {} ranks", rank, size()));
  }
  auto const host = static_cast<std::size_t>(impl_->host_of_rank()[static_cast<std::size_t>(rank)]);
  return impl_->host_names()[host];
}

Backend Communicator::backend() const noexcept {
  return impl_->backend_kind();
}
Placement const& Communicator::placement() const noexcept {
  return impl_->placement();
}
std::vector<PhaseTime> const& Communicator::phases() const noexcept {
  return impl_->phases();
}

std::string Communicator::summary() const {
  double const total =
      std::accumulate(phases().begin(), phases().end(), 0.0,
                      [](double sum, PhaseTime const& phase) { return sum + phase.seconds; });
  return fmt::format("berth: {} rank{} on {} host{}, {}, {}, ready in {:.3f} s", size(),
                     size() == 1 ? "" : "s", hosts(), hosts() == 1 ? "" : "s",
                     base::name(backend()),
                     placement().flags.empty() ? "this rank in its berth"
                                               : "this rank in its berth with a compromise",
                     total);
}

void Communicator::all_reduce(void const* in, void* out, std::size_t count, Type type, Op op) {
  impl_->call({Collective::all_reduce, in, out, count, type, op, -1});
}

void Communicator::reduce(void const* in, void* out, std::size_t count, Type type, Op op,
                          int root) {
  impl_->call({Collective::reduce, in, out, count, type, op, root});
}

void Communicator::broadcast(void* buffer, std::size_t count, Type type, int root) {
  impl_->call({Collective::broadcast, buffer, buffer, count, type, Op::sum, root});
}

void Communicator::all_gather(void const* in, void* out, std::size_t count, Type type) {
  impl_->call({Collective::all_gather, in, out, count, type, Op::sum, -1});
}

void Communicator::reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op) {
  impl_->call({Collective::reduce_scatter, in, out, count, type, op, -1});
}

void Communicator::all_to_all(void const* in, void* out, std::size_t count, Type type) {
  impl_->call({Collective::all_to_all, in, out, count, type, Op::sum, -1});
}

void Communicator::barrier() {
  impl_->call({Collective::barrier, nullptr, nullptr, 0, Type::int32, Op::sum, -1});
}

void Communicator::send(void const* in, std::size_t count, Type type, int to) {
  impl_->call(coll::Message{true, to, type, count, in, nullptr});
}

void Communicator::receive(void* out, std::size_t count, Type type, int from) {
  impl_->call(coll::Message{false, from, type, count, nullptr, out});
}

void Communicator::all_reduce(void const* in, void* out, std::size_t count, Type type, Op op,
                              Stream stream) {
  impl_->call(comm::Call{Collective::all_reduce, in, out, count, type, op, -1}, stream);
}

void Communicator::reduce(void const* in, void* out, std::size_t count, Type type, Op op, int root,
                          Stream stream) {
  impl_->call(comm::Call{Collective::reduce, in, out, count, type, op, root}, stream);
}

void Communicator::broadcast(void* buffer, std::size_t count, Type type, int root, Stream stream) {
  impl_->call(comm::Call{Collective::broadcast, buffer, buffer, count, type, Op::sum, root},
              stream);
}

void Communicator::all_gather(void const* in, void* out, std::size_t count, Type type,
                              Stream stream) {
  impl_->call(comm::Call{Collective::all_gather, in, out, count, type, Op::sum, -1}, stream);
}

void Communicator::reduce_scatter(void const* in, void* out, std::size_t count, Type type, Op op,
                                  Stream stream) {
  impl_->call(comm::Call{Collective::reduce_scatter, in, out, count, type, op, -1}, stream);
}

void Communicator::all_to_all(void const* in, void* out, std::size_t count, Type type,
                              Stream stream) {
  impl_->call(comm::Call{Collective::all_to_all, in, out, count, type, Op::sum, -1}, stream);
}

void Communicator::send(void const* in, std::size_t count, Type type, int to, Stream stream) {
  impl_->call(coll::Message{true, to, type, count, in, nullptr}, stream);
}

void Communicator::receive(void* out, std::size_t count, Type type, int from, Stream stream) {
  impl_->call(coll::Message{false, from, type, count, nullptr, out}, stream);
}

void Communicator::wait(Stream stream, std::optional<std::chrono::milliseconds> deadline) {
  impl_->wait(stream, deadline);
}

ncclComm* Communicator::native_nccl() const noexcept {
  return static_cast<ncclComm*>(impl_->native_nccl());
}

void Communicator::group_start() {
  impl_->group_start();
}
void Communicator::group_end() {
  impl_->group_end();
}

Request Communicator::all_reduce_async(void const* in, void* out, std::size_t count, Type type,
                                       Op op) {
  return {*this, impl_->start({Collective::all_reduce, in, out, count, type, op, -1})};
}

Request Communicator::reduce_async(void const* in, void* out, std::size_t count, Type type, Op op,
                                   int root) {
  return {*this, impl_->start({Collective::reduce, in, out, count, type, op, root})};
}

Request Communicator::broadcast_async(void* buffer, std::size_t count, Type type, int root) {
  return {*this, impl_->start({Collective::broadcast, buffer, buffer, count, type, Op::sum, root})};
}

Request Communicator::all_gather_async(void const* in, void* out, std::size_t count, Type type) {
  return {*this, impl_->start({Collective::all_gather, in, out, count, type, Op::sum, -1})};
}

Request Communicator::reduce_scatter_async(void const* in, void* out, std::size_t count, Type type,
                                           Op op) {
  return {*this, impl_->start({Collective::reduce_scatter, in, out, count, type, op, -1})};
}

Request Communicator::all_to_all_async(void const* in, void* out, std::size_t count, Type type) {
  return {*this, impl_->start({Collective::all_to_all, in, out, count, type, Op::sum, -1})};
}

Request Communicator::barrier_async() {
  return {*this,
          impl_->start({Collective::barrier, nullptr, nullptr, 0, Type::int32, Op::sum, -1})};
}

Request::Request(Communicator& communicator, unsigned long long ticket)
    : impl_(&communicator.impl()), ticket_(ticket) {}

bool Request::test() {
  return static_cast<Communicator::Impl*>(impl_)->queue().test(ticket_);
}

void Request::wait() {
  static_cast<Communicator::Impl*>(impl_)->queue().wait(ticket_);
}

std::optional<Communicator> Communicator::split(int color, int key) {
  std::unique_ptr<Impl> part = impl_->split(color, key);
  if (!part) return std::nullopt;
  return std::optional<Communicator>(std::in_place, std::move(part));
}

void Communicator::abort() noexcept {
  impl_->abort();
}
void Communicator::close() {
  impl_->close();
}

}  // namespace berth

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
  impl_->all_reduce(impl_->backend(), in, out, count, type, op);
}

void Communicator::broadcast(void* buffer, std::size_t count, Type type, int root) {
  impl_->broadcast(impl_->backend(), buffer, count, type, root);
}

void Communicator::barrier() {
  impl_->barrier(impl_->backend());
}

void Communicator::abort() noexcept {
  impl_->abort();
}
void Communicator::close() {
  impl_->close();
}

}  // namespace berth

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <base/patience.hpp>
#include <mpi/comm.hpp>

namespace berth::mpi {

/// Waits for `request`; when the wait ends with an error the request is left to itself.
inline void finish(Request request, base::Patience& patience, int peer = -1) {
  patience.until([&] { return request.test(); }, peer);
}

/// Buffers of one nonblocking collective. MPI may write to them for as long as the operation is
/// pending, so they outlive a wait that ended with an error: freed only when it was delivered.
class Parcel {
 public:
  explicit Parcel(std::size_t bytes) : bytes_(new std::vector<std::byte>(bytes)) {}
  Parcel(Parcel const&) = delete;
  Parcel& operator=(Parcel const&) = delete;
  ~Parcel() = default;
  [[nodiscard]] std::byte* data() const { return bytes_->data(); }
  void deliver(Request request, base::Patience& patience, int peer = -1) {
    finish(std::move(request), patience, peer);
    delivered_.reset(bytes_);
  }

 private:
  std::vector<std::byte>* bytes_;
  std::unique_ptr<std::vector<std::byte>> delivered_;
};

}  // namespace berth::mpi

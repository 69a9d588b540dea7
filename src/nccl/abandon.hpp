// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <nccl/api.hpp>

#include <base/log.hpp>

namespace berth::nccl {

/// Ends a communicator whose peers may be gone: ncclCommAbort, which frees the streams that wait in
/// it, on a thread of its own and waited for no longer than its deadline (it took up to 0.64 s
/// where measured, and can hang). Null: nothing to do. Never throws.
void abandon(std::shared_ptr<Library const> library, ncclComm_t comm,
             base::Log const& log) noexcept;

}  // namespace berth::nccl

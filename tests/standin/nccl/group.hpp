// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// Group calls: what a thread asks for between ncclGroupStart and ncclGroupEnd starts together.
#pragma once

#include <memory>

#include "communicator.hpp"
#include "nccl_api.hpp"
#include "operation.hpp"

namespace standin {

void group_start();
ncclResult_t group_end();

/// Ends the group without starting anything.
ncclResult_t group_drop();

/// Adds an operation to the thread's group, or starts it at once when there is none.
ncclResult_t enqueue(std::shared_ptr<Communicator> const& communicator, Operation const& operation);

/// To be called after start_job: waits for it when the communicator is blocking, at the end of the
/// group when there is one. ncclInProgress: the caller has to poll.
ncclResult_t after_job(std::shared_ptr<Communicator> const& communicator);

/// Makes the thread's group fail when it ends; the same result.
ncclResult_t spoil_group(ncclResult_t error);

}  // namespace standin

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
/// NCCL's RAS service: a listener in each process that has a communicator, where anybody can ask
/// how the ranks of its communicators stand.
#pragma once

#include <string>

namespace standin {

/// A communicator lives, or is about to end. The first starts the listener, the last ends it.
void ras_enter();
void ras_leave();

/// The answer to a status request, about every communicator that this process belongs to.
std::string ras_json();
std::string ras_text(bool verbose);

}  // namespace standin

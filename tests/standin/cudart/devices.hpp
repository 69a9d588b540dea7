// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::standin {

int device_count();
/// The device that the calling thread has chosen; 0 at first.
int current_device();
void require_device(int device);

}  // namespace berth::standin

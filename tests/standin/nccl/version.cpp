// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "nccl_api.hpp"
#include "settings.hpp"

namespace standin {
int const built_version = NCCL_VERSION_CODE;
}  // namespace standin

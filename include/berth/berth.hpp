// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Everything: include this.
#include <berth/communicator.hpp>
#include <berth/error.hpp>
#include <berth/finding.hpp>
#include <berth/options.hpp>
#include <berth/placement.hpp>
#include <berth/run_main.hpp>
#include <berth/types.hpp>
#include <berth/verify.hpp>
#include <berth/version.hpp>

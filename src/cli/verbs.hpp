// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <base/env.hpp>
#include <cli/arguments.hpp>
#include <cli/job.hpp>
#include <cli/output.hpp>

/// One function per verb. Each returns the exit code and throws Error.
namespace berth::cli {

/// Local.
int info(base::Environment const& environment, Output& output);
/// Local: the plan for machines that are described.
int map_imagined(MapArguments const& arguments, base::Environment const& environment,
                 Output& output);
/// Collective: the places of the ranks that run.
int map_live(Job& job, MapArguments const& arguments, Output& output);
/// Collective.
int verify(Job& job, VerifyOptions const& options, Output& output);
/// Collective.
int bench(Job& job, Arguments const& arguments, Output& output);

}  // namespace berth::cli

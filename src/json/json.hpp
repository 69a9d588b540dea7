// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include <berth/errc.hpp>
#include <model/map.hpp>
#include <model/sweep.hpp>
#include <model/verdicts.hpp>

/// Model values as JSON documents, the contract of `--json`. Each document is one line with a
/// newline at its end, carries "schema": "berth.<verb>/1", has decimal points in any locale, and
/// shows bytes that are not UTF-8 as U+FFFD. Numbers that are not finite are null.
namespace berth::json {

/// "berth.verify/1". The list of hosts to drain is made from the findings.
std::string verify_document(model::VerifyReport const& report);
/// "berth.bench/1".
std::string bench_document(model::Sweep const& sweep);
/// "berth.map/1".
std::string map_document(model::MapReport const& report);
/// "berth.info/1".
std::string info_document(model::InfoReport const& report);
/// "berth.error/1": what is written instead of a result. `rank` -1 and an empty `host`: not known.
std::string error_document(Errc code, int rank, std::string_view host, std::string_view message);

/// Writes `text` to `path` under a temporary name beside it and renames, so that a reader never
/// sees half a document. A path that names something else than a regular file (/dev/null, a pipe
/// that is being read) is written directly.
/// @throws Error system naming the path and the reason
void write_document(std::string const& path, std::string const& text);

}  // namespace berth::json

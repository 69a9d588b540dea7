// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <nlohmann/json.hpp>

#include <base/names.hpp>
#include <berth/error.hpp>
#include <json/json.hpp>

namespace berth::json {
namespace {

/// Keeps the order of the fields, so that documents read as they are documented.
using Value = nlohmann::ordered_json;

std::string text_of(Value const& document) {
  return document.dump(-1, ' ', false, Value::error_handler_t::replace) + "\n";
}

/// Numbers from 0 on; -1, "not known" or "none", is null.
Value index(int value) {
  return value < 0 ? Value(nullptr) : Value(value);
}

/// A text; the empty one, "not known" or "none", is null.
Value word(std::string_view value) {
  return value.empty() ? Value(nullptr) : Value(value);
}

Value times(model::Times const& t) {
  return {{"median", t.median}, {"min", t.min}, {"p95", t.p95},
          {"p99", t.p99},       {"max", t.max}, {"ci95", {t.ci95_low, t.ci95_high}}};
}

Value measured(model::Measured const& m) {
  return {{"time_us", times(m.time_us)},
          {"algbw_gbps", m.algbw_gbps},
          {"busbw_gbps", m.busbw_gbps},
          {"wrong", m.wrong}};
}

Value compared(model::Compared const& c) {
  Value value = {{"backend", c.backend}};
  value.update(measured(c.measured));
  value["ratio"] = c.ratio;
  value["ratio_ci95"] = {c.ratio_ci95_low, c.ratio_ci95_high};
  return value;
}

Value result(model::Result const& r) {
  Value value = {{"collective", r.collective},
                 {"backend", r.backend},
                 {"size_bytes", r.size_bytes},
                 {"count", r.count},
                 {"type", base::name(r.type)},
                 {"op", base::name(r.op)},
                 {"root", r.root},
                 {"out_of_place", measured(r.out_of_place)},
                 {"in_place", measured(r.in_place)}};
  if (r.compare) value["compare"] = compared(*r.compare);
  return value;
}

Value finding(Finding const& f) {
  return {{"kind", f.kind},        {"rank", index(f.rank)}, {"host", word(f.host)},
          {"peer", index(f.peer)}, {"detail", f.detail},    {"drain", f.drain}};
}

Value device(model::MapDevice const& d) {
  return {{"bus_id", d.bus_id},
          {"partition", d.partition},
          {"vendor", word(d.vendor)},
          {"numa", index(d.numa)},
          {"index", index(d.index)}};
}

/// Only the path to the nearest card is known; the others are null.
Value nics(Placement const& placement) {
  Value list = Value::array();
  for (std::string const& name : placement.nics) {
    std::string_view const path = list.empty() ? std::string_view(placement.nic_path) : "";
    list.push_back({{"name", name}, {"path", word(path)}});
  }
  return list;
}

Value map_rank(model::MapRank const& r) {
  Placement const& p = r.placement;
  return {{"rank", r.rank},
          {"local_rank", p.local_rank},
          {"device", r.device ? device(*r.device) : Value(nullptr)},
          {"numa", index(p.numa_node)},
          {"cpus", p.cpus},
          {"cores", p.cores},
          {"memory_nodes", p.memory_nodes},
          {"nics", nics(p)},
          {"flags", p.flags},
          {"reason", p.reason},
          {"cost", p.cost}};
}

Value map_host(model::MapHost const& host) {
  Value ranks = Value::array();
  for (model::MapRank const& rank : host.ranks) ranks.push_back(map_rank(rank));
  return {{"name", host.name},
          {"topology", word(host.topology)},
          {"numa_nodes", host.numa_nodes},
          {"devices", host.devices},
          {"ranks", std::move(ranks)}};
}

}  // namespace

std::string verify_document(model::VerifyReport const& report) {
  Value phases = Value::array();
  for (PhaseTime const& phase : report.phases) {
    phases.push_back({{"name", phase.name}, {"seconds", phase.seconds}, {"note", phase.note}});
  }
  Value findings = Value::array();
  Value drain = Value::array();
  for (Finding const& f : report.findings) {
    findings.push_back(finding(f));
    if (f.drain && std::find(drain.begin(), drain.end(), Value(f.host)) == drain.end())
      drain.push_back(f.host);
  }
  return text_of({{"schema", "berth.verify/1"},
                  {"ok", report.ok},
                  {"ranks", report.ranks},
                  {"hosts", report.hosts},
                  {"backend", word(report.backend)},
                  {"phases", std::move(phases)},
                  {"findings", std::move(findings)},
                  {"drain", std::move(drain)}});
}

std::string bench_document(model::Sweep const& sweep) {
  Value results = Value::array();
  for (model::Result const& r : sweep.results) results.push_back(result(r));
  return text_of({{"schema", "berth.bench/1"},
                  {"version", sweep.version},
                  {"ranks", sweep.ranks},
                  {"hosts", sweep.hosts},
                  {"iterations", sweep.iterations},
                  {"graph", sweep.graph},
                  {"registered", sweep.is_registered},
                  {"results", std::move(results)}});
}

std::string map_document(model::MapReport const& report) {
  Value hosts = Value::array();
  for (model::MapHost const& host : report.hosts) hosts.push_back(map_host(host));
  return text_of(
      {{"schema", "berth.map/1"},
       {"cost", report.cost},
       {"launcher_cost", report.launcher_cost ? Value(*report.launcher_cost) : Value(nullptr)},
       {"hosts", std::move(hosts)}});
}

std::string info_document(model::InfoReport const& report) {
  Value settings = Value::array();
  for (model::InfoSetting const& setting : report.settings) {
    settings.push_back(
        {{"name", setting.name}, {"value", word(setting.value)}, {"origin", setting.origin}});
  }
  return text_of({{"schema", "berth.info/1"},
                  {"version", report.version},
                  {"mpi", word(report.mpi)},
                  {"hwloc", word(report.hwloc)},
                  {"cuda", word(report.cuda)},
                  {"nccl", word(report.nccl)},
                  {"compiler", word(report.compiler)},
                  {"host", word(report.host)},
                  {"kernels", word(report.kernels)},
                  {"shared_memory", word(report.shared_memory)},
                  {"backends", report.backends},
                  {"settings", std::move(settings)}});
}

std::string error_document(Errc code, int rank, std::string_view host, std::string_view message) {
  return text_of({{"schema", "berth.error/1"},
                  {"ok", false},
                  {"code", errc_name(code)},
                  {"exit_code", exit_code(code)},
                  {"rank", index(rank)},
                  {"host", word(host)},
                  {"message", message}});
}

}  // namespace berth::json

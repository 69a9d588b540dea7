// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <base/text.hpp>
#include <place/words.hpp>

namespace berth::place {
namespace {

std::string_view words(DeviceWhy why) {
  switch (why) {
    case DeviceWhy::order:
    case DeviceWhy::block:
      return " by bus id";
    case DeviceWhy::spread:
      return ", far from the others";
    case DeviceWhy::best_path:
      return ", best path to a card";
    case DeviceWhy::near_cores:
      return ", nearest to where it was bound";
    case DeviceWhy::visible:
      return ", matched with what each rank sees";
    case DeviceWhy::only_one:
      return ", the only one it sees";
    case DeviceWhy::caller:
      return ", set by the caller";
    case DeviceWhy::not_wanted:
    case DeviceWhy::sees_none:
      break;
  }
  return "";
}

std::string device_reason(model::Node const& node, DeviceChoice const& choice) {
  std::string text =
      fmt::format("device {} of {}{}", choice.device, node.devices.size(), words(choice.why));
  if (choice.sharers > 1) text += fmt::format(", shared by {} ranks", choice.sharers);
  return text;
}

std::string cores_reason(Decision const& made) {
  CoreShare const& share = made.share;
  if (share.pus.empty()) return "the processors are not known";
  bool const anywhere = made.device.device < 0 || made.unknown;
  std::string_view const kind = anywhere ? "allowed" : made.remote ? "nearest allowed" : "local";
  std::string text = fmt::format("{} of {} {} core{}", share.cores - share.filled_cores,
                                 share.domain, kind, share.domain == 1 ? "" : "s");
  if (made.sharers > 1) {
    text += fmt::format(", shared by {} ranks{}", made.sharers,
                        made.own_threads ? " with threads of their own" : "");
  }
  if (share.filled_cores > 0) text += fmt::format(", {} filled in", share.filled_cores);
  if (made.kept_binding) text += ", as bound before";
  return text;
}

}  // namespace

std::vector<std::string> flags_of(model::Node const& node, Decision const& made,
                                  model::PuSet const& affinity) {
  std::vector<std::string> flags;
  auto const add = [&](bool is_so, char const* flag) {
    if (is_so) flags.emplace_back(flag);
  };
  CoreShare const& share = made.share;
  add(made.device.why == DeviceWhy::caller, "kept-user-device");
  add(made.device.sharers > 1, "oversubscribed-device");
  add(made.sharers > 1, "cpu-shared");
  add(made.remote, "remote-cores");
  add(!share.filled.empty(), "filled");
  add(made.unknown, "no-locality");
  add(!made.memory.local, "no-local-memory");
  add(made.kept_binding, "kept-launcher-binding");
  model::PuSet const cpus = united(share.pus, share.filled);
  add(!affinity.empty() && !is_within(cpus, affinity), "rebound");
  if (!made.nics.nics.empty()) {
    bool const fabric = node.nics[static_cast<std::size_t>(made.nics.nics.front())].fabric;
    bool const far = made.nics.path == Path::sock || made.nics.path == Path::sys;
    add(fabric && far, "no-near-nic");
  }
  return flags;
}

std::string reason_of(model::Node const& node, Decision const& made) {
  std::vector<std::string> parts;
  if (made.device.device >= 0) parts.push_back(device_reason(node, made.device));
  if (made.device.why == DeviceWhy::sees_none) parts.emplace_back("it sees no device");
  parts.push_back(cores_reason(made));
  auto const& nics = made.nics.nics;
  if (!nics.empty()) {
    std::string const more = nics.size() > 1 ? fmt::format(" and {} more", nics.size() - 1) : "";
    parts.push_back(fmt::format("{}{} {}", node.nics[static_cast<std::size_t>(nics.front())].name,
                                more, path_words(made.nics.path)));
  }
  return base::join(parts, "; ");
}

}  // namespace berth::place

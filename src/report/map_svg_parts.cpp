// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <base/ranges.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <report/map_svg_picture.hpp>

namespace berth::report {
namespace {

/// With more ranks than these, those without a device that take the same NICs share a line.
constexpr std::size_t most_single_lines = 16;
/// NICs below each other that no device of their NUMA node takes.
constexpr std::size_t most_stacked = 2;
constexpr int most_pus = 65536;
/// Files without memory sizes are read as 1 byte, which is not worth telling.
constexpr std::size_t least_memory = std::size_t{1} << 20U;

/// The numbers of "0-13,28-41"; what is not one is passed over.
std::vector<int> pus_of(std::string const& list) {
  std::vector<int> pus;
  for (std::string const& piece : base::split(list, ',')) {
    std::size_t const dash = piece.find('-');
    auto const first = base::parse_integer(piece.substr(0, dash), 0, most_pus);
    auto const last = dash == std::string::npos
                          ? first
                          : base::parse_integer(piece.substr(dash + 1), 0, most_pus);
    if (!first || !last) continue;
    for (auto pu = *first; pu <= *last; ++pu) pus.push_back(static_cast<int>(pu));
  }
  return pus;
}

/// Where a box is: indices into Picture::packages and PackageBox::numas.
struct Spot {
  std::size_t package = 0;
  std::size_t numa = 0;
  friend bool operator==(Spot const&, Spot const&) = default;
  friend bool operator<(Spot const& a, Spot const& b) {
    return std::tie(a.package, a.numa) < std::tie(b.package, b.numa);
  }
};

/// Makes the boxes and finds the right one for a thing.
class Boxes {
 public:
  explicit Boxes(Picture& picture)
      : picture_(picture),
        node_(*picture.host->node),
        packages_(static_cast<std::size_t>(std::max(node_.packages, 0))) {
    // One more for what has no package; those that stay empty are left out at the end.
    picture_.packages.resize(packages_ + 1);
    for (std::size_t i = 0; i < packages_; ++i)
      picture_.packages[i].title = fmt::format("package {}", i);
    picture_.packages.back().title = "no locality";
    spots_.resize(node_.numa_nodes.size());
    add_numa_nodes();
    add_strips();
    for (std::size_t i = 0; i < node_.cores.size(); ++i) {
      model::Core const& core = node_.cores[i];
      Spot const at = spot(core.numa, core.package);
      box(at).cores.push_back({i, {}});
    }
  }

  NumaBox& box(Spot at) { return picture_.packages[at.package].numas[at.numa]; }

  /// The box of a NUMA node, or one of the package (of none, when that is not known either).
  Spot spot(int numa, int package) {
    bool const known = numa >= 0 && static_cast<std::size_t>(numa) < spots_.size();
    if (known && spots_[static_cast<std::size_t>(numa)])
      return *spots_[static_cast<std::size_t>(numa)];
    if (known && package < 0) package = node_.numa_nodes[static_cast<std::size_t>(numa)].package;
    std::size_t const at = package_index(package);
    auto& numas = picture_.packages[at].numas;
    auto const found = std::find_if(numas.begin(), numas.end(),
                                    [](NumaBox const& other) { return other.numa < 0; });
    if (found != numas.end()) return {at, static_cast<std::size_t>(found - numas.begin())};
    numas.emplace_back();
    if (at < packages_) numas.back().title = numas.size() > 1 ? "no NUMA node" : "NUMA not known";
    return {at, numas.size() - 1};
  }

 private:
  std::size_t package_index(int package) const {
    bool const known = package >= 0 && static_cast<std::size_t>(package) < packages_;
    return known ? static_cast<std::size_t>(package) : packages_;
  }

  bool is_box(std::size_t index) const {
    model::NumaNode const& numa = node_.numa_nodes[index];
    if (numa.subtype.empty() && !numa.pus.empty()) return true;
    return std::any_of(node_.cores.begin(), node_.cores.end(), [&](model::Core const& core) {
      return core.numa == static_cast<int>(index);
    });
  }

  void add_numa_nodes() {
    for (std::size_t i = 0; i < node_.numa_nodes.size(); ++i) {
      if (!is_box(i)) continue;
      model::NumaNode const& numa = node_.numa_nodes[i];
      std::size_t const at = package_index(numa.package);
      NumaBox made;
      made.numa = static_cast<int>(i);
      made.title = fmt::format("NUMA {}", numa.os_index);
      if (numa.memory_bytes >= least_memory)
        made.title += ", " + base::format_bytes(numa.memory_bytes);
      if (!numa.subtype.empty()) made.title += ", " + numa.subtype;
      picture_.packages[at].numas.push_back(std::move(made));
      spots_[i] = Spot{at, picture_.packages[at].numas.size() - 1};
    }
  }

  void add_strips() {
    for (std::size_t i = 0; i < node_.numa_nodes.size(); ++i) {
      if (spots_[i]) continue;
      model::NumaNode const& numa = node_.numa_nodes[i];
      std::optional<Spot> beside;
      for (std::size_t j = 0; j < node_.numa_nodes.size() && !beside && !numa.pus.empty(); ++j) {
        model::PuSet const& pus = node_.numa_nodes[j].pus;
        if (is_box(j) && std::binary_search(pus.begin(), pus.end(), numa.pus.front()))
          beside = spots_[j];
      }
      if (beside) {
        box(*beside).strips.push_back({i, {}});
        beside_.emplace_back(i, *beside);
      } else {
        picture_.packages[package_index(numa.package)].strips.push_back({i, {}});
      }
    }
    for (auto const& [numa, at] : beside_) spots_[numa] = at;
  }

  Picture& picture_;
  model::Node const& node_;
  std::size_t packages_;
  std::vector<std::optional<Spot>> spots_;  ///< by NUMA node
  std::vector<std::pair<std::size_t, Spot>> beside_;
};

/// Tiles with the box each belongs to.
struct Tiles {
  std::vector<Spot> spots;         ///< by index into Picture::tiles
  std::vector<std::size_t> heads;  ///< tile of each rank; `none` without
  std::size_t first_nic = 0;
};
constexpr std::size_t none = static_cast<std::size_t>(-1);

void add_devices(Picture& picture, Boxes& boxes, Tiles& tiles) {
  auto const& devices = picture.host->node->devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Tile tile{TileKind::device, i, {}, {}};
    for (std::size_t rank = 0; rank < picture.host->ranks.size(); ++rank) {
      Placement const& place = picture.host->ranks[rank].placement;
      if (place.device != devices[i].bus_id || place.partition != devices[i].partition) continue;
      tile.ranks.push_back(rank);
      tiles.heads[rank] = picture.tiles.size();
    }
    picture.tiles.push_back(std::move(tile));
    tiles.spots.push_back(boxes.spot(devices[i].numa, devices[i].package));
  }
}

/// Ends of lines for ranks without a (known) device, at the NUMA node of their first core.
void add_rank_tiles(Picture& picture, Boxes& boxes, Tiles& tiles) {
  model::Node const& node = *picture.host->node;
  std::vector<std::size_t> without;
  for (std::size_t rank = 0; rank < tiles.heads.size(); ++rank) {
    auto const& nics = picture.host->ranks[rank].placement.nics;
    bool const linked = std::any_of(node.nics.begin(), node.nics.end(), [&](auto const& nic) {
      return std::find(nics.begin(), nics.end(), nic.name) != nics.end();
    });
    if (tiles.heads[rank] == none && linked) without.push_back(rank);
  }
  bool const single = without.size() <= most_single_lines;
  std::map<std::tuple<std::size_t, Spot, std::vector<std::string>, std::string>, std::size_t> made;
  for (std::size_t const rank : without) {
    Placement const& place = picture.host->ranks[rank].placement;
    std::vector<int> const pus = pus_of(place.cpus);
    auto const core = std::find_if(node.cores.begin(), node.cores.end(), [&](auto const& c) {
      return !pus.empty() && std::find(c.pus.begin(), c.pus.end(), pus.front()) != c.pus.end();
    });
    Spot const at =
        core == node.cores.end() ? boxes.spot(-1, -1) : boxes.spot(core->numa, core->package);
    auto const [entry, is_new] =
        made.try_emplace({single ? rank : 0, at, place.nics, place.nic_path}, picture.tiles.size());
    if (is_new) {
      picture.tiles.push_back({TileKind::ranks, 0, {}, {}});
      tiles.spots.push_back(at);
    }
    picture.tiles[entry->second].ranks.push_back(rank);
    tiles.heads[rank] = entry->second;
  }
}

void add_nics(Picture& picture, Boxes& boxes, Tiles& tiles) {
  auto const& nics = picture.host->node->nics;
  tiles.first_nic = picture.tiles.size();
  for (std::size_t i = 0; i < nics.size(); ++i) {
    Tile tile{TileKind::nic, i, {}, {}};
    for (std::size_t rank = 0; rank < picture.host->ranks.size(); ++rank) {
      auto const& taken = picture.host->ranks[rank].placement.nics;
      if (std::find(taken.begin(), taken.end(), nics[i].name) != taken.end())
        tile.ranks.push_back(rank);
    }
    picture.tiles.push_back(std::move(tile));
    tiles.spots.push_back(boxes.spot(nics[i].numa, nics[i].package));
  }
}

void add_links(Picture& picture, Tiles const& tiles) {
  auto const& nics = picture.host->node->nics;
  for (std::size_t rank = 0; rank < tiles.heads.size(); ++rank) {
    Placement const& place = picture.host->ranks[rank].placement;
    for (std::size_t i = 0; i < place.nics.size() && tiles.heads[rank] != none; ++i) {
      auto const nic = std::find_if(nics.begin(), nics.end(),
                                    [&](auto const& n) { return n.name == place.nics[i]; });
      if (nic == nics.end()) continue;
      std::size_t const to = tiles.first_nic + static_cast<std::size_t>(nic - nics.begin());
      auto link = std::find_if(picture.links.begin(), picture.links.end(), [&](auto const& l) {
        return l.from == tiles.heads[rank] && l.to == to;
      });
      if (link == picture.links.end()) {
        picture.links.push_back({tiles.heads[rank], to, {}, {}, {}, {}});
        link = picture.links.end() - 1;
      }
      link->ranks.push_back(rank);
      if (i > 0 || place.nic_path.empty()) continue;
      if (link->path.find(place.nic_path) != std::string::npos) continue;
      link->path += (link->path.empty() ? "" : "/") + place.nic_path;
    }
  }
}

/// A column per device or line end, NICs below the first that takes them, the others where there is
/// room.
void add_columns(Picture& picture, Boxes& boxes, Tiles const& tiles) {
  std::vector<bool> placed(picture.tiles.size(), false);
  for (std::size_t tile = 0; tile < tiles.first_nic; ++tile) {
    TileColumn column;
    column.head = tile;
    for (Link const& link : picture.links) {
      if (link.from != tile || placed[link.to] || tiles.spots[link.to] != tiles.spots[tile])
        continue;
      column.nics.push_back(link.to);
      placed[link.to] = true;
    }
    boxes.box(tiles.spots[tile]).columns.push_back(std::move(column));
  }
  for (std::size_t tile = tiles.first_nic; tile < picture.tiles.size(); ++tile) {
    if (placed[tile]) continue;
    auto& columns = boxes.box(tiles.spots[tile]).columns;
    auto const bare = std::find_if(columns.begin(), columns.end(), [](TileColumn const& column) {
      return column.head && column.nics.empty();
    });
    if (bare != columns.end()) {
      bare->nics.push_back(tile);
      continue;
    }
    std::size_t depth = most_stacked;
    for (TileColumn const& column : columns) depth = std::max(depth, column.nics.size());
    if (columns.empty() || columns.back().head || columns.back().nics.size() >= depth)
      columns.emplace_back();
    columns.back().nics.push_back(tile);
  }
}

/// Cores per L3, where all L3s of the box hold the same number; otherwise 0.
int cores_per_l3(model::Node const& node, NumaBox const& box) {
  std::vector<int> runs;
  int last = -1;
  for (CoreCell const& cell : box.cores) {
    int const l3 = node.cores[cell.core].l3;
    if (l3 < 0) return 0;
    if (runs.empty() || l3 != last) runs.push_back(0);
    ++runs.back();
    last = l3;
  }
  bool const even = std::all_of(runs.begin(), runs.end(), [&](int r) { return r == runs.front(); });
  return even && runs.size() > 1 ? runs.front() : 0;
}

/// A cell is wide enough for the rank's number, in each of its threads where ranks share a core.
int core_width(Picture const& picture) {
  int highest = 0;
  for (model::MapRank const& rank : picture.host->ranks) highest = std::max(highest, rank.rank);
  int const number = text_width(std::to_string(highest), 9) + 3;
  int width = std::max(size::core, number);
  for (model::Core const& core : picture.host->node->cores) {
    std::size_t held = 0;
    std::size_t sharers = 0;
    std::vector<std::size_t> const* before = nullptr;
    bool differ = false;
    for (int const pu : core.pus) {
      auto const found = picture.owners.find(pu);
      auto const* now = found == picture.owners.end() ? nullptr : &found->second;
      held += now == nullptr ? 0 : 1;
      if (now != nullptr) sharers = std::max(sharers, now->size());
      differ = differ || (now != nullptr && before != nullptr && *now != *before);
      if (now != nullptr) before = now;
    }
    bool const part = held > 0 && held < core.pus.size();
    if (differ || part)
      width = std::max(width, std::min(64, number * static_cast<int>(core.pus.size())));
    if (sharers > 1) width = std::max(width, std::min(64, number + 6));
  }
  return width;
}

/// Whether the numbers of a device's ranks fit beside its bus id.
bool one_line(HostPicture const& host, Tile const& tile) {
  std::string const name = short_bus_id(*host.node, host.node->devices[tile.index].bus_id);
  int width = 15 + text_width(name, 11);
  for (std::size_t const rank : tile.ranks) width += badge_width(host.ranks[rank]) + 2;
  return width <= size::nic_width + 12;
}

}  // namespace

std::string strip_text(model::Node const& node, Strip const& strip) {
  model::NumaNode const& numa = node.numa_nodes[strip.numa];
  std::string const kind = numa.subtype == "GPUMemory" ? "GPU memory"
                           : numa.subtype.empty()      ? "no processors"
                                                       : numa.subtype;
  std::string text = fmt::format("NUMA {}, {}", numa.os_index, kind);
  if (numa.memory_bytes >= least_memory) text += ", " + base::format_bytes(numa.memory_bytes);
  return text;
}

int badge_width(model::MapRank const& rank) {
  return std::max(16, text_width(std::to_string(rank.rank), 10) + 6);
}

std::string ranks_text(HostPicture const& host, std::vector<std::size_t> const& ranks) {
  std::vector<int> numbers;
  numbers.reserve(ranks.size());
  for (std::size_t const rank : ranks) numbers.push_back(host.ranks[rank].rank);
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", base::format_ranges(numbers));
}

std::string short_bus_id(model::Node const& node, std::string const& bus_id) {
  constexpr std::string_view first_domain = "0000:";
  for (model::Device const& device : node.devices)
    if (device.bus_id.rfind(first_domain, 0) != 0) return bus_id;
  return bus_id.rfind(first_domain, 0) == 0 ? bus_id.substr(first_domain.size()) : bus_id;
}

Picture picture_of(HostPicture const& host) {
  Picture picture;
  picture.host = &host;
  for (std::size_t rank = 0; rank < host.ranks.size(); ++rank)
    for (int const pu : pus_of(host.ranks[rank].placement.cpus)) picture.owners[pu].push_back(rank);
  picture.core_width = core_width(picture);

  Boxes boxes(picture);
  Tiles tiles;
  tiles.heads.assign(host.ranks.size(), none);
  add_devices(picture, boxes, tiles);
  add_rank_tiles(picture, boxes, tiles);
  add_nics(picture, boxes, tiles);
  add_links(picture, tiles);
  add_columns(picture, boxes, tiles);
  std::erase_if(picture.packages, [](PackageBox const& package) {
    return package.numas.empty() && package.strips.empty();
  });
  for (PackageBox& package : picture.packages)
    for (NumaBox& box : package.numas) box.l3_cores = cores_per_l3(*host.node, box);
  for (Tile const& tile : picture.tiles)
    if (tile.kind == TileKind::device && !one_line(host, tile)) picture.head_height = 52;
  return picture;
}

}  // namespace berth::report

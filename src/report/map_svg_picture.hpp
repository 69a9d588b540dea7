// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <report/map_svg.hpp>
#include <report/svg.hpp>

/// What a picture of a host consists of: first its parts, then their places, then the lines between
/// them. Private to the room.
namespace berth::report {

enum class TileKind {
  device,  ///< a device, used or not
  ranks,   ///< the end of a line of ranks without a device
  nic
};

/// A labelled box that lines join.
struct Tile {
  TileKind kind = TileKind::device;
  std::size_t index = 0;           ///< into Node::devices or Node::nics
  std::vector<std::size_t> ranks;  ///< indices into HostPicture::ranks
  Box box;
};

/// A device (or ranks) with the NICs below it. Either may be missing.
struct TileColumn {
  std::optional<std::size_t> head;  ///< index into Picture::tiles
  std::vector<std::size_t> nics;    ///< indices into Picture::tiles
  int x = 0;
  std::size_t band = 0;  ///< columns of a NUMA node that is too wide go on in further bands
};

/// Memory that is drawn as a strip: that of a GPU, high-bandwidth memory, memory without
/// processors.
struct Strip {
  std::size_t numa = 0;  ///< index into Node::numa_nodes
  Box box;
};

struct CoreCell {
  std::size_t core = 0;  ///< index into Node::cores
  Box box;
};

/// A NUMA node, or things of a package that belong to none.
struct NumaBox {
  int numa = -1;  ///< index into Node::numa_nodes; -1: none
  std::string title;
  std::vector<Strip> strips;
  std::vector<CoreCell> cores;
  std::vector<TileColumn> columns;
  int grid_columns = 1;  ///< cores per row
  int l3_cores = 0;      ///< cores per L3 where all have the same; 0: not shown
  std::size_t row = 0;   ///< index into Picture::rows
  Box box;
};

/// A package, or things whose package is not known.
struct PackageBox {
  std::string title;
  std::vector<Strip> strips;
  std::vector<NumaBox> numas;
  std::size_t shelf = 0;
  Box box;
};

/// Devices, lines and NICs at one height, so that lines run sideways between boxes.
struct BandRow {
  bool heads = false;
  std::size_t nic_rows = 0;
  bool linked = false;
  std::vector<std::vector<Point>> lanes;  ///< per lane the taken stretches, x from and y to
  int head_y = 0;
  int channel_y = 0;
  int nic_y = 0;
};

/// NUMA nodes side by side.
struct Row {
  int strips_height = 0;
  int cores_height = 0;
  std::vector<BandRow> bands;
};

/// A line from a device to a NIC.
struct Link {
  std::size_t from = 0;            ///< index into Picture::tiles
  std::size_t to = 0;              ///< index into Picture::tiles
  std::vector<std::size_t> ranks;  ///< indices into HostPicture::ranks
  std::string path;                ///< class where it is known, "PIX", "PIX/SYS"; else empty
  std::vector<Point> points;
  Point label;  ///< left end of the baseline
};

/// One host.
struct Picture {
  HostPicture const* host = nullptr;
  std::map<int, std::vector<std::size_t>> owners;  ///< ranks (indices) by PU
  std::vector<PackageBox> packages;
  std::vector<Tile> tiles;
  std::vector<Link> links;
  std::vector<Row> rows;
  int core_width = 16;   ///< of the cell of a core
  int head_height = 36;  ///< of a device
  int gutter = 12;       ///< left of each NIC, for lines
  Box box;
};

/// Sizes that layout and drawing share, in pixels.
namespace size {
inline constexpr int page = 1600;  ///< a host wraps to stay below
inline constexpr int margin = 16;
inline constexpr int pad = 10;
inline constexpr int core = 16;
inline constexpr int core_gap = 2;
inline constexpr int l3_gap = 4;
inline constexpr int nic_width = 112;
inline constexpr int nic_height = 30;
inline constexpr int nic_gap = 6;
inline constexpr int strip = 16;
inline constexpr int title = 20;
inline constexpr int lane = 5;
}  // namespace size

/// The parts of a host, without places.
Picture picture_of(HostPicture const& host);
/// Gives every part its place; Picture::box starts at 0, `top` and ends below the last package.
void lay_out(Picture& picture, int top);
/// The x of all lines and the lanes they take; needs the x of columns.
void route_sideways(Picture& picture);
/// The points of all lines; needs the places of all tiles and route_sideways.
void route_down(Picture& picture);

/// A name for the ranks: "rank 3", "ranks 0-7".
std::string ranks_text(HostPicture const& host, std::vector<std::size_t> const& ranks);
/// What a strip says: "NUMA 1, GPU memory, 16 GiB".
std::string strip_text(model::Node const& node, Strip const& strip);
/// Width of the coloured number of a rank.
int badge_width(model::MapRank const& rank);
/// "1b:00.0": without the domain, where all devices of the node are in the first.
std::string short_bus_id(model::Node const& node, std::string const& bus_id);

}  // namespace berth::report

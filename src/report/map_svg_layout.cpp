// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <report/map_svg_picture.hpp>

namespace berth::report {
namespace {

/// What a host may take at most, between its margins.
constexpr int room = size::page - 4 * size::margin;
constexpr std::size_t most_columns = 11;
constexpr int narrowest = 132;

int pitch(Picture const& picture) {
  return picture.gutter + size::nic_width + size::pad;
}

/// Width of so many cores beside each other.
int grid_width(Picture const& picture, NumaBox const& box, int columns) {
  int width = columns * (picture.core_width + size::core_gap) - size::core_gap;
  if (box.l3_cores > 0) width += (columns - 1) / box.l3_cores * size::l3_gap;
  return width;
}

/// Cores per row: what fits, in rows of equal length, whole L3s where they fit.
int grid_columns(Picture const& picture, NumaBox const& box, int width) {
  int const cores = static_cast<int>(box.cores.size());
  if (cores == 0) return 1;
  int most = 1;
  while (most < cores && grid_width(picture, box, most + 1) <= width) ++most;
  int const rows = (cores + most - 1) / most;
  int columns = std::max(1, (cores + rows - 1) / rows);
  int const l3 = box.l3_cores;
  if (l3 > 0 && l3 <= most) columns = std::min((columns + l3 - 1) / l3 * l3, most / l3 * l3);
  return columns;
}

/// Cores per row that look well: about twice as wide as high.
int preferred_columns(NumaBox const& box) {
  auto const cores = static_cast<double>(box.cores.size());
  int columns = static_cast<int>(std::ceil(std::sqrt(2.0 * cores)));
  columns = std::clamp(columns, 1, 24);
  if (box.l3_cores > 0 && box.l3_cores <= 24)
    columns = (columns + box.l3_cores - 1) / box.l3_cores * box.l3_cores;
  return std::min(columns, std::max(1, static_cast<int>(box.cores.size())));
}

/// Gives a box its width, with at most so many columns beside each other.
void measure_box(Picture const& picture, NumaBox& box, std::size_t columns) {
  std::size_t const count = box.columns.size();
  std::size_t const bands = std::max<std::size_t>(1, (count + columns - 1) / columns);
  std::size_t const per_band = (count + bands - 1) / bands;
  for (std::size_t i = 0; i < count; ++i)
    box.columns[i].band = i / std::max<std::size_t>(per_band, 1);
  int inner = std::max(narrowest, text_width(box.title, 11) + 4);
  inner = std::max(inner, static_cast<int>(per_band) * pitch(picture) - size::pad);
  inner = std::max(inner, grid_width(picture, box, preferred_columns(box)));
  for (Strip const& strip : box.strips)
    inner = std::max(inner, text_width(strip_text(*picture.host->node, strip), 10) + 10);
  box.box.width = inner + 2 * size::pad;
  box.grid_columns = grid_columns(picture, box, inner);
}

/// Puts the boxes of a package beside each other, below each other where it gets too wide. The row
/// of each is counted from the package's first. @return rows
std::size_t measure_package(Picture const& picture, PackageBox& package, std::size_t columns) {
  int x = size::pad;
  int width = std::max(narrowest, text_width(package.title, 12));
  for (Strip const& strip : package.strips) {
    int const text = text_width(strip_text(*picture.host->node, strip), 10);
    width = std::max(width, text + 10 + 2 * size::pad);
  }
  std::size_t row = 0;
  for (NumaBox& box : package.numas) {
    measure_box(picture, box, columns);
    if (x > size::pad && x + box.box.width + size::pad > room) {
      x = size::pad;
      ++row;
    }
    box.row = row;
    box.box.x = x;
    x += box.box.width + size::pad;
    width = std::max(width, x);
  }
  package.box.width = width;
  return row + 1;
}

int total_width(Picture& picture, std::size_t columns) {
  int width = -size::pad;
  for (PackageBox& package : picture.packages) {
    measure_package(picture, package, columns);
    width += package.box.width + size::pad;
  }
  return width;
}

/// Whether a line leads from a column to another of the same box.
bool shares_nics(Picture const& picture) {
  for (PackageBox const& package : picture.packages)
    for (NumaBox const& box : package.numas)
      for (TileColumn const& from : box.columns)
        for (TileColumn const& to : box.columns)
          for (Link const& link : picture.links)
            if (&from != &to && link.from == from.head &&
                std::find(to.nics.begin(), to.nics.end(), link.to) != to.nics.end())
              return true;
  return false;
}

/// All packages beside each other when narrower boxes make that possible without towers, and
/// without devices whose NIC is in another band.
std::size_t choose_columns(Picture& picture) {
  if (shares_nics(picture)) return most_columns;
  std::size_t columns = most_columns;
  while (columns > 2 && total_width(picture, columns) > room) --columns;
  // In vain: then boxes may be as wide as half a shelf.
  return total_width(picture, columns) > room ? 6 : columns;
}

/// Places along x, shelves and rows.
void lay_sideways(Picture& picture) {
  std::size_t const columns = choose_columns(picture);
  int x = size::margin;
  std::size_t shelf = 0;
  std::size_t first_row = 0;
  std::size_t rows = 0;
  int right = 0;
  for (PackageBox& package : picture.packages) {
    std::size_t const mine = measure_package(picture, package, columns);
    if (x > size::margin && x + package.box.width > size::margin + room) {
      x = size::margin;
      ++shelf;
      first_row += rows;
      rows = 0;
    }
    rows = std::max(rows, mine);
    package.shelf = shelf;
    package.box.x = x;
    for (NumaBox& box : package.numas) {
      box.row += first_row;
      box.box.x += x;
      std::vector<int> next;
      for (TileColumn& column : box.columns) {
        if (column.band >= next.size()) next.resize(column.band + 1, box.box.x + size::pad);
        column.x = next[column.band];
        next[column.band] += pitch(picture);
      }
    }
    right = std::max(right, package.box.right());
    x += package.box.width + size::pad;
  }
  picture.rows.resize(first_row + rows);
  picture.box.width = right + size::margin;
}

void place_tiles_sideways(Picture& picture) {
  for (PackageBox const& package : picture.packages)
    for (NumaBox const& box : package.numas)
      for (TileColumn const& column : box.columns) {
        if (column.head)
          picture.tiles[*column.head].box = {column.x, 0, picture.gutter + size::nic_width,
                                             picture.head_height};
        for (std::size_t const nic : column.nics)
          picture.tiles[nic].box = {column.x + picture.gutter, 0, size::nic_width,
                                    size::nic_height};
      }
}

/// What each row and band needs.
void measure_rows(Picture& picture) {
  for (PackageBox const& package : picture.packages)
    for (NumaBox const& box : package.numas) {
      Row& row = picture.rows[box.row];
      int const strips = static_cast<int>(box.strips.size()) * (size::strip + 2);
      row.strips_height = std::max(row.strips_height, strips);
      int const cores = static_cast<int>(box.cores.size());
      int const lines = (cores + box.grid_columns - 1) / box.grid_columns;
      row.cores_height = std::max(row.cores_height, lines * (size::core + size::core_gap));
      for (TileColumn const& column : box.columns) {
        if (column.band >= row.bands.size()) row.bands.resize(column.band + 1);
        BandRow& band = row.bands[column.band];
        band.heads = band.heads || column.head.has_value();
        band.nic_rows = std::max(band.nic_rows, column.nics.size());
      }
    }
}

/// Gives a row its heights from `y` on. @return where it ends
int lay_row(Picture const& picture, Row& row, int y) {
  y += size::title + row.strips_height + row.cores_height + 6;
  for (BandRow& band : row.bands) {
    band.head_y = y;
    if (band.heads) y += picture.head_height;
    band.channel_y = y;
    y += band.linked ? 22 + static_cast<int>(band.lanes.size()) * size::lane : 8;
    band.nic_y = y;
    y += static_cast<int>(band.nic_rows) * (size::nic_height + size::nic_gap);
    y += 4;
  }
  return y + 2;
}

void place_strips(std::vector<Strip>& strips, int x, int y, int width) {
  for (Strip& strip : strips) {
    strip.box = {x, y, width, size::strip};
    y += size::strip + 2;
  }
}

/// Cores and tiles of a box whose place is known.
void fill_box(Picture& picture, NumaBox& box) {
  Row const& row = picture.rows[box.row];
  int const left = box.box.x + size::pad;
  place_strips(box.strips, left, box.box.y + size::title, box.box.width - 2 * size::pad);
  int const top = box.box.y + size::title + row.strips_height;
  for (std::size_t i = 0; i < box.cores.size(); ++i) {
    int const at = static_cast<int>(i) % box.grid_columns;
    int const line = static_cast<int>(i) / box.grid_columns;
    int x = left + at * (picture.core_width + size::core_gap);
    if (box.l3_cores > 0) x += at / box.l3_cores * size::l3_gap;
    box.cores[i].box = {x, top + line * (size::core + size::core_gap), picture.core_width,
                        size::core};
  }
  for (TileColumn const& column : box.columns) {
    BandRow const& band = row.bands[column.band];
    if (column.head) picture.tiles[*column.head].box.y = band.head_y;
    for (std::size_t i = 0; i < column.nics.size(); ++i)
      picture.tiles[column.nics[i]].box.y =
          band.nic_y + static_cast<int>(i) * (size::nic_height + size::nic_gap);
  }
}

/// Places a shelf's packages. @return where it ends
int lay_shelf(Picture& picture, std::size_t shelf, int y) {
  std::size_t strips = 0;
  std::size_t most_strips = 0;  // of those without anything below
  std::size_t first = picture.rows.size();
  std::size_t last = 0;
  for (PackageBox const& package : picture.packages) {
    if (package.shelf != shelf) continue;
    std::size_t& above = package.numas.empty() ? most_strips : strips;
    above = std::max(above, package.strips.size());
    for (NumaBox const& box : package.numas) {
      first = std::min(first, box.row);
      last = std::max(last, box.row + 1);
    }
  }
  int const top = y;
  y += size::title + static_cast<int>(strips) * (size::strip + 2) + 4;
  std::vector<Box> heights(picture.rows.size());
  for (std::size_t row = first; row < last; ++row) {
    int const end = lay_row(picture, picture.rows[row], y);
    heights[row] = {0, y, 0, end - y};
    y = end + size::pad;
  }
  y = std::max(y, top + size::title + static_cast<int>(most_strips) * (size::strip + 2) + 8);
  for (PackageBox& package : picture.packages) {
    if (package.shelf != shelf) continue;
    package.box.y = top;
    package.box.height = y - top;
    place_strips(package.strips, package.box.x + size::pad, top + size::title,
                 package.box.width - 2 * size::pad);
    for (NumaBox& box : package.numas) {
      box.box.y = heights[box.row].y;
      box.box.height = heights[box.row].height;
      fill_box(picture, box);
    }
  }
  return y;
}

/// Lines that come down left of a column's NICs from elsewhere need a track each.
int widest_gutter(Picture const& picture) {
  int most = 1;
  for (PackageBox const& package : picture.packages)
    for (NumaBox const& box : package.numas)
      for (TileColumn const& column : box.columns) {
        std::vector<std::size_t> sources;
        for (Link const& link : picture.links) {
          bool const here =
              std::find(column.nics.begin(), column.nics.end(), link.to) != column.nics.end();
          if (here && link.from != column.head) sources.push_back(link.from);
        }
        std::sort(sources.begin(), sources.end());
        sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
        most = std::max(most, 1 + static_cast<int>(sources.size()));
      }
  return 7 + size::lane * most;
}

}  // namespace

void lay_out(Picture& picture, int top) {
  picture.gutter = widest_gutter(picture);
  lay_sideways(picture);
  place_tiles_sideways(picture);
  measure_rows(picture);
  route_sideways(picture);
  int y = top;
  std::size_t const shelves = picture.packages.empty() ? 0 : picture.packages.back().shelf + 1;
  for (std::size_t shelf = 0; shelf < shelves; ++shelf)
    y = lay_shelf(picture, shelf, y) + size::pad;
  picture.box.y = top;
  picture.box.height = y - top;
  route_down(picture);
}

}  // namespace berth::report

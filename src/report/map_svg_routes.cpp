// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include <report/map_svg_picture.hpp>

namespace berth::report {
namespace {

/// Where a tile is.
struct Home {
  std::size_t row = 0;
  std::size_t band = 0;
  std::size_t column = 0;  ///< a number of its own for each column
};

std::vector<Home> homes_of(Picture const& picture) {
  std::vector<Home> homes(picture.tiles.size());
  std::size_t number = 0;
  for (PackageBox const& package : picture.packages)
    for (NumaBox const& box : package.numas)
      for (TileColumn const& column : box.columns) {
        if (column.head) homes[*column.head] = {box.row, column.band, number};
        for (std::size_t const nic : column.nics) homes[nic] = {box.row, column.band, number};
        ++number;
      }
  return homes;
}

/// Takes the first lane that is free from `a` to `b`.
int take_lane(BandRow& band, int a, int b) {
  int const from = std::min(a, b) - size::lane;
  int const to = std::max(a, b) + size::lane;
  for (std::size_t lane = 0; lane <= band.lanes.size(); ++lane) {
    if (lane == band.lanes.size()) band.lanes.emplace_back();
    auto& taken = band.lanes[lane];
    bool const free = std::all_of(taken.begin(), taken.end(),
                                  [&](Point other) { return to < other.x || other.y < from; });
    if (!free) continue;
    taken.push_back({from, to});
    return static_cast<int>(lane);
  }
  return 0;
}

/// Numbers per pair, counted from `first` for each value of the pair's first.
class Counter {
 public:
  explicit Counter(int first) : first_(first) {}
  /// @return the number, and whether it is new
  std::pair<int, bool> of(std::size_t group, std::size_t member) {
    auto const found = numbers_.find({group, member});
    if (found != numbers_.end()) return {found->second, false};
    int const number = first_ + counts_[group]++;
    numbers_[{group, member}] = number;
    return {number, true};
  }

 private:
  int first_;
  std::map<std::size_t, int> counts_;
  std::map<std::pair<std::size_t, std::size_t>, int> numbers_;
};

}  // namespace

// Until route_down knows them, the y of a point is what it depends on: the number of a lane.
void route_sideways(Picture& picture) {
  std::vector<Home> const homes = homes_of(picture);
  Counter drops(0);   // per device and column that it leads to
  Counter tracks(1);  // per column and device that leads to it; 0 is its own device's
  int outside = 0;
  for (Link& link : picture.links) {
    Home const& from = homes[link.from];
    Home const& to = homes[link.to];
    Box const& head = picture.tiles[link.from].box;
    Box const& nic = picture.tiles[link.to].box;
    BandRow& start = picture.rows[from.row].bands[from.band];
    BandRow& end = picture.rows[to.row].bands[to.band];
    start.linked = true;
    end.linked = true;
    int const track = nic.x - picture.gutter + 6;
    if (from.column == to.column) {
      link.points = {{track, 0}, {nic.x, 0}};
      link.label = {track + 4, 0};
      continue;
    }
    auto const [drop, first] = drops.of(link.from, to.column);
    int const down = head.right() - 8 - size::lane * drop;
    int const up = track + size::lane * tracks.of(to.column, link.from).first;
    link.label = {down - 4 - text_width(link.path, 9), 0};
    if (!first) {
      // A second NIC of a column that the device leads to already: along the same line.
      auto const same = std::find_if(picture.links.begin(), picture.links.end(), [&](auto& l) {
        return l.from == link.from && homes[l.to].column == to.column;
      });
      link.points = same->points;
    } else if (&start == &end) {
      int const lane = take_lane(start, down, up);
      link.points = {{down, 0}, {down, lane}, {up, lane}, {nic.x, 0}};
    } else {
      int const side = picture.box.width - size::margin + 6 + size::lane * outside++;
      int const first_lane = take_lane(start, down, side);
      int const last_lane = take_lane(end, side, up);
      link.points = {{down, 0},         {down, first_lane}, {side, first_lane},
                     {side, last_lane}, {up, last_lane},    {nic.x, 0}};
    }
  }
  if (outside > 0) picture.box.width += 6 + size::lane * outside;
}

void route_down(Picture& picture) {
  std::vector<Home> const homes = homes_of(picture);
  for (Link& link : picture.links) {
    Home const& from = homes[link.from];
    Home const& to = homes[link.to];
    Box const& head = picture.tiles[link.from].box;
    Box const& nic = picture.tiles[link.to].box;
    auto const lane_y = [&](Home const& home, int lane) {
      return picture.rows[home.row].bands[home.band].channel_y + 17 + size::lane * lane;
    };
    int const entry = nic.y + nic.height / 2;
    int const count = static_cast<int>(link.points.size());
    for (int i = 1; i + 1 < count; ++i) {
      Point& point = link.points[static_cast<std::size_t>(i)];
      point.y = lane_y(i < 3 ? from : to, point.y);
    }
    link.points.front().y = head.bottom();
    Point const last = {nic.x, entry};
    link.points.back() = {link.points[link.points.size() - 2].x, entry};
    link.points.push_back(last);
    link.label.y = head.bottom() + 12;
  }
}

}  // namespace berth::report

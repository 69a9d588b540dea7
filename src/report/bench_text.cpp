// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <base/names.hpp>
#include <base/units.hpp>
#include <report/bench_text.hpp>

namespace berth::report {
namespace {

using model::Compared;
using model::Measured;
using model::Result;
using model::Sweep;
using model::Times;

/// Three digits or more, never more than two decimals.
std::string figure(double value) {
  return fmt::format("{:.{}f}", value, value < 100 ? 2 : value < 1000 ? 1 : 0);
}

/// Half the width of the interval in percent of the median.
int spread_percent(Times const& times) {
  if (times.median <= 0) return 0;
  double const percent = 50 * (times.ci95_high - times.ci95_low) / times.median;
  return static_cast<int>(std::min(std::ceil(percent), 999.0));
}

/// The results of one table: same type and operation.
using Part = std::vector<Result const*>;

std::vector<Part> parts_of(Sweep const& sweep) {
  std::vector<Part> parts;
  for (Result const& result : sweep.results) {
    bool const is_same = !parts.empty() && parts.back().front()->type == result.type &&
                         parts.back().front()->op == result.op &&
                         parts.back().front()->collective == result.collective;
    if (!is_same) parts.emplace_back();
    parts.back().push_back(&result);
  }
  return parts;
}

std::string head(Sweep const& sweep, Part const& part, Style style) {
  Result const& first = *part.front();
  std::string text = fmt::format("# berth {}  {}  {} {}  {}, {}  backend {}  {}\n", sweep.version,
                                 first.collective, base::name(first.type), base::name(first.op),
                                 counted(sweep.ranks, "rank"), counted(sweep.hosts, "host"),
                                 first.backend, counted(sweep.iterations, "iteration"));
  std::string_view const spread = style.utf8 ? " \u00b195%" : " +-95";
  std::string const place = fmt::format("    time{}   busbw  wrong", spread);
  bool const compares = first.compare.has_value();
  text += fmt::format("#{:>29}{:>25}{}\n", "out-of-place", "in-place",
                      compares ? fmt::format("{:>18}", first.compare->backend) : "");
  text += fmt::format(
      "#    size{}{}{}\n", place, place,
      compares ? fmt::format("{:>8}{:>11}", "time", fmt::format("{}/berth", first.compare->backend))
               : "");
  std::string const units = "    (us)  (%)  (GB/s)    (#)";
  text += fmt::format("#     (B){}{}{}\n", units, units, compares ? "    (us)" : "");
  return text;
}

std::string columns_of(Measured const& measured, bool checked) {
  return fmt::format("{:>8}{:>5}{:>8}{:>7}", figure(measured.time_us.median),
                     spread_percent(measured.time_us), figure(measured.busbw_gbps),
                     checked ? std::to_string(measured.wrong) : "-");
}

std::string row(Result const& result, bool checked) {
  std::string text =
      fmt::format("{:>9}{}{}", result.size_bytes, columns_of(result.out_of_place, checked),
                  columns_of(result.in_place, checked));
  if (result.compare)
    text += fmt::format("{:>8}{:>11.1f}", figure(result.compare->measured.time_us.median),
                        result.compare->ratio);
  return text + "\n";
}

/// "12 of 12 sizes faster than mpi, 3.6 x overall; slowest: 128 KiB, 1.9 x".
std::string comparison(Sweep const& sweep) {
  int faster = 0;
  double logarithms = 0;
  Result const* slowest = &sweep.results.front();
  for (Result const& result : sweep.results) {
    if (result.compare->ratio_ci95_low > 1) ++faster;
    logarithms += std::log(result.compare->ratio);
    if (result.compare->ratio < slowest->compare->ratio) slowest = &result;
  }
  std::size_t const all = sweep.results.size();
  return fmt::format("{} of {} faster than {}, {:.1f} x overall; slowest: {}, {:.1f} x", faster,
                     counted(static_cast<long long>(all), "size"), slowest->compare->backend,
                     std::exp(logarithms / static_cast<double>(all)),
                     base::format_bytes(slowest->size_bytes), slowest->compare->ratio);
}

/// "12 sizes; 8 B in 0.10 us; busbw up to 9.83 GB/s at 2 MiB".
std::string best_figures(Sweep const& sweep) {
  Result const& first = sweep.results.front();
  Result const* best = &first;
  for (Result const& result : sweep.results)
    if (result.out_of_place.busbw_gbps > best->out_of_place.busbw_gbps) best = &result;
  std::string text =
      fmt::format("{}; {} in {} us", counted(static_cast<long long>(sweep.results.size()), "size"),
                  base::format_bytes(first.size_bytes), figure(first.out_of_place.time_us.median));
  if (best->out_of_place.busbw_gbps > 0)
    text += fmt::format("; busbw up to {} GB/s at {}", figure(best->out_of_place.busbw_gbps),
                        base::format_bytes(best->size_bytes));
  return text;
}

bool all_compared(Sweep const& sweep) {
  return std::all_of(sweep.results.begin(), sweep.results.end(),
                     [](Result const& result) { return result.compare.has_value(); });
}

std::size_t wrong_of(Result const& result) {
  std::size_t const compared = result.compare ? result.compare->measured.wrong : 0;
  return result.out_of_place.wrong + result.in_place.wrong + compared;
}

/// Which results are wrong: "float32 sum at 8 KiB in place".
std::string where_wrong(Result const& result) {
  std::string_view const where = result.out_of_place.wrong > 0 ? "out of place"
                                 : result.in_place.wrong > 0   ? "in place"
                                                               : "in the reference";
  return fmt::format("{} {} {} at {}, {}", result.collective, base::name(result.type),
                     base::name(result.op), base::format_bytes(result.size_bytes), where);
}

std::string verdict(Sweep const& sweep) {
  if (sweep.results.empty()) return "good: nothing to measure\n";
  std::size_t const wrong = wrong_elements(sweep);
  if (wrong > 0) {
    auto const first = std::find_if(sweep.results.begin(), sweep.results.end(),
                                    [](Result const& result) { return wrong_of(result) > 0; });
    return fmt::format("bad: {} wrong, first in {}; berth verify finds the rank\n",
                       counted(static_cast<long long>(wrong), "element"), where_wrong(*first));
  }
  return fmt::format("good: {}; {}\n", sweep.checked ? "0 wrong" : "not checked",
                     all_compared(sweep) ? comparison(sweep) : best_figures(sweep));
}

void csv_row(std::string& text, Result const& result, std::string_view variant,
             std::string_view backend, Measured const& m, bool checked) {
  Times const& t = m.time_us;
  text += fmt::format(
      "{},{},{},{},{},{},{},{},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},{:.4f},"
      "{:.4f},{:.4f},{},",
      result.collective, backend, variant, result.size_bytes, result.count, base::name(result.type),
      base::name(result.op), result.root, t.median, t.min, t.p95, t.p99, t.max, t.ci95_low,
      t.ci95_high, m.algbw_gbps, m.busbw_gbps, checked ? std::to_string(m.wrong) : "");
}

}  // namespace

std::size_t wrong_elements(Sweep const& sweep) {
  std::size_t wrong = 0;
  for (Result const& result : sweep.results) wrong += wrong_of(result);
  return wrong;
}

std::string bench_text(Sweep const& sweep, Style style) {
  std::string text;
  for (Part const& part : parts_of(sweep)) {
    text += head(sweep, part, style);
    for (Result const* result : part) text += row(*result, sweep.checked);
  }
  return text + verdict(sweep);
}

std::string bench_csv(Sweep const& sweep) {
  std::string text =
      "collective,backend,variant,size_bytes,count,type,op,root,median_us,min_us,p95_us,p99_us,"
      "max_us,ci95_low_us,ci95_high_us,algbw_gbps,busbw_gbps,wrong,ratio,ratio_ci95_low,"
      "ratio_ci95_high\n";
  for (Result const& result : sweep.results) {
    csv_row(text, result, "out_of_place", result.backend, result.out_of_place, sweep.checked);
    text += ",,\n";
    csv_row(text, result, "in_place", result.backend, result.in_place, sweep.checked);
    text += ",,\n";
    if (!result.compare) continue;
    Compared const& other = *result.compare;
    csv_row(text, result, "out_of_place", other.backend, other.measured, sweep.checked);
    text += fmt::format("{:.4f},{:.4f},{:.4f}\n", other.ratio, other.ratio_ci95_low,
                        other.ratio_ci95_high);
  }
  return text;
}

std::string progress_line(int done, int total, std::size_t bytes, double seconds_left) {
  constexpr int width = 20;
  int const filled = total > 0 ? std::clamp(done * width / total, 0, width) : 0;
  std::string bar(static_cast<std::size_t>(filled), '=');
  if (filled < width) bar += '>';
  bar.resize(width, ' ');
  return fmt::format("[{}] {} of {}, {}, about {:.0f} s left", bar, done, counted(total, "size"),
                     base::format_bytes(bytes), std::ceil(std::max(seconds_left, 0.0)));
}

}  // namespace berth::report

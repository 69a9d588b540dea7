// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <bench/sweep.hpp>
#include <cli/verbs.hpp>
#include <json/json.hpp>
#include <report/bench_text.hpp>

namespace berth::cli {

int bench(Job& job, Arguments const& arguments, Output& output) {
  model::Sweep sweep;
  {
    Moving moving(output.speaks());
    sweep = bench::sweep(job.impl(), arguments.bench, [&](bench::Progress const& progress) {
      moving.show(report::progress_line(progress.done, progress.total, progress.bytes,
                                        progress.seconds_left));
    });
  }
  job.publish([&] {
    output.file(arguments.csv, report::bench_csv(sweep));
    output.document(json::bench_document(sweep));
    output.text(report::bench_text(sweep, {is_utf8()}));
    output.check();
  });
  job.close();
  return report::wrong_elements(sweep) == 0 ? 0 : 1;
}

}  // namespace berth::cli

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <base/error.hpp>
#include <base/names.hpp>
#include <cli/job.hpp>

namespace berth::cli {
namespace {

constexpr std::chrono::milliseconds default_deadline = std::chrono::seconds(60);

/// Only the main thread's place inside the MPI tells a slow one from a hanging one. A process
/// without a free signal does without.
std::unique_ptr<sys::ThreadProbe> make_probe() {
  try {
    return std::make_unique<sys::ThreadProbe>();
  } catch (Error const&) {
    return nullptr;
  }
}

/// The deadline of the start-up as the communicator will find it, for the text. What the
/// environment has wrong is told by all ranks together, later.
std::chrono::milliseconds deadline_of(Arguments const& arguments,
                                      base::Environment const& environment) {
  if (arguments.deadline) return *arguments.deadline;
  try {
    return environment.init_deadline().value_or(default_deadline);
  } catch (Error const&) {
    return default_deadline;
  }
}

Options options_of(Arguments const& arguments, base::Environment const& environment,
                   std::chrono::milliseconds deadline) {
  Options options;
  options.backend = arguments.backend;
  options.on_lost = OnLost::exit;
  options.binding = arguments.map.binding;
  options.smt = arguments.map.smt;
  options.fill = arguments.map.fill;
  options.init_deadline = arguments.deadline;
  options.op_deadline = arguments.deadline;
  // A tool that is to give a verdict does not wait for ever.
  if (!options.op_deadline && !environment.raw("BERTH_OP_DEADLINE")) options.op_deadline = deadline;
  return options;
}

std::vector<std::string> hosts_by_rank(Communicator::Impl const& impl) {
  std::vector<std::string> hosts;
  for (int const host : impl.host_of_rank())
    hosts.push_back(impl.host_names().at(static_cast<std::size_t>(host)));
  return hosts;
}

}  // namespace

Job::Job(Arguments const& arguments, base::Environment const& environment,
         launcher::Step const& step, comm::Seams seams, Output& output)
    : probe_(make_probe()),
      last_words_(arguments.verb, output),
      deadline_(deadline_of(arguments, environment)) {
  if (probe_ && !seams.probe) seams.probe = [this] { return probe_->sample(); };
  seams.before_end = [this](ledger::Verdict const& verdict) { last_words_.say(verdict); };
  seams.first_data = arguments.verb != Verb::verify;
  report_.ranks = step.size.value_or(0);
  impl_ = std::make_unique<Communicator::Impl>(
      MPI_COMM_WORLD, options_of(arguments, environment, deadline_), std::move(seams));
  output.set_speaks(impl_->rank() == 0);
  report_.ranks = impl_->size();
  report_.hosts = static_cast<int>(impl_->host_names().size());
  report_.backend = base::name(impl_->backend_kind());
  report_.phases = impl_->phases();
  last_words_.know(report_, hosts_by_rank(*impl_));
  if (step.name.empty() && impl_->size() == 1 && output.speaks())
    base::write_stderr_line("berth: started without mpirun: 1 rank");
}

void Job::publish(std::function<void()> const& write) {
  Errc code = Errc::ok;
  std::string text;
  try {
    write();
  } catch (Error const& error) {
    code = error.code();
    text = error.what();
  }
  impl_->agree(code, text);
}

void Job::close() {
  impl_->close();
}

}  // namespace berth::cli

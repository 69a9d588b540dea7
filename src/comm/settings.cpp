// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include <base/error.hpp>
#include <comm/settings.hpp>

namespace berth::comm {

namespace {

/// Runs `read`; the first failure is kept, and the value stays at its default.
template <class Read>
void keep_failure(Settings& settings, Read&& read) {
  Errc code = Errc::internal;
  std::string text;
  try {
    read();
    return;
  } catch (Error const& error) {
    code = error.code();
    text = error.what();
  } catch (std::exception const& error) {
    text = error.what();
  }
  if (settings.code != Errc::ok) return;
  settings.code = code;
  settings.text = text;
}

}  // namespace

Options Settings::options() const {
  Options same;
  same.backend = backend;
  same.bind = false;
  same.binding = binding;
  same.smt = smt;
  same.fill = fill;
  same.on_lost = on_lost;
  same.init_deadline = init_deadline;
  same.op_deadline = op_deadline;
  return same;
}

Settings resolve(Options const& options, base::Environment const& environment) {
  Settings s;
  keep_failure(s, [&] { environment.check_names(); });
  keep_failure(s, [&] {
    s.backend = options.backend ? *options.backend : environment.backend().value_or(s.backend);
  });
  keep_failure(
      s, [&] { s.bind = options.bind ? *options.bind : environment.bind().value_or(s.bind); });
  keep_failure(s, [&] {
    s.binding = options.binding ? *options.binding : environment.binding().value_or(s.binding);
  });
  keep_failure(s, [&] { s.smt = options.smt ? *options.smt : environment.smt().value_or(s.smt); });
  keep_failure(
      s, [&] { s.fill = options.fill ? *options.fill : environment.fill().value_or(s.fill); });
  keep_failure(s, [&] {
    s.on_lost = options.on_lost ? *options.on_lost : environment.on_lost().value_or(s.on_lost);
  });
  keep_failure(s, [&] {
    s.init_deadline = options.init_deadline ? *options.init_deadline
                                            : environment.init_deadline().value_or(s.init_deadline);
  });
  keep_failure(s, [&] {
    s.op_deadline = options.op_deadline ? options.op_deadline : environment.op_deadline();
  });
  keep_failure(s, [&] {
    bool const positive =
        s.init_deadline.count() > 0 && (!s.op_deadline || s.op_deadline->count() > 0);
    if (!positive) {
      base::fail(Errc::invalid_argument,
                 "a deadline of Options is zero or negative; leave it empty for the default");
    }
  });
  keep_failure(s, [&] { s.shared_memory = environment.shared_memory(); });
  keep_failure(s, [&] { s.log_level = environment.log_level(); });
  keep_failure(s, [&] { s.log_file = environment.log_file(); });
  return s;
}

}  // namespace berth::comm

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace berth::cli {

/// Prepares the standard streams: closed ones become /dev/null, so that no file that is opened
/// later is taken for them, and a reader who leaves is an error of write(), not a signal. Call it
/// first of all.
/// @return false when stdout was closed
bool prepare_streams();

/// The result of one rank's run: text for people, a document for programs. Only the rank that
/// speaks writes anything.
class Output {
 public:
  /// @param json path of --json, "-" or empty @param speaks this rank prints
  /// @param stdout_open what prepare_streams() said
  Output(std::string json, bool speaks, bool stdout_open);

  /// Text of the result: to stdout, or to stderr when the document has stdout. Written at once.
  /// A failure is kept for check().
  void text(std::string_view text) noexcept;
  /// The document of --json; nothing when it was not asked for. @throws Error system
  void document(std::string const& document);
  /// A further file. @throws Error system
  void file(std::string const& path, std::string const& content) const;
  /// @throws Error system when something that was to be on stdout did not get there
  void check() const;

  [[nodiscard]] bool speaks() const { return speaks_; }
  [[nodiscard]] bool wants_document() const { return !json_.empty(); }
  void set_speaks(bool speaks) { speaks_ = speaks; }

 private:
  void write(int descriptor, std::string_view text) noexcept;

  std::string json_;
  std::atomic<bool> speaks_;  ///< the watchdog may take over
  int error_ = 0;             ///< errno of the first failure on stdout
};

/// The moving line on stderr; nothing when stderr is no terminal.
class Moving {
 public:
  explicit Moving(bool speaks);
  ~Moving();
  Moving(Moving const&) = delete;
  Moving& operator=(Moving const&) = delete;
  void show(std::string const& line);

 private:
  bool on_;
  std::size_t shown_ = 0;
};

/// Is the text of this process's locale UTF-8?
bool is_utf8();

}  // namespace berth::cli

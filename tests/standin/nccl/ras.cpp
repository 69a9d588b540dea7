// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include "ras.hpp"

#include <cerrno>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <poll.h>
#include <strings.h>

#include "log.hpp"
#include "settings.hpp"
#include "socket.hpp"

namespace standin {
namespace {

constexpr int patience_ms = 5000;

struct Service {
  Signal stop;
  Descriptor listener;
  std::thread thread;
};

std::mutex service_mutex;
int members = 0;

std::unique_ptr<Service>& service() {
  static auto* const the = new std::unique_ptr<Service>;
  return *the;
}

/// Ranks of one host share the port; whoever is asked answers for all.
Descriptor open_listener() {
  std::string wanted = setting("NCCL_RAS_ADDR");
  if (wanted.empty()) wanted = "127.0.0.1:28028";
  if (wanted.rfind("localhost", 0) == 0) wanted = "127.0.0.1" + wanted.substr(9);
  Address address;
  if (!parse_address(wanted, address)) {
    info("RAS failed to establish a client listening socket at " + wanted);
    return {};
  }
  Descriptor socket(
      ::socket(address.plain.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  int const on = 1;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  if (bind(socket.get(), &address.plain, address.size()) != 0 || listen(socket.get(), 64) != 0) {
    info("RAS failed to establish a client listening socket at " + wanted);
    return {};
  }
  info("RAS client listening socket at " + address.text());
  return socket;
}

/// One client's connection.
class Client {
 public:
  Client(Descriptor socket, Signal const& stop) : socket_(std::move(socket)), stop_(stop) {}

  void serve() {
    std::string line;
    while (read_line(line)) {
      if (!answer(line)) return;
    }
  }

 private:
  /// False when the client is gone or says nothing for too long.
  bool read_line(std::string& line) {
    line.clear();
    while (true) {
      pollfd waits[] = {{stop_.descriptor(), POLLIN, 0}, {socket_.get(), POLLIN, 0}};
      if (poll(waits, 2, patience_ms) <= 0 || stop_.raised()) return false;
      char byte = 0;
      ssize_t const got = recv(socket_.get(), &byte, 1, 0);
      if (got < 0 && errno == EAGAIN) continue;
      if (got <= 0) return false;
      if (byte == '\n') return true;
      line += byte;
    }
  }

  /// False after an answer that ends the connection.
  bool answer(std::string const& line) {
    auto const is = [&](char const* word) {
      return strncasecmp(line.c_str(), word, std::string(word).size()) == 0;
    };
    if (is("client protocol ")) return say("SERVER PROTOCOL 2\n");
    if (is("timeout ")) return say("OK\n");
    if (is("set format ")) {
      json_ = strcasecmp(line.c_str(), "set format json") == 0;
      return say("OK\n");
    }
    if (is("verbose status") || is("status")) {
      say(json_ ? ras_json() : ras_text(is("verbose")));
      return false;
    }
    return say("ERROR: Unknown command " + line + "\n");
  }

  bool say(std::string const& words) {
    send_all(socket_, words.data(), words.size(), stop_);
    return true;
  }

  Descriptor socket_;
  Signal const& stop_;
  bool json_ = false;
};

void run(Service const& service) {
  try {
    while (true) {
      Descriptor socket = accept_one(service.listener, service.stop);
      try {
        Client(std::move(socket), service.stop).serve();
      } catch (Failure const&) {
        info("RAS socket closed by the client");
      }
    }
  } catch (Stopped const&) {
    return;
  } catch (Failure const&) {
    return;
  }
}

}  // namespace

void ras_enter() {
  std::lock_guard const lock(service_mutex);
  if (++members > 1 || nccl_integer("NCCL_RAS_ENABLE", 1) == 0) return;
  auto made = std::make_unique<Service>();
  made->listener = open_listener();
  if (!made->listener.valid()) return;
  Service const* const plain = made.get();
  made->thread = std::thread([plain] { run(*plain); });
  service() = std::move(made);
}

void ras_leave() {
  std::unique_ptr<Service> last;
  {
    std::lock_guard const lock(service_mutex);
    if (--members > 0) return;
    last = std::move(service());
  }
  if (last == nullptr) return;
  last->stop.raise();
  last->thread.join();
}

}  // namespace standin

// SPDX-FileCopyrightText: The Berth contributors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <base/error.hpp>
#include <base/names.hpp>
#include <base/text.hpp>
#include <base/units.hpp>
#include <bench/sizes.hpp>
#include <cli/arguments.hpp>
#include <cli/help.hpp>
#include <cli/values.hpp>

namespace berth::cli {
namespace {

constexpr int most_ranks = 1 << 16;
constexpr int most_hosts = 100000;
constexpr int most_rounds = 1000000;
constexpr std::size_t most_sizes = 10000;

/// The words of the command line, before they are looked at.
struct Words {
  std::map<std::string, std::string> values;  ///< by option as help names it
  std::vector<std::string> topologies;
  std::string collective;
  std::map<std::string, bool> flags;  ///< options without a value that were given

  [[nodiscard]] bool has(std::string const& option) const { return flags.at(option); }
  [[nodiscard]] std::string const* find(std::string const& option) const {
    auto const found = values.find(option);
    return found == values.end() || found->second.empty() ? nullptr : &found->second;
  }
};

/// Adds an option that takes one word. The name without dashes before the comma is for errors.
void add(CLI::App& app, Words& words, std::string const& names) {
  std::string const key = names.substr(0, names.find(','));
  app.add_option(names, words.values[key])->check([key](std::string const& text) {
    if (text.empty()) return fmt::format("{} is empty", key);
    bool const is_option = text.size() > 1 && text[0] == '-' && (text[1] < '0' || text[1] > '9');
    if (is_option) return fmt::format("{} takes a value, but {} follows", key, text);
    return std::string();
  });
}

void add_verbs(CLI::App& app, Words& words) {
  app.set_help_flag("-h,--help");
  app.add_flag("--version");
  app.require_subcommand(0, 1);
  CLI::App* const info = app.add_subcommand("info");
  CLI::App* const map = app.add_subcommand("map");
  CLI::App* const verify = app.add_subcommand("verify");
  CLI::App* const bench = app.add_subcommand("bench");
  for (CLI::App* const verb : {info, map, verify, bench}) add(*verb, words, "--json");
  for (CLI::App* const verb : {verify, bench}) {
    add(*verb, words, "--deadline");
    add(*verb, words, "--backend");
  }
  map->add_option("--topology", words.topologies);
  add(*map, words, "--ranks-per-node");
  add(*map, words, "--nodes");
  add(*map, words, "--smt");
  add(*map, words, "--svg");
  for (char const* const flag : {"--fill", "--respect", "--rebind"})
    map->add_flag(flag, words.flags[flag]);
  add(*verify, words, "--sizes");
  add(*verify, words, "--rounds");
  bench->add_option("COLLECTIVE", words.collective);
  for (char const* const names :
       {"-b,--min-bytes", "-e,--max-bytes", "-f,--step-factor", "-i,--step-bytes",
        "-n,--iterations", "-w,--warmup", "-c,--check", "-d,--types", "-o,--ops", "-G,--cuda-graph",
        "-R,--local-register", "--compare", "--csv"})
    add(*bench, words, names);
}

std::string_view help_of(std::string const& verb) {
  if (verb == "info") return info_help();
  if (verb == "map") return map_help();
  if (verb == "verify") return verify_help();
  if (verb == "bench") return bench_help();
  return help_text();
}

[[noreturn]] void fail(std::string const& text, std::string const& verb) {
  base::fail(Errc::invalid_argument,
             fmt::format("{}; see berth {}--help", text, verb.empty() ? "" : verb + " "));
}

std::string verb_of(CLI::App const& app) {
  auto const verbs = app.get_subcommands();
  return verbs.empty() ? std::string() : verbs.front()->get_name();
}

/// A word that nothing takes: an option that does not exist, a verb, or one word too many.
[[noreturn]] void refuse_extra(CLI::App const& app) {
  std::string const verb = verb_of(app);
  CLI::App const& where = verb.empty() ? app : *app.get_subcommand(verb);
  std::vector<std::string> const extra = app.remaining(true);
  std::string const word = extra.empty() ? "" : extra.front();
  std::vector<std::string> known;
  bool const is_option = word.rfind('-', 0) == 0;
  if (is_option) {
    for (CLI::Option const* option : where.get_options()) {
      for (std::string const& name : option->get_snames()) known.push_back("-" + name);
      for (std::string const& name : option->get_lnames()) known.push_back("--" + name);
    }
  } else if (verb.empty()) {
    known = {"info", "map", "verify", "bench"};
  }
  std::string const given = word.substr(0, word.find('='));
  std::string text = is_option      ? fmt::format("unknown option {}", base::printable(given))
                     : verb.empty() ? fmt::format("unknown verb {}", base::printable(given))
                                    : fmt::format("unexpected word {}", base::printable(given));
  std::string const meant = base::nearest(given, known);
  if (!meant.empty()) text += fmt::format("; did you mean {}?", meant);
  if (!meant.empty()) base::fail(Errc::invalid_argument, text);
  fail(text, verb);
}

void read_map(Words const& words, MapArguments& map) {
  map.topologies = words.topologies;
  if (auto const* text = words.find("--ranks-per-node"))
    map.ranks_per_node = integer("--ranks-per-node", *text, 1, most_ranks);
  if (auto const* text = words.find("--nodes"))
    map.nodes = integer("--nodes", *text, 1, most_hosts);
  if (auto const* text = words.find("--smt")) map.smt = on_off("--smt", *text);
  if (auto const* text = words.find("--svg")) map.svg = *text;
  if (words.has("--fill")) map.fill = true;
  if (words.has("--respect") && words.has("--rebind"))
    base::fail(Errc::invalid_argument, "--respect and --rebind exclude each other: give one");
  if (words.has("--respect")) map.binding = Binding::respect;
  if (words.has("--rebind")) map.binding = Binding::rebind;
  if (map.binding && map.is_imagined())
    base::fail(
        Errc::invalid_argument,
        fmt::format("--{}: no rank runs that a launcher has bound; leave --topology, --nodes "
                    "and --ranks-per-node away",
                    base::name(*map.binding)));
}

void read_verify(Words const& words, VerifyOptions& verify) {
  if (auto const* text = words.find("--sizes")) verify.sizes = byte_list("--sizes", *text);
  if (auto const* text = words.find("--rounds"))
    verify.rounds = integer("--rounds", *text, 1, most_rounds);
}

void read_sizes(Words const& words, bench::Plan& plan) {
  std::size_t first = 8;
  std::size_t last = std::size_t{64} << 20U;
  if (auto const* text = words.find("-b")) first = bytes("-b", *text);
  if (auto const* text = words.find("-e")) {
    last = bytes("-e", *text);
  } else {
    last = std::max(first, last);
  }
  if (first > last)
    base::fail(Errc::invalid_argument,
               fmt::format("-b {} is more than -e {}", base::format_bytes(first),
                           base::format_bytes(last)));
  for (Type const type : plan.types) {
    if (first >= size_of(type)) continue;
    base::fail(Errc::invalid_argument,
               fmt::format("-b {}: less than one {} ({})", first, base::name(type),
                           base::format_bytes(size_of(type))));
  }
  auto const* factor = words.find("-f");
  auto const* step = words.find("-i");
  if (factor != nullptr && step != nullptr)
    base::fail(Errc::invalid_argument, "-f and -i exclude each other: give one of them");
  if (step != nullptr) {
    std::size_t const bytes_more = bytes("-i", *step);
    if (bytes_more == 0) refuse("-i", *step, "at least one byte");
    if ((last - first) / bytes_more >= most_sizes)
      refuse("-i", *step, fmt::format("that is more than {} sizes", most_sizes));
    plan.sizes = bench::sizes_by_step(first, last, bytes_more);
  } else {
    int const times = factor != nullptr ? integer("-f", *factor, 2, 1 << 30) : 4;
    plan.sizes = bench::sizes_by_factor(first, last, static_cast<std::size_t>(times));
  }
}

void read_bench(Words const& words, Arguments& arguments) {
  if (words.collective.empty()) fail("which collective? berth bench all_reduce", "bench");
  bench::Plan& plan = arguments.bench;
  plan.collectives = collectives("berth bench", words.collective);
  if (auto const* text = words.find("-d")) plan.types = types("-d", *text);
  if (auto const* text = words.find("-o")) plan.ops = ops("-o", *text);
  read_sizes(words, plan);
  if (auto const* text = words.find("-n")) plan.iterations = integer("-n", *text, 1, most_rounds);
  if (auto const* text = words.find("-w")) plan.warmup = integer("-w", *text, 0, most_rounds);
  if (auto const* text = words.find("-c")) plan.check = on_off("-c", *text);
  if (auto const* text = words.find("-G")) plan.graph = integer("-G", *text, 0, most_rounds);
  if (auto const* text = words.find("-R")) plan.is_registered = on_off("-R", *text);
  if (auto const* text = words.find("--compare"))
    plan.compare = word("--compare", *text, {"mpi"}) == "mpi";
  if (auto const* text = words.find("--csv")) arguments.csv = *text;
}

void read(std::string const& verb, Words const& words, Arguments& arguments) {
  if (auto const* text = words.find("--json")) arguments.json = *text;
  if (auto const* text = words.find("--deadline"))
    arguments.deadline = duration("--deadline", *text);
  if (auto const* text = words.find("--backend"))
    arguments.backend = base::parse_name<Backend>(word("--backend", *text, {"cpu", "mpi", "nccl"}));
  if (verb == "info") {
    arguments.verb = Verb::info;
  } else if (verb == "map") {
    arguments.verb = Verb::map;
    read_map(words, arguments.map);
  } else if (verb == "verify") {
    arguments.verb = Verb::verify;
    read_verify(words, arguments.verify);
  } else {
    arguments.verb = Verb::bench;
    read_bench(words, arguments);
  }
}

}  // namespace

Arguments parse(int argc, char const* const* argv) {
  CLI::App app("", "berth");
  Words words;
  Arguments arguments;
  add_verbs(app, words);
  try {
    app.parse(argc, argv);
  } catch (CLI::CallForHelp const&) {
    arguments.help = help_of(verb_of(app));
    return arguments;
  } catch (CLI::ExtrasError const&) {
    refuse_extra(app);
  } catch (CLI::ParseError const& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    fail(base::printable(text), verb_of(app));
  }
  if (app.count("--version") > 0) {
    arguments.verb = Verb::version;
    return arguments;
  }
  std::string const verb = verb_of(app);
  if (verb.empty()) {
    if (argc <= 1) fail("what is to be done? info, map, verify or bench", "");
    fail("no verb: info, map, verify or bench", "");
  }
  read(verb, words, arguments);
  return arguments;
}

std::string json_path_of(int argc, char const* const* argv) {
  constexpr std::string_view option = "--json";
  std::string path;
  for (int i = 1; i < argc; ++i) {
    std::string_view const text = argv[i];
    if (text == option && i + 1 < argc) path = argv[i + 1];
    if (text.rfind("--json=", 0) == 0) path = text.substr(option.size() + 1);
  }
  return path;
}

}  // namespace berth::cli

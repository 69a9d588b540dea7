# SPDX-FileCopyrightText: The Berth contributors
# SPDX-License-Identifier: Apache-2.0
#
# A thin front to CMake: every target is a few commands that can be typed by hand.
.DEFAULT_GOAL := build
.PHONY: build run run-built test test-all bench bench-built install lint tidy format help
PREFIX ?= /usr/local
RELEASE := build/release
BERTH := $(RELEASE)/bin/berth
# The launcher that belongs to the MPI that CMake found.
MPIRUN = $(shell sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' $(RELEASE)/CMakeCache.txt)
# What Open MPI wants before it runs for root or on fewer cores than ranks; other MPIs ignore it.
MPI_ENVIRONMENT := OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
  OMPI_MCA_rmaps_base_oversubscribe=1

build: $(RELEASE)/build.ninja ## build the library and the tool into build/release (default)
	@cmake --build $(RELEASE)

# The tests need more packages than the library; `make test` switches them on.
$(RELEASE)/build.ninja:
	@cmake --preset release -DBERTH_TESTS=OFF -DBERTH_MICRO_BENCHMARKS=OFF

run: ## install what is missing, build, verify this machine and measure it with 2 ranks
	@tools/install_dependencies.sh build
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory run-built

# A make of its own: which launcher is known only after the configuration, and make expands all of a
# recipe before it runs the first line.
run-built:
	$(MPI_ENVIRONMENT) $(MPIRUN) -np 2 $(BERTH) verify
	$(MPI_ENVIRONMENT) $(MPIRUN) -np 2 $(BERTH) bench all_reduce -b 8 -e 64M -f 4 --compare mpi

test: ## install what is missing, build and run the everyday tests
	@tools/install_dependencies.sh test
	@tools/test.sh everyday

test-all: ## as test, and the slow tests and the sanitizers too
	@tools/install_dependencies.sh test
	@tools/test.sh all

bench: ## measure all_reduce against MPI's at every power of two
	@tools/install_dependencies.sh build
	@$(MAKE) --no-print-directory build
	@$(MAKE) --no-print-directory bench-built

bench-built:
	$(MPI_ENVIRONMENT) $(MPIRUN) -np 2 $(BERTH) bench all_reduce -b 8 -e 64M -f 2 --compare mpi

install: build ## install into PREFIX (default /usr/local); DESTDIR is honoured
	@cmake --install $(RELEASE) --prefix $(PREFIX)

lint: ## layers, documentation, licence, format
	@tools/install_dependencies.sh test
	@cmake --preset release -DBERTH_TESTS=ON
	@cmake --build $(RELEASE) --target berth_tests_lint
	@ctest --test-dir $(RELEASE) -L lint --output-on-failure --no-tests=error

tidy: ## compile everything with clang-tidy
	@tools/install_dependencies.sh lint
	@cmake --preset tidy
	@cmake --build --preset tidy

format: ## format every C++ file
	@tools/check_format.sh --fix

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F"|" "{printf \"%-18s%s\\n\", \$$1, \$$2}"

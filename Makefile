# The one task runner of the project: CI runs nothing else.
#
# Constraint: every target can be run alone and again, does nothing that is already done, is quiet when it
# succeeds and complete when it fails, and uses what the machine has. `V=1` shows every command's output.
# Must not hold logic that belongs to a script (scripts/) or a build file of a language.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := help

TARGET := $(or $(CARGO_TARGET_DIR),target)
PREFIX ?= /usr/local
WITH := scripts/with.sh
STEP := scripts/step.sh

AGENT := $(TARGET)/release/liblookback.so
RING := $(TARGET)/release/liblookback_ring.so
PAGE := web/dist/report.html
API := java/api/target/lookback-api.jar
WORKLOADS := java/workloads/target/lookback-workloads.jar
HARNESS := $(TARGET)/release/liblookback_harness.so
HARNESS_JAR := java/harness/target/lookback-harness.jar
PROBE := java/probe/target/lookback-probe.jar
WEB_MODULES := web/node_modules/.package-lock.json

PAGE_SOURCES := $(shell find web/src web/build -type f) web/package.json web/tsconfig.json
API_SOURCES := java/api/pom.xml $(shell find java/api/src/main -type f)
HARNESS_SOURCES := java/harness/pom.xml $(shell find java/harness/src/main java/harness/stub -type f)
PROBE_SOURCES := java/probe/pom.xml $(shell find java/probe/src/main -type f)
WORKLOAD_SOURCES := java/workloads/pom.xml $(shell find java/workloads/src/main -type f)

ifdef CI
# Nothing is built twice there, so what only helps the next build is left out.
export CARGO_INCREMENTAL := 0
endif

.PHONY: help
help: ## Show this
	@printf 'make TARGET\n\n'
	@sed -nE 's/^([a-z][a-z-]*):.*## (.*)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22
	@printf '\nV=1 shows all output. A fresh machine: make demo\n'

.PHONY: setup setup-build
setup: ## Install what building and testing need, where it is missing
	@scripts/setup.sh
setup-build: ## Install only what building and the demo need
	@scripts/setup.sh build

.PHONY: build native web api harness workloads probe
build: native api harness workloads ## Build the agent, the command, the native recorder, the report page, the Java API, the harness and the programs to trace
# In one go: alone, the harness would have other features of what it depends on, and each would undo the other's.
native: $(PAGE) ## Build the agent, the command, the native recorder and the harness
	@$(STEP) 'build: agent, command, recorder and harness' $(WITH) cargo build --release -p lookback-agent -p lookback-cli -p lookback-c -p lookback-harness
web: $(PAGE) ## Build the report page
api: $(API) ## Build the Java API: java/api/target/lookback-api.jar
harness: native $(HARNESS_JAR) ## Build the agent that measures, and its jar
workloads: $(WORKLOADS) ## Build the programs to trace
probe: $(PROBE) ## Build the naive probe, and fetch async-profiler, to measure Lookback against

$(WEB_MODULES): web/package-lock.json
	@$(STEP) 'build: npm packages of the report page' $(WITH) npm --prefix web ci --no-audit --no-fund
	@touch $@
$(PAGE): $(WEB_MODULES) $(PAGE_SOURCES)
	@$(STEP) 'build: report page' $(WITH) npm --prefix web run build
	@touch $@
# Cargo leaves the library's time as it was when nothing has changed; then the jar stays as well.
$(RING): native ;
$(API): $(API_SOURCES) $(RING)
	@$(STEP) 'build: Java API' $(WITH) scripts/api.sh $(RING)
	@touch $@
$(HARNESS_JAR): $(HARNESS_SOURCES)
	@$(STEP) 'build: Java side of the harness' $(WITH) mvn -q -B -f java/harness/pom.xml package -Dmaven.test.skip=true
	@touch $@
$(WORKLOADS): $(WORKLOAD_SOURCES)
	@$(STEP) 'build: programs to trace' $(WITH) mvn -q -B -f java/workloads/pom.xml package -Dmaven.test.skip=true
	@touch $@

$(PROBE): $(PROBE_SOURCES)
	@$(STEP) 'build: naive probe' $(WITH) mvn -q -B -f java/probe/pom.xml package -Dmaven.test.skip=true
	@touch $@

.PHONY: test test-rust test-ring-models test-ring-races fuzz test-web test-java test-perfetto test-e2e test-detach
test: build ## Run all tests; the last line is `N passed, N failed`
	@$(WITH) scripts/test.sh
test-rust: $(PAGE) ## Test the crates
	@$(WITH) scripts/test.sh rust
test-ring-models: ## Check the models of ring, recorder and sampler with loom
	@$(WITH) scripts/test.sh ring-models
test-ring-races: ## Run the ring's threads under ThreadSanitizer
	@$(WITH) scripts/test.sh ring-races
FUZZ_SECONDS ?= 60
fuzz: ## Fuzz the reader of the ring's region for FUZZ_SECONDS; needs cargo-fuzz
	@command -v cargo-fuzz >/dev/null || { echo 'cargo-fuzz is missing: cargo install cargo-fuzz' >&2; exit 1; }
	@$(WITH) env -C crates/lookback-ring RUSTC_BOOTSTRAP=1 cargo fuzz run region -- -max_total_time=$(FUZZ_SECONDS)
test-web: $(WEB_MODULES) ## Test the report page, in a browser too
	@$(WITH) scripts/test.sh web
test-java: ## Test the Java API, the harness's Java side, the naive probe and the programs to trace
	@$(WITH) scripts/test.sh java
test-perfetto: ## Have Perfetto's own engine read a trace
	@$(WITH) scripts/test.sh perfetto
test-e2e: build ## Record real programs on real JVMs and read the incidents
	@$(WITH) scripts/test.sh e2e
ATTACHMENTS ?= 100
test-detach: build ## Attach to one program and leave it ATTACHMENTS times, on each JDK; minutes
	@$(WITH) env LOOKBACK_ATTACHMENTS=$(ATTACHMENTS) cargo test -q -p lookback-e2e a_program_can_be_left -- --nocapture

.PHONY: vm test-vm gtest-vm versions-vm soak-vm bench-vm mutants-vm
VM := $(TARGET)/vm
vm: ## Build the extended HotSpot, target/vm/jdk-release; fetches OpenJDK's source from Debian; some ten minutes
	@scripts/setup.sh vm
	@$(STEP) 'build: extended HotSpot' $(WITH) vm/scripts/build.sh $(VM)
test-vm: vm build ## Sample and trace what is hard on the extended HotSpot, with each collector, and check each stack trace, entry and exit; then the agent on it
	@$(WITH) vm/scripts/torture.sh $(VM)/jdk-release 20
	@$(WITH) vm/scripts/tracepoints.sh $(VM)/jdk-release 5
	@$(WITH) vm/scripts/agent.sh $(VM)/jdk-release
gtest-vm: vm ## HotSpot's own tests in C++ on the extended HotSpot, with its flags off and on
	@$(WITH) vm/scripts/gtest.sh $(VM)
versions-vm: ## Show which versions of OpenJDK 17 the hooks fit, of all that Debian serves
	@$(WITH) vm/scripts/versions.sh $(VM)/versions
soak-vm: vm build ## Sample the programs on the extended HotSpot at 0.1 ms, and trace them, for an hour
	@$(WITH) vm/scripts/soak.sh $(VM)/jdk-release 60
bench-vm: vm build ## Cost of a trace point in the extended HotSpot; events and cost on whole programs, beside trace points of bytecode
	@$(WITH) vm/scripts/listing1.sh $(VM)/jdk-release
	@$(WITH) bench/vm-points.sh
mutants-vm: vm ## Show that these checks find what is wrong: VMs with one mistake each
	@$(WITH) vm/scripts/mutants.sh $(VM)

.PHONY: test-suites
test-suites: native ## Compare well-known libraries' own test suites with and without the agent; takes long, fetches them by Maven
	@$(WITH) scripts/suites.sh

.PHONY: lint lint-rust lint-web lint-java lint-figures tidy
lint: lint-rust lint-web lint-java lint-figures tidy ## Check format and style of everything
lint-rust: $(PAGE) ## rustfmt and clippy
	@$(STEP) 'lint: rustfmt' $(WITH) cargo fmt --all --check
	@$(STEP) 'lint: clippy' $(WITH) cargo clippy --quiet --workspace --all-targets -- -D warnings
lint-web: $(WEB_MODULES) ## TypeScript's checker and eslint
	@$(STEP) 'lint: report page' $(WITH) npm --prefix web run lint
lint-java: $(API) $(HARNESS_JAR) $(WORKLOADS) ## javac with all its warnings, as errors
	@$(STEP) 'lint: Java' $(WITH) mvn -q -B -f java/workloads/pom.xml test-compile
	@$(STEP) 'lint: Java API' $(WITH) mvn -q -B -f java/api/pom.xml test-compile
	@$(STEP) 'lint: Java side of the harness' $(WITH) mvn -q -B -f java/harness/pom.xml test-compile
	@$(STEP) 'lint: naive probe' $(WITH) mvn -q -B -f java/probe/pom.xml test-compile
lint-figures: native ## Figures of documents against the runs that they cite
	@$(STEP) 'lint: figures of documents' $(WITH) $(TARGET)/release/lookback lab publish --check README.md docs/*.md java/*/README.md
tidy: ## What no compiler checks: build products, overlong files, dead links, shell scripts
	@$(STEP) 'lint: tidy' scripts/tidy.sh

.PHONY: demo screenshot
demo: setup-build ## Build, record a web shop, find out why it was slow: demo-out/report.html
	@$(MAKE) -j2 build
	@$(WITH) scripts/demo.sh
screenshot: ## Make docs/report.png from the demo's report
	@scripts/screenshot.sh

.PHONY: bench-tracepoint bench-api bench-ring bench-ring-load bench-replay bench-workloads bench-overhead bench-phases bench-waits bench-sampling bench-startup bench-lab bench-smoke
bench-tracepoint: build ## Cost of a trace point
	@$(WITH) bench/tracepoint.sh
bench-api: build ## Cost of a span or an instant of the Java API
	@$(WITH) bench/api.sh
bench-ring: ## Cost of the ring, beside LTTng-UST, JFR and ftrace
	@$(WITH) bench/ring.sh
bench-ring-load: ## Cost of the ring by threads, cores and size of the area
	@$(WITH) bench/load.sh
bench-replay: ## What the ring and others keep of real traces
	@$(WITH) bench/replay.sh
bench-workloads: build ## Cost for whole programs: experiments/tracer.toml; hours, goes on where it stopped
	@$(WITH) bench/experiment.sh tracer
bench-overhead: build probe ## Cost in each state, beside JFR, async-profiler and a naive probe: experiments/overhead*.toml; hours, goes on where it stopped
	@$(WITH) bench/overhead.sh
bench-phases: build ## How soon the cost is within the budget again when a program does something else
	@$(WITH) bench/phases.sh
bench-waits: build ## Cost of a wait, by threads that do nothing else
	@$(WITH) bench/waits.sh
bench-sampling: build probe ## Cost, latency and accuracy of sampling by each engine, on the extended VM too where it is built: experiments/sampling.toml; two hours, goes on where it stopped
	@$(WITH) bench/sampling.sh
bench-startup: build ## Cost at start-up: experiments/startup.toml; goes on where it stopped
	@$(WITH) bench/experiment.sh startup
bench-lab: build ## Is the lab itself right? An hour and more, on a quiet machine; goes on where it stopped
	@$(WITH) bench/lab.sh
bench-smoke: build probe ## All benchmarks, short: do they still work?
	@for bench in tracepoint api phases waits replay ring load lab overhead sampling; do $(STEP) "bench: $$bench, short" $(WITH) bench/$$bench.sh --smoke; done
	@$(STEP) 'bench: experiment, short' $(WITH) bench/experiment.sh smoke

FIGURES ?= tracepoint api startup tracer overhead overhead-batch overhead-17 overhead-threads overhead-first overhead-latency overhead-peers overhead-share phases waits ring ring-load replay gc gc-curves desktop
.PHONY: figures
figures: build ## Run the experiments FIGURES (all), keep them in bench/runs, renew the documents' figures; days, goes on where it stopped
	@$(WITH) scripts/figures.sh $(FIGURES)

.PHONY: install clean
install: native harness ## Install the command, the agent, the native recorder and the harness below PREFIX (/usr/local)
	@install -D -m 755 $(TARGET)/release/lookback $(DESTDIR)$(PREFIX)/bin/lookback
	@install -D -m 755 $(AGENT) $(DESTDIR)$(PREFIX)/lib/liblookback.so
	@install -D -m 755 $(RING) $(DESTDIR)$(PREFIX)/lib/liblookback_ring.so
	@install -D -m 644 crates/lookback-c/include/lookback_ring.h $(DESTDIR)$(PREFIX)/include/lookback_ring.h
	@install -D -m 755 $(HARNESS) $(DESTDIR)$(PREFIX)/lib/liblookback_harness.so
	@install -D -m 644 $(HARNESS_JAR) $(DESTDIR)$(PREFIX)/lib/lookback-harness.jar
	@echo 'installed $(DESTDIR)$(PREFIX)/bin/lookback, lib/liblookback.so, lib/liblookback_ring.so, include/lookback_ring.h, lib/liblookback_harness.so and lib/lookback-harness.jar'
clean: ## Remove everything that was built
	@rm -rf $(TARGET) demo-out web/dist web/test-out web/node_modules tests/perfetto/node_modules java/api/target java/harness/target java/workloads/target

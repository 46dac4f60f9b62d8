# Every target works on a fresh machine with Go. Further packages that a target needs
# are installed as root (.ci/setup); otherwise the target names them.
SHELL := /bin/bash
BUILD := .build
HEDDLE := $(BUILD)/heddle
# PoCL keeps compiled kernels, and needs the folder to be there.
export POCL_CACHE_DIR ?= $(CURDIR)/.cache/pocl/make

.DEFAULT_GOAL := help
.PHONY: help build dist docs demo quick test bench lint vuln fuzz-smoke mutants oclgrind portable stamp fmt clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build the command into .build/heddle; TAGS=core leaves out server, cluster and benchmarks; TAGS are build tags
	@mkdir -p $(BUILD) $(POCL_CACHE_DIR)
	go build -tags "$(TAGS)" -o $(HEDDLE) ./engine/cmd/heddle

dist: ## programs, packages (deb, rpm), wheels, C libraries, bills of materials and checksums for a release, in .build/dist
	@.ci/dist

docs: ## the pages as a static site in .build/docs; all links are checked
	@git ls-files '*.md' | go run ./.ci/docs . "$(BUILD)/docs"

demo: ## ask the King James Bible and a table of flights on every backend
	@.ci/setup
	@$(MAKE) --no-print-directory build
	@$(HEDDLE) demo

quick: ## gofmt and go vet of changed packages, short tests of these and their users; BASE=COMMIT
	@.ci/quick

test: ## short tests on pure Go and PoCL, the embedded service; ALL=--all as in .ci/run
	@.ci/test $(ALL)

bench: ## the benchmarks, short; BENCH="--peers …", RANK="--real DIR …", BITMAP="--real DIR …", SCHEDULE="…" for more
	@.ci/setup
	@$(MAKE) --no-print-directory build
	@$(HEDDLE) bench lists --short $(BENCH)
	@$(HEDDLE) bench rank --short $(RANK)
	@$(HEDDLE) bench bitmap --short $(BITMAP)
	@$(HEDDLE) bench schedule --short $(SCHEDULE)

lint: ## gofmt, go vet, staticcheck
	@.ci/lint

vuln: ## known vulnerabilities of the modules in use; VULNDB=latest takes the newest list
	@.ci/vuln

fuzz-smoke: ## every fuzz target for FUZZTIME (3s)
	@.ci/fuzz

mutants: ## small faults in the changed packages that their tests do not notice; BASE=COMMIT, PACKAGES="./codec"
	@.ci/mutants

oclgrind: ## every kernel under Oclgrind: data races, uninitialised reads
	@.ci/oclgrind

portable: ## kernels on a second runtime and through the compilers for AMD, SPIR-V, Intel
	@.ci/portable

stamp: ## record that the kernels have passed, so that .ci/run skips their checks while they are unchanged
	@.ci/kernels stamp

fmt: ## gofmt in place
	gofmt -w .ci cl codec config engine hostfallback testdata

clean: ## remove the files that the targets made
	rm -rf .build .cache

# Every target that a developer or CI needs; `make help` lists them.
# Tools are pinned here and installed to .tmp/bin, never through go.mod.

GO               ?= go
TMP              := $(CURDIR)/.tmp
BIN              := $(TMP)/bin
RESULTS          := $(TMP)/test
FIGURES          := $(TMP)/figures
GOLANGCI_VERSION := v2.15.0
GOTESTSUM_VERSION := v1.13.0
GOLANGCI         := $(BIN)/golangci-lint-$(GOLANGCI_VERSION)
GOTESTSUM        := $(BIN)/gotestsum-$(GOTESTSUM_VERSION)

# Packages that start brokers or processes. They run one after the other, since
# two brokers and their clients at once turn timing into noise on two cores.
HEAVY_RACE := ./eos/... ./processor/...
HEAVY      := ./cmd/... ./examples/... ./internal/committed/... ./internal/demo/... ./internal/devpg/... ./internal/dlq/... \
              ./internal/kafkaproc/... ./internal/kafkatest/... ./internal/pgtest/...
CRASH      := ./internal/crashtest/...

# Arguments of the optional parts; see the targets.
KAFKA        ?=
BENCH        ?= copy
FUZZTIME     ?= 30s
PROOF_ROUNDS ?= 20

export GORACE := halt_on_error=1
export WEIR_FIGURES := $(FIGURES)

.NOTPARALLEL:
.DEFAULT_GOAL := help

# timed runs the shell commands $(2) and says how long they took.
define timed
@start=$$(date +%s); printf 'setup: %s ...\n' '$(1)'; { $(2); } || exit 1; \
	printf 'setup: %s: %s s\n' '$(1)' "$$(( $$(date +%s) - start ))"
endef

# gotest runs packages $(2) with the flags $(3); the events go to $(1).json,
# from which internal/testcount counts.
gotest = @if pkgs=$$($(GO) list $(2)) && [ -n "$$pkgs" ]; then \
	mkdir -p $(RESULTS) && echo "==> $(1)" && \
	$(GOTESTSUM) --format pkgname --format-hide-empty-pkg --jsonfile $(RESULTS)/$(1).json -- \
		-count=1 -timeout=25m $(3) $$pkgs </dev/null; \
	else echo "$(1): no packages match $(2)" >&2; exit 1; fi

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: ## Kill workers while records flow and count duplicates; KAFKA=host:port uses a real cluster
	@mkdir -p $(BIN) && $(GO) build -o $(BIN)/weir ./cmd/weir
	@$(BIN)/weir demo $(if $(KAFKA),--kafka $(KAFKA))

.PHONY: test
test: setup ## All that must hold before a change lands: lint, unit, race, integration, crash
	@rm -rf $(RESULTS) && mkdir -p $(RESULTS) && date +%s > $(RESULTS)/started
	@rc=0; $(MAKE) --no-print-directory --keep-going lint unit race integration crash || rc=1; \
	$(GO) run ./internal/testcount -since $(RESULTS)/started $(RESULTS)/*.json || rc=1; exit $$rc

.PHONY: unit
unit: $(GOTESTSUM) ## Tests that need no broker, with the race detector
	$(call gotest,unit,$$($(GO) list ./... | grep -vxF "$$($(GO) list $(HEAVY_RACE) $(HEAVY) $(CRASH))"),-race)

.PHONY: race
race: $(GOTESTSUM) servers ## The engine and the processor on a real broker, with the race detector
	$(call gotest,race,$(HEAVY_RACE),-race -p 1)

.PHONY: integration
integration: $(GOTESTSUM) servers ## Commands, examples and test helpers on a real broker
	$(call gotest,integration,$(HEAVY),-p 1)

.PHONY: crash
crash: $(GOTESTSUM) servers ## One run of each cell of the kill matrices
	@rm -rf $(FIGURES)
	@rc=0; $(MAKE) --no-print-directory crashtests || rc=1; cat $(FIGURES)/figures.txt 2>/dev/null; exit $$rc

.PHONY: crashtests
crashtests:
	$(call gotest,crash,$(CRASH),-p 1)

.PHONY: proof
proof: $(GOTESTSUM) servers ## Every cell PROOF_ROUNDS times; resumes where it stopped (.tmp/proof)
	@mkdir -p $(TMP)/proof && rm -rf $(FIGURES)
	@rc=0; WEIR_PROOF_ROUNDS=$(PROOF_ROUNDS) WEIR_PROOF_STATE=$(TMP)/proof \
		$(GOTESTSUM) --format testname -- -count=1 -timeout=12h -p 1 $(CRASH) </dev/null || rc=1; \
		cat $(FIGURES)/figures.txt 2>/dev/null; exit $$rc

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@found=0; for file in $$(grep -rlE --include='*_test.go' --exclude-dir=.tmp '^func Fuzz' .); do \
		for name in $$(sed -nE 's/^func (Fuzz[A-Za-z0-9_]*).*/\1/p' $$file); do \
			found=1; echo "==> $$(dirname $$file) $$name"; \
			$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$(dirname $$file) || exit 1; \
		done; \
	done; [ $$found = 1 ] || { echo "no fuzz target found" >&2; exit 1; }

.PHONY: bench
bench: ## Compare with the hand-written loop; BENCH="copy" or "latency" and flags, KAFKA=host:port
	@mkdir -p $(BIN) && $(GO) build -o $(BIN)/ ./cmd/weir ./internal/kafkaproc/withkafka
	@$(if $(KAFKA),WEIR_TEST_KAFKA=$(KAFKA),$(BIN)/withkafka --) sh -c '$(BIN)/weir bench $(BENCH) --brokers $$WEIR_TEST_KAFKA'

.PHONY: lint
lint: $(GOLANGCI) ## Run the linters of .golangci.yml
	@echo "==> lint"; start=$$(date +%s); $(GOLANGCI) run ./... && echo "lint: $$(( $$(date +%s) - start )) s"

.PHONY: cover
cover: servers ## Coverage of the public packages by all their tests
	@mkdir -p $(TMP)
	@$(GO) test -count=1 -p 1 -coverpkg=./topology/...,./eos/...,./processor/... \
		-coverprofile=$(TMP)/cover.out ./topology/... ./eos/... ./processor/...
	@$(GO) tool cover -func=$(TMP)/cover.out | tail -1

.PHONY: up
up: ## Start Kafka and PostgreSQL of docker-compose.yml
	@docker compose up --detach --wait

.PHONY: down
down: ## Stop them and delete their data
	@docker compose down --volumes

# --- set-up ---------------------------------------------------------------

.PHONY: setup
setup: system modules $(GOTESTSUM) $(GOLANGCI) servers compiled ## Install what the tests need (part of test)

# A C compiler is for the race detector; Java 17 or newer and Maven are for the
# broker of the tests. Root installs them; anybody else is told what is missing.
.PHONY: system
system:
	@missing=; \
	command -v gcc >/dev/null || missing="$$missing gcc libc6-dev"; \
	java=$$(java -version 2>&1 </dev/null | sed -nE '1,3s/.*version "([0-9]+).*/\1/p'); \
	[ "$${java:-0}" -ge 17 ] || missing="$$missing default-jdk-headless"; \
	command -v mvn >/dev/null || missing="$$missing maven"; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		start=$$(date +%s); printf 'setup: apt-get install%s ...\n' "$$missing"; \
		export DEBIAN_FRONTEND=noninteractive; \
		{ apt-get -qq update && apt-get -qq install -y --no-install-recommends $$missing; } </dev/null >/dev/null || exit 1; \
		printf 'setup: apt-get install: %s s\n' "$$(( $$(date +%s) - start ))"; \
	else echo "missing on this machine, install first: sudo apt-get install$$missing" >&2; exit 1; fi

.PHONY: modules
modules:
	$(call timed,Go modules,$(GO) mod download)

# The tool's version is part of the file name: a new pin installs a new file.
$(GOTESTSUM):
	$(call timed,gotestsum $(GOTESTSUM_VERSION),mkdir -p $(BIN) && GOBIN=$(BIN) $(GO) install gotest.tools/gotestsum@$(GOTESTSUM_VERSION) && mv $(BIN)/gotestsum $@)

$(GOLANGCI):
	$(call timed,golangci-lint $(GOLANGCI_VERSION),mkdir -p $(BIN) && GOBIN=$(BIN) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION) && mv $(BIN)/golangci-lint $@)

# The jars and binaries are kept in a cache folder, so that a second clone finds
# them. Starting both servers once shows that they are whole and that they run.
.PHONY: servers
servers:
	$(call timed,Kafka jars and PostgreSQL binaries and a first start of both,$(GO) run ./internal/kafkaproc/withkafka -postgres -- true)

.PHONY: compiled
compiled:
	$(call timed,build,$(GO) build ./... && $(GO) test -race -c -o /dev/null ./... >/dev/null && $(GO) test -c -o /dev/null ./... >/dev/null)

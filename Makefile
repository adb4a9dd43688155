# Rowlock's chores. `make` alone lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:

# Everything is built without C, as what is released is, so that the linter, the
# tests of the program and the build share what the compiler made. The race
# detector alone needs it.
export CGO_ENABLED := 0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)

# The linter is built from the Go module proxy at this version, once, into a
# cache outside the checkout.
GOLANGCI_VERSION := v2.15.0
TOOLS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rowlock/tools
GOLANGCI := $(TOOLS)/golangci-lint-$(GOLANGCI_VERSION)
# So is helm, which lints and renders the chart in a test.
HELM_VERSION := v3.22.0
HELM := $(TOOLS)/helm-$(HELM_VERSION)

# templ at the version that go.mod has; looked up only where it is used.
TEMPL = go run github.com/a-h/templ/cmd/templ@$(shell go list -m -f '{{.Version}}' github.com/a-h/templ)

# Runs its arguments beside a throw-away PostgreSQL and stops it afterwards.
WITHPG := go run ./internal/pgtest/withpg

# Tests run under the race detector. Others' code that parses and packs within one
# goroutine is not watched, which takes half of the time; and vet is for lint.
UNWATCHED := compress/flate regexp regexp/syntax golang.org/x/net/html golang.org/x/crypto/argon2 golang.org/x/crypto/blake2b \
	github.com/PuerkitoBio/goquery github.com/andybalholm/cascadia github.com/alecthomas/chroma/v2/... \
	github.com/dlclark/regexp2/v2/... github.com/santhosh-tekuri/jsonschema/v6 github.com/antlr4-go/antlr/v4 \
	cel.dev/cel-go/checker cel.dev/cel-go/parser/...
GOTEST := env CGO_ENABLED=1 go test -race -vet=off -ldflags='-s -w' $(UNWATCHED:%=-gcflags=%=-race=false)

# How long one package's tests may take; far above what they need.
TEST_TIMEOUT ?= 40m
# How long each fuzz target runs; and how long, for each kind of source, the
# verifier and what reads its events.
FUZZTIME ?= 30s
KINDTIME ?= 60s
# The kinds that are fuzzed: each has a directory of its vectors or settings.
KINDS ?= $(filter-out fuzz,$(notdir $(wildcard internal/signature/testdata/*)))
# fuzz TIME PACKAGE TARGET. Up to Go 1.26 the end of the time can be reported as
# a failure of the target, in words of its own and without an input that failed
# (https://go.dev/issue/75804); that alone is no failure.
FUZZ := fuzz() { \
	{ output=$$(go test -run '^$$' -fuzz "^$$3\$$" -fuzztime "$$1" "$$2" 2>&1 | tee -a /dev/fd/3); } 3>&1 || \
	grep -qx '    context deadline exceeded' <<<"$$output" && ! grep -q -e 'Failing input' -e 'seed corpus' <<<"$$output"; }

.PHONY: help
help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/rowlock
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/rowlock ./cmd/rowlock

.PHONY: release
release: ## what is released, into dist: archives, a list of what is in them, and sums
	deploy/release '$(VERSION)' dist

# Deliveries to this machine are allowed here, so that there is something to
# deliver to; a plain `rowlock serve` allows nothing private.
.PHONY: run
run: export ROWLOCK_ALLOW_NETWORKS ?= 127.0.0.0/8,::1/128
run: build ## build, and start everything on an embedded PostgreSQL under ./data
	@exec ./bin/rowlock serve

# What is built is committed, so that go build needs no Node.
.PHONY: assets
assets: static/build/node_modules ## build static/assets and the icons (needs Node 20)
	cd static/build && npm run --silent build

static/build/node_modules: static/build/package-lock.json
	@command -v npm >/dev/null || { echo 'npm is missing: apt-get install nodejs npm (Node 20 or newer)' >&2; exit 1; }
	cd static/build && npm ci --ignore-scripts --no-audit --no-fund
	@touch $@

.PHONY: generate
generate: assets ## write the generated files anew
	$(TEMPL) generate -log-level warn -path web
	go generate ./...

.PHONY: fmt
fmt: $(GOLANGCI) ## format the Go files and the templates
	$(GOLANGCI) fmt ./...
	$(TEMPL) fmt -log-level warn web

.PHONY: lint
lint: $(GOLANGCI) ## go vet and golangci-lint
	go vet ./...
	$(GOLANGCI) run ./...

# Never from the cache: some tests build the program and run it, which go test
# cannot see.
.PHONY: test
test: export ROWLOCK_TEST_HELM = $(HELM)
test: $(HELM) ## every test, with the race detector, on a throw-away PostgreSQL
	$(WITHPG) $(GOTEST) -count=1 -timeout $(TEST_TIMEOUT) ./...

.PHONY: race
race: ## the tests three times over in changing order, and the race detector in the program too, to find what is rare
	ROWLOCK_TEST_RACE_PROGRAM=1 $(WITHPG) $(GOTEST) -count=3 -shuffle=on -timeout 90m ./...

.PHONY: fuzz-kinds
fuzz-kinds: ## the verifier and the event reader of each kind of source (KINDS) for KINDTIME (60s)
	@$(FUZZ); for kind in $(KINDS); do for target in FuzzVerify FuzzEvents; do \
		echo "./internal/signature $$target $$kind"; \
		ROWLOCK_FUZZ_KIND=$$kind fuzz $(KINDTIME) ./internal/signature $$target; \
	done; done

.PHONY: fuzz
fuzz: fuzz-kinds ## every fuzz target for FUZZTIME (30s), those of kinds for KINDTIME each
	@$(FUZZ); grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do \
		grep -oE '^func Fuzz[A-Za-z0-9_]+' "$$file" | cut -d' ' -f2 | grep -vE '^(FuzzVerify|FuzzEvents)$$' | while read -r target; do \
			echo "$$(dirname "$$file") $$target"; \
			fuzz $(FUZZTIME) "$$(dirname "$$file")" $$target; \
		done; \
	done

.PHONY: bench
bench: ## measure everything on throw-away databases, and write internal/bench/RESULTS.md (half an hour; on a quiet machine)
	go run ./internal/bench/results

.PHONY: cover
cover: ## test coverage of each function, into coverage.out
	$(WITHPG) go test -timeout $(TEST_TIMEOUT) -coverpkg=./internal/... -coverprofile=coverage.out ./...
	go tool cover -func=coverage.out

.PHONY: migration
migration: ## a new migration: make migration name=add_x
	@[[ "$(name)" =~ ^[a-z][a-z0-9_]*$$ ]] || { echo 'make migration name=verb_noun (lower case, digits, underscores)' >&2; exit 2; }
	@last=$$(find migrations -name '[0-9][0-9][0-9][0-9]_*.sql' | sed 's|.*/||' | sort | tail -n 1 | cut -c1-4); \
	file=$$(printf 'migrations/%04d_%s.sql' $$((10#$${last:-0} + 1)) "$(name)"); \
	printf -- '-- Why this change is made.\n\n-- +goose Up\n\n-- +goose Down\n' > "$$file"; \
	echo "$$file"

.PHONY: verify
verify: ## fail when generated files, formatting or go.mod are not as they should be
	@state() { git status --porcelain; git diff | git hash-object --stdin; }; \
	before=$$(state); $(MAKE) --no-print-directory generate fmt; \
	[[ "$$before" == "$$(state)" ]] || { echo 'generated files or formatting have drifted: commit what make generate fmt changed' >&2; git status --short >&2; exit 1; }
	go mod tidy -diff

.PHONY: vulns
vulns: ## look for known vulnerabilities (needs the vulnerability database)
	go run golang.org/x/vuln/cmd/govulncheck@latest ./...

.PHONY: ci
ci: ## everything that must pass, as on a bare machine
	.ci/run

$(GOLANGCI):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI_VERSION)
	mv $(TOOLS)/golangci-lint $@

$(HELM):
	@mkdir -p $(TOOLS)
	GOBIN=$(TOOLS) go install helm.sh/helm/v3/cmd/helm@$(HELM_VERSION)
	mv $(TOOLS)/helm $@

# make test needs nothing but Go; make check also fetches the tools in tools/go.mod.

GO    ?= go
TOOL  := $(GO) tool -modfile=tools/go.mod
# The race detector needs a C compiler; without one the tests run without it.
RACE  := $(shell command -v $${CC:-cc} >/dev/null 2>&1 && [ "$$($(GO) env CGO_ENABLED)" = 1 ] && echo -race)
FUZZ_TIME ?= 20s

.PHONY: run build test check bench cover fuzz prove docs pictures fmt

run: ## chat from the source
	$(GO) run ./cmd/agent

build: ## bin/agent, stripped
	$(GO) build -trimpath -ldflags='-s -w' -o bin/agent ./cmd/agent

test: ## all tests
	$(GO) test $(RACE) ./...
	@command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || \
	  echo "PostgreSQL is not installed (Debian: apt-get install postgresql), so the tests that need a server were left out."

check: ## format, vet, staticcheck, tidy, generated docs, import rules
	@out=$$($(TOOL) gofumpt -l cmd internal); [ -z "$$out" ] || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(GO) mod tidy -diff
	$(GO) test ./internal/importtest
	$(GO) test -run Fresh ./...
# The best of some runs counts: a busy machine makes any of them slow.
	@$(GO) build -o bin/agent ./cmd/agent; for run in 1 2 3 4 5; do GODEBUG=inittrace=1 bin/agent --version 2>&1 >/dev/null; done | \
	  awk '$$2 ~ /^banyan\// { if (!($$2 in least) || $$5 < least[$$2]) least[$$2] = $$5 } \
	    END { for (p in least) if (least[p] > 1) { print p " takes " least[p] " ms to initialise"; bad = 1 } exit bad }'

fmt: ## format the code
	$(TOOL) gofumpt -w cmd internal

bench: ## measurements beside their floor, in one run
	$(GO) test -run '^$$' -bench . -benchtime $(or $(BENCH_TIME),2x) ./cmd/agent
	$(GO) test -run '^$$' -bench . -benchtime $(or $(BENCH_TIME),5x) ./internal/jsonl ./internal/store/database ./internal/tree ./internal/session ./internal/tui/...
	$(GO) test -run '^$$' -bench . -benchtime $(or $(BENCH_TIME),2000x) ./internal/extension

cover: ## coverage by package
	$(GO) test -coverprofile=cover.out ./... && $(GO) tool cover -func=cover.out | tail -1

fuzz: ## every fuzz target for FUZZ_TIME
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ_TIME) $$pkg; \
	  done; done

# What a test must be called to be a proof, by what it proves: see docs/proofs.md.
PROOF_TESTS := Killed|Kill$$|Writers|TwoWindows|SecondWriter|SecondWindow|EveryCallFails|Faults|FullDisk|AnyOneFault|PowerCut|Cut|Damage|BadFiles|BadPlaces|OpeningChangesNothing|Migration|Escape|Survives|TerminalIsRestored|ClosedTerminal|TextIsInert|AlwaysInert|Payloads|Attacks|KeysStayHome|BeforeTrust|ByHooksAndRules|SeveralHooks|WhatWasApprovedRuns|BadPrograms|ThatHangs|PiecesAreAsTheWhole|ARuleEnds|ARuleThat|MeetsARule|DangerousCommands|SafeCommands|AllowedCommands|EditChangesNothingElse|AnyContextIsAcceptable|Histories|Suite|EveryStore|BetweenAllStores|LockIsLost|NewerSchema|GoesAway|ThatIsNotThere|ServerIsFull|WhatExtensionsDoWrong|RegisteredNames|ProtocolConformance|BadServers|BadWebServers|HugeAnswer|AnswersTwice|AreHeldBack|ServerOfAProject|^TestChat$$|^TestResponses$$
PROOF_PACKAGES := ./internal/jsonl/... ./internal/store/... ./internal/session ./internal/engine ./internal/tool ./internal/sandbox ./internal/permission ./internal/hook ./internal/rule ./internal/llm/... ./internal/tui/inert ./internal/tui/transcript ./internal/export ./internal/extension ./internal/mcp ./cmd/agent

prove: ## what docs/proofs.md promises, with its figures; LONG=1 for the long form
	@PROVE=1 $(GO) test -count=1 -p 1 -timeout 3h -v -run '$(PROOF_TESTS)' $(PROOF_PACKAGES) 2>&1 | awk -f docs/proofs.awk

pictures: ## docs/pictures and docs/screens.md, from what the screen draws
	$(GO) test -run 'Pictures$$' ./internal/tui -update

docs: ## generated documents
	$(GO) test -run Fresh ./internal/tui -update

# Rimewatch. `make run` is the demo, `make test` everything that must pass.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  = -s -w -X main.version=$(VERSION)
export CGO_ENABLED = 0
# A program with the race detector otherwise sleeps a second before it ends.
export GORACE = atexit_sleep_ms=0

.PHONY: all build run test vet lint ui ui-test ui-every browser chromium firefox postgres mosquitto screenshots fuzz explore bench profile evaluate pictures fleet kill9 faults cluster-faults cluster-patroni release clean

all: build

# The web UI is built if npm is available. Otherwise the binary contains a page
# that says how to get the UI.
NPM  := $(shell command -v npm 2>/dev/null)
DIST  = internal/webui/dist/index.html

# What is shipped is compiled for a profile of the server under load, for which the compiler takes every package
# anew: the demo and the browser tests go without.
PGO = cmd/rimewatch/server.pgo
run browser screenshots ui-every: PGO = off

build: $(if $(NPM),ui) ## the binary, in bin/
	$(GO) build -pgo=$(PGO) -trimpath -ldflags '$(LDFLAGS)' -o bin/rimewatch ./cmd/rimewatch

run: build ## the demo: a market with twelve units, six of them in trouble
	./bin/rimewatch demo

ui: $(DIST) ## the web UI, into internal/webui/dist

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

# The UI's types are generated from the server's OpenAPI description.
web/src/api/schema.d.ts: web/node_modules/.package-lock.json field.go $(shell find internal/httpapi internal/wire -name '*.go' -not -name '*_test.go')
	$(GO) run ./cmd/rimewatch openapi > web/openapi.json
	cd web && npm run --silent api

$(DIST): web/src/api/schema.d.ts $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/openapi.json' -not -path 'web/scripts/*' -not -path 'web/e2e/*')
	cd web && npm run --silent build

ui-test: ui ## the UI's types and units
	cd web && npm run --silent check && npm run --silent test

ui-every: build chromium ## every page for people with disabilities in every theme, size and language; the rest of them is in `make browser`
	cd web && EVERY=1 npm run --silent browser -- pages empty

screenshots: build ## every page in every size and theme, into screenshots/
	cd web && npm run --silent screenshots

# Installs what Debian has, also where its lists are older than what is there.
apt = apt-get install -y -qq $(1) >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq $(1) >/dev/null; }

# Installs Debian's chromium if there is none and we are allowed to, and its variant without windows, which most tests use where it is.
chromium:
	@command -v chromium >/dev/null || { echo 'installing chromium'; $(call apt,chromium); } || \
		{ echo 'the browser tests need chromium: apt-get install chromium'; exit 1; }
	@command -v chromium-headless-shell >/dev/null || { $(call apt,chromium-headless-shell); } 2>/dev/null || \
		echo 'no chromium-headless-shell: the browser tests take half as long again'

# Installs Debian's newest Firefox likewise, in place of one older than 153, which lacks what Playwright asks for; where it cannot be had, its tests say that they are skipped.
firefox:
	@test "$$(firefox-esr --version 2>/dev/null | grep -oE '[0-9]+' | head -1)" -ge 153 2>/dev/null || { echo 'installing firefox-esr'; apt-get update -qq >/dev/null 2>&1; \
		apt-get install -y -qq firefox-esr >/dev/null 2>&1; } || echo 'no firefox-esr: the tests in Firefox are skipped'

# Installs Debian's PostgreSQL likewise, whose servers the tests start by themselves.
postgres:
	@command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { echo 'installing postgresql'; \
		$(call apt,postgresql); } || \
		{ echo 'the tests of the PostgreSQL store need it: apt-get install postgresql'; exit 1; }

# Installs Debian's Mosquitto likewise, a broker and its clients.
mosquitto:
	@command -v mosquitto_pub >/dev/null && { command -v mosquitto >/dev/null || test -x /usr/sbin/mosquitto; } || { echo 'installing mosquitto'; \
		$(call apt,mosquitto mosquitto-clients); } || \
		{ echo 'the tests of MQTT need it: apt-get install mosquitto mosquitto-clients'; exit 1; }

browser: build chromium firefox ## the UI in a real browser, against the real binary; SLOW=7 for answers and pages that are slow by that seed
	cd web && npm run --silent browser

# The database engine is translated C that locks for itself; what holds answers against OpenAPI, and what reads the lists of bad
# passwords at each start, runs alone: the race detector only slows them down.
UNCHECKED = $(patsubst %,-gcflags=%/...=-race=false,modernc.org github.com/getkin github.com/santhosh-tekuri github.com/ccojocar github.com/rimewatch/rimewatch/internal/simulate)

# The tests run with the race detector and -short where anything runs side by side; -short, because simulated weeks cost ten
# times as much with it, which finds no more in them than in a day. What starts no goroutine runs without it and in full, and so
# do the tests that ask testing.Short (as rapid does; archtest knows how they may ask), and e2e, whose server has a race
# detector of its own.
TESTED = $(shell find . -name '*_test.go' -not -path './tools/*' -not -path './web/*' | xargs -n1 dirname | sort -u)
RACED  = $(filter-out ./e2e ./internal/archtest,$(shell grep -lE '^\s*go [a-z]|\.Go\b|"sync|Parallel\b|synctest|httptest' $(wildcard $(TESTED:=/*.go)) | xargs -n1 dirname | sort -u))
FULL   = $(filter-out $(RACED),$(TESTED))
ASKS   = testing\.Short|rapid\.Check|[^a-z]long.t.$$|[^a-z]shorter.[0-9l]|[^a-z]play(Until)?.t,
AGAIN  = $(shell grep -lE '$(ASKS)' $(filter-out %bench_test.go,$(wildcard $(RACED:=/*_test.go))))
ASKING = $(shell awk '/^func Test/ {sub(/[^A-Za-z0-9_].*/, "", $$2); name = $$2} name && /$(ASKS)/ {print name; name = ""} /^}/ {name = ""}' $(AGAIN) | sort -u | paste -sd '|')
GOTEST = $(GO) test $(PLAIN)
PLAIN  = -vet=off -ldflags='-s -w' -timeout=60m

# What fails is run once more, alone: at once, or where `make test` has its strands leave it, after all of them.
FLAKY = $(CURDIR)/bin/flaky
TWICE = $(GO) run ./internal/lab/again $(if $(FLAKY_DIR),-later $(FLAKY_DIR)) $(PLAIN)

# The tests make and remove files by the ten thousand, and a disk's file system is slow to use again what was just removed: where
# memory has room for their files (and programs may run from it), they take half as long. Benchmarks and rounds of kill stay on disk.
ifndef TMPDIR
test test-raced test-full test-rest browser: export TMPDIR := $(shell awk '/^MemAvailable/ && $$2 > 8e6 {print "yes"}' /proc/meminfo 2>/dev/null | \
	grep -q yes && df -k --output=avail /dev/shm 2>/dev/null | awk 'END {exit !($$1 > 4e6)}' && ! grep -q ' /dev/shm .*noexec' /proc/mounts && \
	echo /dev/shm || echo /tmp)
endif

# Tests wait as much as they compute, so that three strands of them keep two processors busy.
test: postgres mosquitto $(if $(NPM),ui chromium firefox) ## everything that must pass, with the race detector
	@rm -rf $(FLAKY) && mkdir -p $(FLAKY)
	$(MAKE) -j3 FLAKY_DIR=$(FLAKY) test-raced test-full test-rest
	@$(GO) run ./internal/lab/again -now $(FLAKY)

.PHONY: test-raced test-full test-rest
test-raced:
	$(TWICE) -race -short $(UNCHECKED) $(RACED)
	$(TWICE) -run='^($(ASKING))$$' $(sort $(dir $(AGAIN)))

test-full:
	$(TWICE) $(FULL)

test-rest:
	$(MAKE) vet lint $(if $(NPM),ui-test browser)
	@# -count=1: what they read lies outside of their modules, where go test does not see that it has changed.
	for tool in release chart dashboard compose; do (cd tools/$$tool && $(GO) test -count=1 ./...) || exit 1; done

vet:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'not formatted:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...

# The linters are a module of their own: their two hundred dependencies are not the product's.
lint: ## every linter of .golangci.yml, and functions that nothing calls
	$(GO) tool -modfile=tools/lint/go.mod golangci-lint run --allow-parallel-runners ./...
	@dead=$$($(GO) tool -modfile=tools/lint/go.mod deadcode -test ./...) && test -z "$$dead" || { echo "nothing calls:"; echo "$$dead"; exit 1; }

# CHECKS of each property in each of ROUNDS; SEED=n for one round as it was.
CHECKS ?= 1000
DRAWS   = $(shell grep -lE 'rapid.Check|draw.Seed' $(wildcard $(addsuffix /*_test.go,$(filter-out ./e2e ./internal/archtest,$(TESTED)))))
DRAWN   = $(shell grep -ohE '^func Test\w+' $(DRAWS) | cut -c6- | sort -u | paste -sd '|')
explore: ## draw anew what tests draw at random, which is otherwise always the same
	@for i in $$(seq $(if $(SEED),1,$(or $(ROUNDS),10))); do \
		export RAPID_SEED=$(or $(SEED),$$(od -An -N6 -tu8 /dev/urandom | tr -d ' ')) RAPID_CHECKS=$(CHECKS); echo "make explore SEED=$$RAPID_SEED CHECKS=$(CHECKS)"; \
		$(GOTEST) -count=1 -run '^($(DRAWN))$$' $(sort $(dir $(DRAWS))) || { \
			echo "draw it again: make explore SEED=$$RAPID_SEED; keep it: call the property with what was drawn, as TestClockBehind does in internal/engine"; exit 1; }; \
	done

FUZZTIME ?= 20s
fuzz: ## every fuzz target for FUZZTIME
	@for p in $$($(GO) list ./...); do \
		for f in $$($(GO) test -list '^Fuzz' $$p 2>/dev/null | grep '^Fuzz'); do \
			echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
		done; \
	done

# What measures the product is a module of its own, with one program.
LAB = cd lab && $(GO) run -pgo=$(CURDIR)/$(PGO) .

# Such as BENCH='-only growth -devices 1000000 -profile DIR', or -doc docs/performance.md for the table of that page.
BENCH ?=
bench: ## the side-by-side benchmark: prints ratios
	$(LAB) bench $(BENCH)

# It is committed, and names no path of this machine.
PROFILES = /tmp/rimewatch-profile
profile: ## make the profile anew that the compiler works by, from the loads of `make bench`: four minutes, before a release
	rm -rf $(PROFILES) && mkdir $(PROFILES)
	cd lab && $(GO) build -trimpath -o $(PROFILES)/lab .
	$(PROFILES)/lab bench -only growth -devices 1000,10000,100000 -rounds 1 -steps create,warm,batches,single,recovery -alone -profile $(PROFILES)
	$(PROFILES)/lab bench -only batch -profile $(PROFILES)
	cd $(PROFILES) && $(GO) tool pprof -proto *.pprof > $(CURDIR)/$(PGO)

# DATA is a folder of recordings with site_alarms.csv; without it only the simulator runs.
DATA ?=
SEEDS = 10
YEARS = 50
DIRTY_SEEDS = 104
DIRTY_YEARS = 101
SPOILT_SEEDS = 2
EVALUATE = nice -n 5 $(CURDIR)/bin/lab evaluate --workers $(shell nproc) --doc $(CURDIR)/docs/prediction.md

evaluate: ## measure the predictor and write docs/prediction.md; DATA=dir for recordings, DIRTY_SEEDS=8 DIRTY_YEARS=20 for a quick look
	cd lab && $(GO) build -pgo=$(CURDIR)/$(PGO) -o $(CURDIR)/bin/lab .
	@if [ -n "$(DATA)" ]; then $(EVALUATE) --format real $(DATA); fi
	$(EVALUATE) --format simulator --seeds $(SEEDS) --years $(YEARS)
	$(EVALUATE) --format dirty --seeds $(DIRTY_SEEDS) --years $(DIRTY_YEARS)
	$(EVALUATE) --format spoilt --seed-set fresh --seeds $(SPOILT_SEEDS)

# The tool is a module of its own: what it needs is not the product's. TARGETS=linux/amd64 for one alone.
TARGETS ?=
release: $(if $(NPM),ui) ## Debian packages, tarballs, checksums and the bill of materials, in dist/
	cd tools/release && $(GO) run . -version $(VERSION) $(if $(TARGETS),-targets $(TARGETS))
	cd dist && sha256sum --check --quiet SHA256SUMS

pictures: ## draw the pictures in docs/img, from the simulator and the engine
	$(LAB) pictures

fleet: ## a thousand device-months of healthy units, which must not raise critical alerts
	$(GO) test -run 'TestHealthyFleet$$' -count 1 -v -timeout 60m ./internal/alert -fleet 200

# Such as OF=Inlets for devices at a webhook, line protocol, MQTT and a broker alone; ROUNDS=10 for fewer.
OF ?=
kill9: mosquitto ## a hundred rounds of kill -9 under load
	CGO_ENABLED=1 RIMEWATCH_KILL9_ROUNDS=$(or $(ROUNDS),100) $(GO) test -race -v -run 'TestKill9$(OF)' -count 1 -timeout 60m ./e2e

# Such as FAULT='full disk' for those with this in their name.
FAULT ?=
faults: ## every fault the service must hold under, a line about each: 20 minutes at most
	$(GO) run ./e2e/faults $(if $(FAULT),'$(FAULT)')

cluster-faults: build ## nodes of a cluster killed, frozen and cut off a hundred times, bugs that the checker has to find, how long requests wait: an hour
	RIMEWATCH_CLUSTER_FAULTS=1 RIMEWATCH_KILL9_ROUNDS=$(or $(ROUNDS),100) $(GO) test -count=1 -timeout 90m -v -run 'TestCluster' -skip 'TestClusterFigures' ./e2e
	RIMEWATCH_CLUSTER_FAULTS=1 RIMEWATCH_KILL9_ROUNDS=$(or $(ROUNDS),100) RIMEWATCH_E2E_BINARY=$(CURDIR)/bin/rimewatch \
		$(GO) test -count=1 -timeout 90m -v -run 'TestClusterFigures' ./e2e
	$(GO) test -count=1 -run . ./e2e/contract -args -store=cluster

cluster-patroni: ## the machine of the primary dies twice where Patroni looks after the database (apt-get install patroni etcd-server): two minutes
	RIMEWATCH_PATRONI=1 $(GO) test -count=1 -timeout 15m -v -run 'TestClusterPatroni' ./e2e

clean:
	rm -rf bin dist screenshots web/node_modules $(filter-out internal/webui/dist/.keep,$(wildcard internal/webui/dist/*))

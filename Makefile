# Rimewatch. `make run` is the demo, `make test` everything that must pass, `make test-long` what takes longer than anybody waits.
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
export CGO_ENABLED = 0
# A program with the race detector otherwise sleeps a second before it ends.
export GORACE = atexit_sleep_ms=0

.PHONY: all build run ui ui-test ui-every test test-long test-raced test-plain test-rest lint gate browser screenshots \
	sdk chromium headless-shell firefox postgres mosquitto haproxy python explore drawn fuzz bench profile evaluate pictures release fleet kill9 faults cluster-faults cluster-patroni clean
all: build

# Without npm the binary has a page that says how to get the UI.
NPM  := $(shell command -v npm 2>/dev/null)
DIST  = internal/webui/dist/index.html

# A release is compiled for a profile of the server under load and without this machine's paths, which compiles every package anew.
PGO  = cmd/rimewatch/server.pgo
SHIP = -trimpath -pgo=$(PGO)
run browser screenshots ui-every test ui-test: SHIP = -pgo=off

build: $(if $(NPM),ui) ## the binary, in bin/
	@echo 'compiling the server: a minute or two the first time'
	@$(GO) build $(SHIP) -ldflags '-s -w -X main.version=$(VERSION)' -o bin/rimewatch ./cmd/rimewatch

run: build ## the demo: a market with twelve units, six of them in trouble
	./bin/rimewatch demo

ui: ## the web UI, into internal/webui/dist
	@$(MAKE) --no-print-directory -j2 SHIP='$(SHIP)' $(DIST) # npm downloads while the server compiles

web/node_modules/.package-lock.json: web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

web/openapi.json: cmd/rimewatch/openapi.go field.go $(shell find internal/httpapi internal/wire -name '*.go' -not -name '*_test.go')
	@echo 'compiling what describes the API: a minute or two the first time'
	@env -u RIMEWATCH_TESTS $(GO) run $(SHIP) ./cmd/rimewatch openapi > $@.new && mv $@.new $@

web/src/api/schema.d.ts: web/node_modules/.package-lock.json web/openapi.json
	cd web && npm run --silent api

$(DIST): web/src/api/schema.d.ts $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/openapi.json*' -not -path 'web/scripts/*' -not -path 'web/e2e/*')
	cd web && npm run --silent build

sdk: web/openapi.json python $(if $(NPM),web/node_modules/.package-lock.json) ## the clients in Python and TypeScript: what of them is generated, and their packages, into dist/
	python3 sdk/python/generate.py web/openapi.json && python3 sdk/python/wheel.py $(VERSION) dist
	$(if $(NPM),cd web && node scripts/types.mjs ../sdk/typescript/src/schema.ts --open && npx tsc -p ../sdk/typescript && node ../sdk/typescript/pack.mjs $(VERSION) ../dist)

# `go test ./...` needs nothing but Go. `make test` needs PostgreSQL, Mosquitto and a browser too, which it installs where it may. A package is tested
# once: with the race detector where goroutines meet, without it elsewhere, which takes a third of the time (all of app, ingest and notify have it in test-long).
RACED = $(addprefix ./internal/,account cluster httpapi/shortpath httpapi/submit mqtt realtime store/core ticker) ./e2e/contract
# The database engine is translated C that locks for itself, the simulator runs alone: the race detector only slows them down. No library whose
# generic code is that of others, too: the linker keeps one copy, and where it is the one without, races are found that are none.
RACE = CGO_ENABLED=1 RAPID_CHECKS=20 $(GO) test $(FAST) -race $(patsubst %,-gcflags=%/...=-race=false,modernc.org github.com/rimewatch/rimewatch/internal/simulate)
FAST = -vet=off -ldflags='-s -w' -timeout=30m

# The tests make and remove files by the ten thousand, which takes half as long in memory, where it has room for them. Rounds of kill stay on disk.
SHM := $(shell awk '/^MemAvailable/ && $$2 > 8e6 {print "yes"}' /proc/meminfo 2>/dev/null | grep -q yes && ! grep -q ' /dev/shm .*noexec' /proc/mounts && \
	df -k --output=avail /dev/shm 2>/dev/null | awk 'END {if ($$1 > 4e6) print "/dev/shm"}')
ifndef TMPDIR
test test-raced test-plain test-rest browser: export TMPDIR := $(or $(SHM),/tmp)
endif

test: export RIMEWATCH_TESTS = all
test: postgres mosquitto sdk $(if $(NPM),ui chromium firefox) ## everything that must pass
	@# Tests wait as much as they compute: three at a time keep two processors busy.
	@$(MAKE) --no-print-directory -j3 test-raced test-plain test-rest

test-raced:
	$(RACE) $(RACED)
	$(RACE) -run 'Node|Heir|Links|Stop|MQTT|Push' ./internal/app # the goroutines that contract does not reach

test-plain:
	$(GO) test $(FAST) $(filter-out $(RACED:./%=github.com/rimewatch/rimewatch/%),$(shell $(GO) list ./...))
	cd lab && $(GO) test $(FAST) ./...

test-rest: lint $(if $(NPM),ui-test browser) gate

test-long: export RIMEWATCH_TESTS = long
test-long: postgres mosquitto haproxy sdk $(if $(NPM),chromium firefox ui-every) ## every test in full, the packages for releases, charts and compose, and every page in every variant: half an hour
	$(GO) test $(FAST) -timeout=90m ./...
	$(RACE) -timeout=90m $(RACED) ./internal/app ./internal/ingest ./internal/notify
	@# -count=1: what they read lies outside of their modules, where go test does not see that it has changed.
	for tool in release chart dashboard compose; do (cd tools/$$tool && $(GO) test -count=1 ./...) || exit 1; done

# The linters are a module of their own: their two hundred dependencies are not the product's.
lint: ## formatting, every linter of .golangci.yml (vet is one of them), the workflows, and functions that nothing calls
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo 'not formatted:'; gofmt -l $$(git ls-files '*.go'); exit 1; }
	cd lab && $(GO) vet ./...
	$(GO) tool -modfile=tools/lint/go.mod golangci-lint run --allow-parallel-runners ./...
	$(GO) tool -modfile=tools/lint/go.mod actionlint
	@dead=$$($(GO) tool -modfile=tools/lint/go.mod deadcode -test ./...) && test -z "$$dead" || { echo "nothing calls:"; echo "$$dead"; exit 1; }

# -count=1: it reads files outside of its module, where go test does not see that they have changed.
gate: web/openapi.json ## the API against the description of the last release
	cd tools/api && $(GO) test -count=1 ./...

ui-test: ui ## the UI's types and units
	cd web && npm run --silent check && npm run --silent test

browser: build chromium firefox ## the UI in a real browser, against the real binary; SLOW=7 for answers and pages that are slow by that seed
	cd web && npm run --silent browser

ui-every: build chromium ## every page for people with disabilities in every theme, size and language; the rest of them is in `make browser`
	cd web && EVERY=1 npm run --silent browser -- pages empty

screenshots: build ## every page in every size and theme, into screenshots/
	cd web && npm run --silent screenshots

# Programs of Debian that tests run: $(call need,what shows that it is there,packages,what is lost without it). Without the last it is an error.
need = @export PATH="$$PATH:/usr/sbin:$$(echo /usr/lib/postgresql/*/bin | tr ' ' :)"; { $(1); } >/dev/null 2>&1 || { echo 'installing $(2)'; \
	apt-get install -y -qq $(2) >/dev/null 2>&1; } || { apt-get update -qq && apt-get install -y -qq $(2) >/dev/null; } || \
	{ echo 'no $@: $(or $(3),the tests need it (apt-get install $(2)))'$(if $(3),,; exit 1); }
chromium: headless-shell
	$(call need,command -v chromium,chromium)
headless-shell:
	$(call need,command -v chromium-headless-shell,chromium-headless-shell,the browser tests take half as long again)
firefox:
	$(call need,test "$$(firefox-esr --version | grep -oE '[0-9]+' | head -1)" -ge 153,firefox-esr,the tests in Firefox are skipped: Playwright needs 153)
postgres:
	$(call need,command -v initdb,postgresql)
mosquitto:
	$(call need,command -v mosquitto && command -v mosquitto_pub,mosquitto mosquitto-clients)
haproxy:
	$(call need,command -v haproxy,haproxy,the lines for it are not tried)
python:
	$(call need,command -v python3,python3)

# Every round has a seed of its own, which is printed; SEED=n for one round as it was.
ROUNDS ?= 100
explore: ## draw anew what tests draw at random, which is otherwise always the same
	@for i in $$(seq $(if $(SEED),1,$(ROUNDS))); do export RAPID_SEED=$(or $(SEED),$$(od -An -N6 -tu8 /dev/urandom | tr -d ' ')) RAPID_CHECKS=$(or $(CHECKS),1000); \
		echo "make explore SEED=$$RAPID_SEED CHECKS=$(or $(CHECKS),1000)"; $(GO) test $(FAST) -count=1 $$(git grep -lE 'rapid.Check|trial.Seed' 'internal/*_test.go' | xargs -n1 dirname | sort -u | sed 's|^|./|') || exit 1; done

drawn: ## requests drawn from the description for DRAWN, and what of the answers is not as described; SEED=n begins with that round
	$(GO) test $(FAST) -count=1 -v -run 'TestDrawnRequests$$' ./e2e/contract -store sqlite -drawn $(or $(DRAWN),10m) -rapid.seed=$(or $(SEED),$$(date +%s))

fuzz: ## every fuzz target for FUZZTIME
	@git grep -oE '^func Fuzz\w+' '*_test.go' | while IFS=: read -r file f; do \
		echo "$$file $${f#func }"; $(GO) test -run '^$$' -fuzz "^$${f#func }\$$" -fuzztime $(or $(FUZZTIME),20s) "./$$(dirname "$$file")" </dev/null || exit 1; done

# The module that measures the product: BENCH='-only growth -devices 1000000 -profile DIR', or -doc docs/performance.md for that page's table.
LAB = cd lab && $(GO) run -pgo=$(CURDIR)/$(PGO) .
bench: ## the side-by-side benchmark: prints ratios
	$(LAB) bench $(BENCH)

PROFILES = /tmp/rimewatch-profile
profile: ## make the profile anew that releases are compiled for, from the loads of `make bench`: four minutes, before a release
	rm -rf $(PROFILES) && mkdir $(PROFILES) && cd lab && $(GO) build -trimpath -o $(PROFILES)/lab .
	$(PROFILES)/lab bench -only growth -devices 1000,10000,100000 -rounds 1 -steps create,warm,batches,single,recovery -alone -profile $(PROFILES)
	$(PROFILES)/lab bench -only batch -profile $(PROFILES)
	cd $(PROFILES) && $(GO) tool pprof -proto *.pprof > $(CURDIR)/$(PGO)

EVALUATE = nice -n 5 $(CURDIR)/bin/lab evaluate --workers $(shell nproc) --doc $(CURDIR)/docs/prediction-figures.md
evaluate: ## measure the predictor into docs/prediction-figures.md; DATA=dir for recordings with site_alarms.csv, DIRTY_SEEDS=8 DIRTY_YEARS=20 for a quick look
	cd lab && $(GO) build -pgo=$(CURDIR)/$(PGO) -o $(CURDIR)/bin/lab .
	$(if $(DATA),$(EVALUATE) --format real $(DATA))
	$(EVALUATE) --format simulator --seeds 10 --years 50
	$(EVALUATE) --format dirty --seeds $(or $(DIRTY_SEEDS),104) --years $(or $(DIRTY_YEARS),101)
	$(EVALUATE) --format families --seed-set fresh --seeds 8 --years 12
	$(EVALUATE) --format spoilt --seed-set fresh --seeds 2

pictures: ## draw the pictures in docs/img, from the simulator and the engine
	$(LAB) pictures

release: ui sdk ## packages, the image, checksums and the bill of materials, in dist/; TARGETS=linux/amd64 for one alone, PUSH=ghcr.io/… pushes the image, too
	cd tools/release && $(GO) run . -version $(VERSION) $(if $(TARGETS),-targets $(TARGETS)) $(if $(PUSH),-push $(PUSH))
	cd dist && sha256sum --check --quiet SHA256SUMS

fleet: ## a thousand device-months of healthy units, which must not raise critical alerts
	$(GO) test -run 'TestHealthyFleet$$' -count 1 -v -timeout 60m ./internal/alert -fleet 200

E2E = CGO_ENABLED=1 RIMEWATCH_TESTS=long RIMEWATCH_KILL9_ROUNDS=$(ROUNDS) $(GO) test -count=1 -timeout 90m -v ./e2e
kill9: mosquitto ## a hundred rounds of kill -9 under load; ROUNDS=10 for fewer, OF=Inlets for those of webhooks, line protocol and MQTT
	$(E2E) -run 'TestKill9$(OF)'

faults: ## every fault the service must hold under, a line about each: 20 minutes at most; FAULT='full disk' for those of that name
	$(GO) run ./e2e/faults $(if $(FAULT),'$(FAULT)')

cluster-faults: build ## nodes of a cluster killed, frozen and cut off a hundred times, bugs that the checker has to find, how long requests wait: an hour
	RIMEWATCH_CLUSTER_FAULTS=1 $(E2E) -run 'TestCluster' -skip 'TestClusterFigures'
	RIMEWATCH_CLUSTER_FAULTS=1 RIMEWATCH_E2E_BINARY=$(CURDIR)/bin/rimewatch $(E2E) -run 'TestClusterFigures'

cluster-patroni: ## the machine of the primary dies twice where Patroni looks after the database (apt-get install patroni etcd-server): two minutes
	RIMEWATCH_PATRONI=1 $(E2E) -run 'TestClusterPatroni'

clean:
	rm -rf bin dist screenshots web/node_modules $(filter-out internal/webui/dist/.keep,$(wildcard internal/webui/dist/*))

# GNU make. `make help` lists the targets; `make` alone builds.
#
#   PURE=1 make build   a pure Go binary: no C library, no speech engine

SHELL = /bin/sh
.DEFAULT_GOAL = build
.DELETE_ON_ERROR:

ifeq ($(PURE),1)
export PURE
export CGO_ENABLED = 0
endif

# These are asked when a recipe begins, after its prerequisites have installed
# what was missing. The race detector needs cgo; outside a readable repository
# there is no version to stamp.
TAGS = $(shell scripts/tags)
BUILDTAGS = $(shell scripts/tags --build)
RACE = $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
STAMP = $(if $(shell git status --porcelain 2>&1 | grep '^fatal'),-buildvcs=false)

# Tests never come from the cache: it knows neither the C libraries nor the
# recordings beside the repository. The bound is for a test that hangs: nothing is
# that slow, not on a busy machine either.
GOTEST = go test -count=1 -timeout 20m

# Packages that start no goroutine, where the race detector has nothing to find
# and makes long calculations four to five times slower; the exploration, a fork and
# join of half a minute that would take two and a half; a loaded server and calls over a
# bad network, which keep pace with the clock; the commands, whose tests start the
# program a hundred times over, and kill it; and the panel's files. All others, new ones
# too, are tested with it. `make soak` takes these as well.
PLAIN = audio|conv|dialog(/.*)?|turn|internal/seeds|archtest|internal/bench|internal/cli|leg|internal/messages|internal/codec/.*|internal/wire/.*|detector(/.*)?|internal/explore(/.*)?|leg/realtime/projection|server/panel

MODULE = $(shell go list -m)
PLAINPKGS = $(shell go list ./... | grep -E '^$(MODULE)/($(PLAIN))$$')
RACEPKGS = $(shell go list ./... | grep -v -E '^$(MODULE)/($(PLAIN))$$')

# The checkers, in a folder that git ignores; the version is part of the file's
# name, therefore a new pin is installed by itself.
GOFUMPT = .tools/gofumpt@v0.12.0
GOLANGCI = .tools/golangci-lint@v2.15.0
GOLICENSES = .tools/go-licenses@v1.6.0

## build: the program, as bin/hocket
.PHONY: build
build: have-deps
	go build $(STAMP) -trimpath -tags '$(BUILDTAGS)' -o bin/hocket ./cmd/hocket

## run: serve the panel and the API on http://127.0.0.1:8080, with the flight agent
.PHONY: run
run: build
	bin/hocket serve

## call: hold a call with the flight agent, into call.wav (caller left, agent right) and call.jsonl
.PHONY: call
call: build
	bin/hocket call --agent examples/flights \
		--say "I want to book a flight" --say "from Boston" --say "to Denver" --say "next friday" --say "yes" \
		--mix call.wav --trace call.jsonl

## deps: install what the speech engines need, as far as this machine can
.PHONY: deps
deps:
	scripts/deps --again --browser --turn --sound --postgresql --sip

.PHONY: have-deps
have-deps:
	@scripts/deps

## voice: install a Piper voice, for yourself, and espeak-ng, for `speech.synthesizer: piper`
.PHONY: voice
voice: have-deps
	scripts/deps --again --voice

# The panel's tests among the peers want a browser, and a TURN server; calls on sound
# devices want a sound server.
.PHONY: have-browser
have-browser:
	@scripts/deps --browser --turn --sound

# Calls over SIP want a telephone.
.PHONY: have-sip
have-sip:
	@scripts/deps --sip

# The store's tests want a database.
.PHONY: have-postgresql
have-postgresql:
	@scripts/deps --postgresql

## test: vet, the tests, the pure Go build
.PHONY: test
test: vet test-race test-plain test-pure
	@scripts/tags --report

.PHONY: vet
vet: have-deps
	go vet -tags '$(TAGS),peers' ./...

.PHONY: vet-pure
vet-pure:
	CGO_ENABLED=0 go vet ./...

.PHONY: test-race
test-race: have-deps have-postgresql
	$(GOTEST) $(RACE) -tags '$(TAGS)' $(RACEPKGS)

.PHONY: test-plain
test-plain: have-deps have-postgresql
	$(GOTEST) -tags '$(TAGS)' $(PLAINPKGS)
	$(GOTEST) -tags '$(TAGS)' -run 'BySpeech|Ears|TestConversations$$|Mischievous' ./internal/app ./internal/eval # what they leave out with the detector

# What behaves differently without cgo; `make check` compiles all tests without it.
.PHONY: test-pure
test-pure:
	CGO_ENABLED=0 $(GOTEST) -short $(addsuffix /...,$(wildcard ./provider ./tool ./detector/silero ./internal/app))
	CGO_ENABLED=0 $(GOTEST) -short -run 'Help|Arguments|Documented' ./internal/cli

# The clients and servers of others that peers talk to are fetched from their
# package registries.
.PHONY: have-peers
have-peers:
	@scripts/testdata

## peers: the tests with programs written by others and those at the pace of the clock, on a machine that does nothing else
.PHONY: peers
peers: have-deps have-browser have-sip have-peers web/node_modules editor/vscode/node_modules
	@TAGS='$(BUILDTAGS)' scripts/peers
	@scripts/testdata --report

## vscode: the editor's extension in a real VS Code, with a stand-in for Copilot
.PHONY: vscode
vscode: have-deps have-browser have-peers web/node_modules editor/vscode/node_modules
	HOCKET_VSCODE=1 go test -count=1 -v -tags '$(BUILDTAGS),peers' -run TestPeerVSCode ./internal/editor

## check: format, vet, lint, module file, other systems (make -k check: all findings)
.PHONY: check
check: check-fmt vet vet-pure check-tidy cross lint

## fmt: format the code
.PHONY: fmt
fmt: $(GOFUMPT)
	$(GOFUMPT) -l -w .

.PHONY: check-fmt
check-fmt: $(GOFUMPT)
	@out=$$($(GOFUMPT) -l .) || exit 1; [ -z "$$out" ] || { echo "not formatted, 'make fmt' does it:"; echo "$$out"; exit 1; }

# The second run sees the files that stand in for missing libraries. Much of what
# stands beside them is then used by nothing.
## lint: golangci-lint
.PHONY: lint
lint: have-deps $(GOLANGCI)
	$(GOLANGCI) run --build-tags '$(BUILDTAGS),peers' ./...
	CGO_ENABLED=0 $(GOLANGCI) run --disable unused $(addsuffix /...,$(wildcard ./provider ./tool ./detector))

.PHONY: check-tidy
check-tidy:
	go mod tidy -diff

## cross: compile the pure Go build for other systems
.PHONY: cross
cross:
	CGO_ENABLED=0 GOOS=darwin GOARCH=arm64 go build ./...
	CGO_ENABLED=0 GOOS=windows GOARCH=amd64 go build ./...
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build ./...

## archtest: layers, purity, documentation, links
.PHONY: archtest
archtest:
	$(GOTEST) ./archtest

## bench: all benchmarks, also into reports/bench.txt
.PHONY: bench
bench: have-deps
	TAGS='$(TAGS)' scripts/bench

## fuzz: every fuzz target for FUZZTIME (1m)
FUZZTIME = 1m
.PHONY: fuzz
fuzz: have-deps
	TAGS='$(TAGS)' scripts/fuzz $(FUZZTIME)

## mutants: break the machine on purpose in every known way; the exploration must notice
.PHONY: mutants
mutants:
	HOCKET_MUTANTS=all go test -count=1 -timeout 2h -v ./internal/explore

## soak: every test with the race detector, SOAK (5) times, shuffled, on one and on several processors
SOAK = 5
.PHONY: soak
soak: have-deps
	HOCKET_LONG=1 go test $(RACE) -count=$(SOAK) -shuffle=on -cpu 1,2,4 -timeout 4h -tags '$(TAGS)' $(RACEPKGS)
	HOCKET_LONG=1 go test $(RACE) -count=1 -shuffle=on -timeout 4h -tags '$(TAGS)' $(PLAINPKGS)
	HOCKET_KILLS=500 go test -count=1 -v -run AtRandomMoments -timeout 2h -tags '$(TAGS)' ./internal/cli

## ears: the calls with an echo of the agent's voice and with sounds that stop it, all of them (half an hour)
.PHONY: ears
ears: have-deps
	HOCKET_LONG=1 go test -count=1 -v -run Ears -timeout 4h -tags '$(TAGS)' ./internal/eval ./internal/app

## panel: the panel's bundle from web/, into server/panel/dist (needs Node)
.PHONY: panel
panel: web/node_modules
	npm --prefix web run build

## statechart: lay the panel's statechart out again (needs Node and Graphviz)
.PHONY: statechart
statechart: build
	npm --prefix web run statechart

## screenshots: pictures of the panel's states, into reports/panel
.PHONY: screenshots
screenshots: have-browser web/node_modules
	npm --prefix web run screenshots

# A package for this system, or with TARGET and PURE=1 for another one.
## vsix: the extension for VS Code with the engine inside, into bin/agent-voice-TARGET.vsix (needs Node 22)
TARGET = linux-$(if $(filter arm64,$(shell go env GOARCH)),arm64,x64)
VSIX = bin/agent-voice-$(TARGET).vsix
.PHONY: vsix
vsix: editor/vscode/node_modules have-deps
	rm -rf editor/vscode/bin && mkdir -p bin editor/vscode/bin
	go build $(STAMP) -trimpath -ldflags '-s -w' -tags '$(BUILDTAGS)' -o editor/vscode/bin/ ./cmd/hocket
	cd editor/vscode && node build.mjs --package && PATH="$(NODE22):$$PATH" npx vsce package --target $(TARGET) -o '$(abspath $(VSIX))'
	@ls -l '$(VSIX)' | awk '{ printf "%s: %.1f MB\n", $$NF, $$5 / 1e6 }'

# vsce wants a newer Node than the rest; that of the tests in an editor will do.
NODE22 = $(CURDIR)/third_party/vscode/node/bin

editor/vscode/node_modules: editor/vscode/package-lock.json
	npm --prefix editor/vscode ci --ignore-scripts --no-audit --no-fund
	touch $@

web/node_modules: web/package-lock.json
	npm --prefix web ci --ignore-scripts --no-audit --no-fund
	touch $@

## licences: write THIRD_PARTY.md anew, from what is linked and bundled (needs Node)
.PHONY: licences
licences: web/node_modules editor/vscode/node_modules $(GOLICENSES)
	scripts/third-party $(GOLICENSES) > THIRD_PARTY.md.new && mv THIRD_PARTY.md.new THIRD_PARTY.md

## clean: remove what was built; third_party and .tools stay
.PHONY: clean
clean:
	rm -rf bin reports call.wav call.jsonl

## help: this list
.PHONY: help
help:
	@sed -n 's/^## \([a-z]*\): /\1\t/p' $(firstword $(MAKEFILE_LIST)) | sort | awk -F '\t' '{ printf "make %-11s %s\n", $$1, $$2 }'

# The tools are built without the settings of this build.
$(GOFUMPT): PACKAGE = mvdan.cc/gofumpt
$(GOLANGCI): PACKAGE = github.com/golangci/golangci-lint/v2/cmd/golangci-lint
$(GOLICENSES): PACKAGE = github.com/google/go-licenses
.tools/%:
	CGO_ENABLED=0 GOBIN="$(CURDIR)/.tools" go install $(PACKAGE)@$(lastword $(subst @, ,$@))
	mv $(firstword $(subst @, ,$@)) $@

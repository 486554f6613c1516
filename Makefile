# vault: what to type. `make demo` shows it working, `make test` proves it.
#
#   make build      release binaries, in .build/install/release
#   make install    PREFIX (/usr/local) and DESTDIR are honoured; `make uninstall` takes it all away;
#                   PREFIX=$HOME/.local needs no root
#   make deb        a Debian package, in .build; DEBEMAIL and DEBFULLNAME say who keeps it
#   make deps       the Debian packages of the build, with no upgrade; `make test-deps` those of the tests as well
#   make test-debug the tests with the programs of the debug build, which check more of themselves
#   make bench      the figures, side by side with their yardsticks; BENCH_AGAINST=REVISION builds the programs of that
#                   revision, in .build/against, where they stay, and runs both in turns: a ratio below 0.97 fails
#   make picture    the terminal that README shows, from a session of the programs
#   make order      which functions a start of `vault` and the use of `vaultd` run, for the linker to put them together
#   make fuzz       a minute (FUZZ_SECONDS), or so many inputs (FUZZ_RUNS), per fuzz target
#   make interop    programs that no one here wrote against ours: the own tests of git's credential helpers, libsecret,
#                   SecretStorage and keyring; libedataserver, Subversion, uv and Chromium. About five minutes, and the
#                   first time downloads and a build of git; INTEROP=all adds waits of a minute and more (two minutes),
#                   INTEROP='chromium uv' runs these parts alone. `make tools` runs it without `all`.
#   make soak       64 clients of four users for half an hour (SOAK_MINUTES), while the daemon is killed, its disk
#                   fills, …
#   make tools      each of bench, fuzz, soak, interop and deb, shortly: they run, whatever their figures are
#   make sanitize   the tests under AddressSanitizer and ThreadSanitizer
#   make fmt        swift format, in place; `make lint` only complains

SHELL   := /bin/bash
.SHELLFLAGS := -o pipefail -c
PREFIX  ?= /usr/local
DESTDIR ?=
# Swift brings clang; nothing else here needs a C compiler.
ifeq ($(origin CC),default)
CC := clang
endif

BUILD    := .build/install
BIN      := $(BUILD)/release
# Programs that the daemon or the client starts, because what they load must not load into it.
HELPERS  := vault-pam vault-tpm2 vault-keyring vault-qr vault-rsa vault-import vault-agent
PROGRAMS := $(addprefix $(BIN)/,vault vaultd $(HELPERS))
SOURCES  := Package.swift $(shell find Sources -type f)
# SwiftPM leaves folders where temporary files are, some in each run.
SWIFT    := mkdir -p .build/tmp && TMPDIR=$(CURDIR)/.build/tmp swift
# Statically linked Swift, no rpath, stripped, and no symbols for others to look up, which were a tenth of a program;
# `vault` itself is one fully static file (see Package.swift).
UNSTRIPPED := $(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath \
            -Xlinker --no-export-dynamic --scratch-path $(BUILD)
RELEASE  := $(UNSTRIPPED) -Xlinker -s

# The folder into which `make deps` unpacks a package that it cannot install without an upgrade. Nothing is looked for
# in it unless it is there.
SYSROOT  := $(CURDIR)/.build/sysroot
SYSROOT_LIBRARIES := $(SYSROOT)/usr/lib/$(shell uname -m)-linux-gnu
HEADERS  := $(SYSROOT)/usr/include
export CPATH := $(HEADERS):$(HEADERS)/$(notdir $(SYSROOT_LIBRARIES)):$(HEADERS)/libsecret-1$(CPATH:%=:%)
export LIBRARY_PATH := $(SYSROOT_LIBRARIES)$(LIBRARY_PATH:%=:%)
export PKG_CONFIG_PATH := $(SYSROOT_LIBRARIES)/pkgconfig$(PKG_CONFIG_PATH:%=:%)

# FoundationEssentials, which the argument parser brings, can look up users; `vault` never asks it to.
without-known-warnings := sed -u -e '/in statically linked applications requires/d' \
                          -e '/the use of .mktemp. is dangerous/d'

# The packages that the build needs, without any upgrade, and those that the tests need beside them, with the upgrades
# that apt wants for them.
BUILD_DEPS := libsodium-dev libgcrypt20-dev libqrencode-dev libsqlite3-dev libsystemd-dev libpam0g-dev libtss2-dev \
              libsecret-1-dev libexpat1-dev libyaml-dev
DEB_DEPS   := debhelper lintian
TEST_DEPS  := libpam0g-dev libtss2-tcti-pcap0 systemd mandoc argon2 socat fprintd libpam-fprintd polkitd dbus-daemon \
              python3-dbusmock swtpm swtpm-tools \
              tpm2-tools gnome-keyring pamtester python3-dbus python3-gi strace zsh fish zbar-tools \
              systemd-container libpam-systemd xvfb xdotool pinentry-curses pinentry-gtk2 dunst git openssl age \
              openssh-client \
              python3-pip libsecret-tools gir1.2-secret-1 python3-secretstorage python3-keyring \
              golang-docker-credential-helpers \
              $(DEB_DEPS)
# The server that the tests log in to is unpacked and not installed: that would start a service.
# Programs that ask their helpers for credentials, and another maker of tokens, from PyPI: the tests of what is not here
# are skipped.
TEST_PYTHON := docker pip uv pyjwt cryptography
BENCH_DEPS := gnome-keyring libsecret-tools dbus-daemon python3 python3-dbus python3-gi python3-secretstorage \
              util-linux sqlite3 pass gnupg keepassxc git strace pkg-config openssh-client openssl

# The rest of what it runs is unpacked below .build/interop, and not installed.
INTEROP_DEPS := dbus-daemon systemd python3 python3-dbus python3-gi python3-cryptography python3-pip gir1.2-secret-1 \
                pkg-config make

.PHONY: all build deps test-deps bench-deps interop-deps deb-deps demo demonstrate test tested build-tests run-tests \
        test-debug tools check interop lint fmt bench against picture order clean
all: build

build: $(PROGRAMS)
$(PROGRAMS) &: $(SOURCES)
	@$(MAKE) --no-print-directory deps
	$(RELEASE) --target programs 2>&1 | $(without-known-warnings)
	@touch -c $(PROGRAMS)

# Does nothing when all is there; asks apt for what is missing and nothing more.
install-packages = \
	missing=; \
	for package in $(1); do \
	  dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q ' installed$$' || missing="$$missing $$package"; \
	done; \
	[ -z "$$missing" ] && exit 0; \
	echo "installing:$$missing"; \
	root=; [ "$$(id -u)" = 0 ] || root=sudo; \
	$$root apt-get update -q && \
	$$root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing

deps:
	@Tests/build-packages.sh $(SYSROOT) $(BUILD_DEPS)
test-deps: deps
	@$(call install-packages,$(TEST_DEPS))
	@[ -x .build/openssh-server/usr/sbin/sshd ] || { mkdir -p .build/openssh-server && cd .build/openssh-server && \
	  apt-get download -qq openssh-server && dpkg -x openssh-server_*.deb . && rm openssh-server_*.deb; } || \
	  echo "test-deps: the tests of logins will be skipped, because there is no openssh-server"
	@[ -x .build/xdg-desktop-portal/usr/libexec/xdg-desktop-portal ] || { mkdir -p .build/xdg-desktop-portal && \
	  cd .build/xdg-desktop-portal && apt-get download -qq xdg-desktop-portal libpipewire-0.3-0 && \
	  for deb in *.deb; do dpkg -x $$deb . || exit; done && rm *.deb; } || \
	  echo "test-deps: a test of the portal will be skipped, because there is no xdg-desktop-portal"
	@[ -d .build/python/docker ] && [ -d .build/python/jwt ] && [ -x .build/python/bin/uv ] && exit; \
	/usr/bin/python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --upgrade \
	  --target .build/python $(TEST_PYTHON) || \
	  echo "test-deps: the tests of $(TEST_PYTHON) will be skipped, because PyPI has not given them"
bench-deps:
	@$(call install-packages,$(BENCH_DEPS))
interop-deps: deps
	@$(call install-packages,$(INTEROP_DEPS))
deb-deps:
	@$(call install-packages,$(DEB_DEPS))

# Makes targets one after the other, and prints at the end how long each of them took.
make-timed = \
	times=; \
	for part in $(1); do \
	  begun=$$(date +%s); \
	  $(MAKE) --no-print-directory $$part || exit; \
	  times+=$$(printf '\n  %-12s %5d s' $$part $$(($$(date +%s) - begun))); \
	done; \
	printf '\n%s took%s\n' 'make $@' "$$times"

demo:
	+@$(call make-timed,deps build demonstrate)

demonstrate: build
	@Tests/demo.sh $(abspath $(BIN))

# The programs are tested as they are installed: the optimizer, too, decides what stays in memory, and the client is
# another file. The code that the tests call themselves is a debug build.
TESTED := store-flipper store-replay stack-proof sandbox-proof other-process
test:
	+@$(call make-timed,test-deps lint build check demonstrate tested build-tests run-tests)

# The same with the programs of the debug build.
test-debug: test-deps build-tests
	@Tests/run.sh

tested:
	for program in $(TESTED); do $(RELEASE) --product $$program || exit; done
# Neither an index, for which Tests/XCTMain.swift leaves no use, nor debugging information.
build-tests:
	rm -rf .build/tmp
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error --disable-index-store \
	  -debug-info-format none
run-tests:
	@VAULT_PROGRAMS=$(abspath $(BIN)) Tests/run.sh

# Man pages, units, the installed tree; the system's units under a system manager.
check: test-deps build
	@Tests/packaging.sh
	@Tests/SystemMode/run

# Fuzz targets read their kept inputs alone, and the benchmarks measure nothing.
tools:
	$(MAKE) fuzz FUZZ_RUNS=0
	BENCH_TRY=1 $(MAKE) bench
	$(MAKE) soak SOAK_MINUTES=0.5
	@python3 -B Tests/Screenshot/screenshot.py $(abspath $(BIN)) .build/terminal.svg
	$(MAKE) interop
	$(MAKE) deb DEBEMAIL=$(or $(DEBEMAIL),nobody@localhost) DEBFULLNAME='$(or $(DEBFULLNAME),Nobody)'

interop: interop-deps build
	@/usr/bin/python3 -B Tests/Interop/interop.py $(abspath $(BIN))

SWIFT_FILES := Package.swift Sources Tests
lint:
	$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_FILES)
	@python3 -B Tests/lint.py Makefile .ci $(SWIFT_FILES)
fmt:
	$(SWIFT) format --in-place --parallel --recursive $(SWIFT_FILES)

BENCH := .build/bench
BENCH_PROGRAMS := $(addprefix $(BENCH)/,agent crowd echo fair load get pace processes rows secrets sign start watch)
START_ORDER  := Sources/vault/start.order
DAEMON_ORDER := Sources/vaultd/use.order
$(BENCH)/rows: LDLIBS := -lsqlite3
$(BENCH)/secrets: LDLIBS = $$(pkg-config --cflags --libs libsecret-1)
$(BENCH)/sign: LDLIBS := -lsodium
$(BENCH)/%: Tests/Benchmarks/Programs/%.c Tests/Benchmarks/Programs/wire.h
	@mkdir -p $(BENCH)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror $< -o $@ $(LDLIBS)

$(BENCH)/%.so: Tests/Benchmarks/Programs/%.c
	@mkdir -p $(BENCH)
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -shared -fPIC $< -o $@

# git's own, of which Debian has the source alone.
LIBSECRET_HELPER := $(BENCH)/git-credential-libsecret
$(LIBSECRET_HELPER): /usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c
	@mkdir -p $(BENCH)
	$(CC) -O2 $$(pkg-config --cflags libsecret-1) $< -o $@ $$(pkg-config --libs libsecret-1)

# README shows the chart that was kept by: cp .build/bench.svg Tests/Benchmarks/latency.svg
bench: deps bench-deps build $(BENCH_PROGRAMS) $(LIBSECRET_HELPER)
	@$(if $(AGAINST),BENCH_PARTS=$${BENCH_PARTS:-against}) python3 -B Tests/Benchmarks/bench.py $(abspath $(BIN)) \
	  $(abspath $(BENCH)) .build/$(if $(AGAINST),against,bench).json $(AGAINST:%=%/.build/install/release)

ifdef BENCH_AGAINST
AGAINST_COMMIT := $(shell git rev-parse --verify --short=12 '$(BENCH_AGAINST)^{commit}')
AGAINST := .build/against/$(or $(AGAINST_COMMIT),$(error BENCH_AGAINST names no revision))
bench: against
# A working tree of the other revision, which its own Makefile builds.
against:
	@[ -e $(AGAINST) ] || { git worktree prune && git worktree add --detach $(AGAINST) $(AGAINST_COMMIT); }
	@$(MAKE) -C $(AGAINST) BENCH_AGAINST= build
endif

# The picture is kept where README finds it.
picture: build
	@python3 -B Tests/Screenshot/screenshot.py $(abspath $(BIN)) Tests/Screenshot/terminal.svg

# Notes anew which functions run at a start of `vault` and in the use of `vaultd`, for a new Swift or after much has
# moved; a stale note only costs time and memory. Valgrind, which notes the second, cannot read Swift's debugging
# information.
order: build $(BENCH)/steps $(BENCH)/pidfd.so
	$(UNSTRIPPED) --product vault 2>&1 | $(without-known-warnings)
	$(UNSTRIPPED) -Xlinker -S --product vaultd 2>&1 | $(without-known-warnings)
	@python3 -B Tests/Benchmarks/order.py $(abspath $(BIN)) $(abspath $(BENCH)) $(START_ORDER) $(DAEMON_ORDER)
	@rm $(BIN)/vault $(BIN)/vaultd

include Tests/Fuzz/fuzz.mk
include Tests/Sanitize/sanitize.mk
include Tests/Soak/soak.mk
include Sources/pam_vault/module.mk
include Sources/vaultd/install.mk
include Sources/packaging/deb.mk

clean:
	rm -rf .build

#!/usr/bin/env bash
# packaging.sh: what `make install` puts on a machine is whole, and its man pages and units hold.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(mktemp -d /tmp/vault-packaging.XXXXXX)
trap 'rm -rf "$root"' EXIT
failures=0

ok() { echo "packaging: $*"; }
wrong() { echo "packaging: FAILED: $*" >&2; failures=$((failures + 1)); }
# One line of what a check says; empty output is success.
quiet() { local said; said=$("${@:2}" 2>&1) && [[ -z $said ]] && ok "$1" || wrong "$1"$'\n'"$said"; }

lint_pages() { mandoc -Tlint -Wwarning man/*.[0-9]; }
quiet "mandoc finds nothing to say about man/" lint_pages

# Each method, error and member of the interface is described where users look for it.
pages_cover_the_interface() {
  local word
  for word in $(sed -n 's/^ *\(method\|error\) \([A-Za-z]*\).*/\2/p' Sources/VaultAPI/io.vaultd.Vault.varlink); do
    grep -qw "$word" man/vault-protocol.7 || echo "vault-protocol(7) does not mention $word"
  done
}
quiet "vault-protocol(7) covers the interface" pages_cover_the_interface

pages_cover_the_settings() {
  local key
  for key in $(sed -n 's/^#\([a-z-]*\) = .*/\1/p' systemd/vaultd.conf); do
    grep -q "^.It Ic $key No =" man/vaultd.conf.5 || echo "vaultd.conf(5) does not describe $key"
  done
  for key in $(sed -n 's/^\.It Ic \([a-z-]*\) .*/\1/p' man/vaultd.conf.5); do
    grep -q "^#$key = " systemd/vaultd.conf || echo "systemd/vaultd.conf leaves out $key"
  done
}
quiet "vaultd.conf(5) and the example agree" pages_cover_the_settings

# The client needs nothing but a kernel, the daemon nothing but four Debian libraries.
client_is_static() { ! readelf -d .build/install/release/vault | grep NEEDED; }
quiet "vault is fully static" client_is_static
daemon_needs() {
  readelf -d .build/install/release/vaultd | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^(libsodium|libsqlite3|libsystemd|libc|libm|libgcc_s|libstdc\+\+|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$' || true
}
quiet "vaultd needs libsodium, SQLite and libsystemd alone" daemon_needs

install_into() { make --no-print-directory -s "$@" >/dev/null; }
quiet "make install works" install_into install PREFIX="$root/usr"
no_placeholder() { grep -rIl '@[a-z]*@' "$root/usr" || true; }
quiet "no placeholder is left in an installed file" no_placeholder
programs_start() {
  local program
  for program in vault vaultd; do "$root/usr/bin/$program" --help >/dev/null || echo "$program --help failed"; done
}
quiet "the installed programs start" programs_start
completions_parse() { bash -n "$root/usr/share/bash-completion/completions/vault"; }
quiet "the bash completion parses" completions_parse

pages_exist() {
  local reference
  for reference in $(sed -n 's/^Documentation=//p' systemd/*/*); do
    reference=${reference#man:}
    local section=${reference##*(}
    section=${section%)}
    [[ -f $root/usr/share/man/man$section/${reference%(*}.$section ]] || echo "no such page: $reference"
  done
}
quiet "the units refer to pages that exist" pages_exist

if command -v systemd-analyze >/dev/null; then
  units_hold() {
    local mode
    mkdir -p -m 700 "$root/run"
    for mode in system user; do
      XDG_RUNTIME_DIR=$root/run systemd-analyze --$mode --man=no verify "$root/usr/lib/systemd/$mode"/vaultd.*
    done
  }
  quiet "systemd accepts the units" units_hold
elif [[ ${CI:-} == true ]]; then
  wrong "systemd-analyze is not installed"
else
  echo "packaging: skipped: the units, because systemd-analyze is not installed"
fi

install_into uninstall PREFIX="$root/usr"
nothing_left() { find "$root/usr" ! -type d; }
quiet "make uninstall takes it all away" nothing_left

install_into install PREFIX=/usr DESTDIR="$root/stage"
staged_paths() { grep -L '^ExecStart=/usr/bin/vaultd' "$root"/stage/usr/lib/systemd/*/vaultd.service || true; }
quiet "DESTDIR does not leak into the units" staged_paths

(( failures == 0 )) || { echo "packaging: $failures of the checks failed" >&2; exit 1; }

#!/usr/bin/env bash
# t0303.sh BIN WORK: git's own tests of credential helpers (t0303), by git as Debian has it, whose source lies in
# WORK/git and is built there, against the programs in BIN.
set -euo pipefail
bin=$1 work=$2

fail() { echo "interop: $*" >&2; exit 1; }

# The programs that t0303 runs, without those that need more libraries.
options=(NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_OPENSSL=1 NO_PYTHON=1 NO_TCLTK=1 NO_INSTALL_HARDLINKS=1)
for compiler in gcc clang; do command -v "$compiler" >/dev/null && break; done
make -C "$work/git" -s -j"$(nproc)" "CC=$compiler" "${options[@]}" all >"$work/build.log" 2>&1 ||
  { tail -n 30 "$work/build.log" >&2; fail "git was not built"; }

# A vault for this alone.
root=$(mktemp -d /tmp/vault-interop.XXXXXX)
mkdir -m 700 "$root"/{home,run,data,config,links}
export XDG_RUNTIME_DIR=$root/run XDG_DATA_HOME=$root/data XDG_CONFIG_HOME=$root/config
unset VAULT_SOCKET LISTEN_FDS LISTEN_PID NOTIFY_SOCKET
daemon=
cleanup() {
  if [[ -n $daemon ]] && kill -TERM "$daemon" 2>/dev/null; then
    for _ in {1..100}; do
      state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$daemon/status" 2>/dev/null) || true
      [[ $state == [^ZX] ]] || break
      sleep 0.05
    done
  fi
  rm -rf "$root"
}
trap cleanup EXIT
ln -s "$bin/vault" "$root/links/git-credential-vault"
export PATH=$root/links:$bin:$PATH
HOME=$root/home vault init --password-stdin --kdf-memory 19m --kdf-passes 2 <<<'correct horse battery' >/dev/null
daemon=$(vault status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p')

(cd "$work/git/t" && GIT_TEST_CREDENTIAL_HELPER=vault ./t0303-credential-external.sh) 2>&1 | tee "$work/t0303.log"

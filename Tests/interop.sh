#!/usr/bin/env bash
# interop.sh BIN: git's own tests of credential helpers (t0303), by git as Debian has it, against the programs in BIN. The
# sources come from the machine's own archive, with lists of packages apart, and stay below .build/interop; so does the git
# that is built of them.
set -euo pipefail
bin=$1
cd "$(dirname "$0")/.."
work=$PWD/.build/interop
mkdir -p "$work"/{lists/partial,archives/partial,parts}

fail() { echo "interop: $*" >&2; exit 1; }

# The machine's archive, for sources.
if [[ ! -d $work/git ]]; then
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ ! -e $file ]] || sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/${file##*/}"
  done
  [[ ! -s /etc/apt/sources.list ]] || sed -n 's/^deb /deb-src /p' /etc/apt/sources.list >"$work/parts/machine.list"
  apt=(-q -o Dir::State::lists="$work/lists" -o Dir::Cache::archives="$work/archives" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=
    -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/parts" -o APT::Sandbox::User=root)
  apt-get "${apt[@]}" update
  (cd "$work" && apt-get "${apt[@]}" source git)
  mv "$work"/git-[0-9]*/ "$work/git"
fi

# What t0303 runs, without what needs more libraries.
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
    for _ in {1..100}; do [[ $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$daemon/status" 2>/dev/null) == [^ZX] ]] || break; sleep 0.05; done
  fi
  rm -rf "$root"
}
trap cleanup EXIT
ln -s "$bin/vault" "$root/links/git-credential-vault"
export PATH=$root/links:$bin:$PATH
HOME=$root/home vault init --password-stdin --kdf-memory 19m --kdf-passes 2 <<<'correct horse battery' >/dev/null
daemon=$(vault status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p')

echo "interop: t0303 of git $("$work/git/git" --version | sed 's/^git version //')"
(cd "$work/git/t" && GIT_TEST_CREDENTIAL_HELPER=vault ./t0303-credential-external.sh) | tee "$work/t0303.log" | grep -E '^(not ok|# )' || true
passed=$(grep -c '^ok ' "$work/t0303.log" || true)
broken=$(grep -c '^not ok ' "$work/t0303.log" || true)
echo "$passed passed, $broken failed"
(( passed > 0 && broken == 0 ))

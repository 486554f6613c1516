#!/usr/bin/env bash
# demo.sh BIN: the main job, for real, in a folder of its own: nothing of yours is touched. Every command is printed as
# it runs, and the demo fails as soon as one does anything but what it should.
set -euo pipefail
bin=$1

root=$(mktemp -d /tmp/vault-demo.XXXXXX)
daemon=
# In a container nobody may reap the daemon, so a zombie counts as ended.
runs() { [[ $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) == [^ZX] ]]; }
cleanup() {
  local status=$?
  set +e
  if [[ -n $daemon ]] && kill -TERM "$daemon" 2>/dev/null; then
    for _ in {1..100}; do runs "$daemon" || break; sleep 0.05; done
    runs "$daemon" && { echo "demo: vaultd $daemon does not end" >&2; status=1; }
  fi
  rm -rf "$root"
  (( status == 0 )) || echo "demo: FAILED" >&2
  exit "$status"
}
trap cleanup EXIT

mkdir -m 700 "$root"/{home,run,data,config}
export HOME=$root/home XDG_RUNTIME_DIR=$root/run XDG_DATA_HOME=$root/data XDG_CONFIG_HOME=$root/config
export PATH=$bin:$PATH NO_COLOR=1
unset VAULT_SOCKET LISTEN_FDS LISTEN_PID NOTIFY_SOCKET
socket=$XDG_RUNTIME_DIR/vault/socket
cd "$HOME"

fail() { echo "demo: $*" >&2; exit 1; }

# step STATUS COMMAND: prints the command, runs it, prints what it says and keeps it in $output.
step() {
  local expected=$1 status=0
  printf '\n$ %s\n' "$2"
  output=$(eval "$2" 2>&1 </dev/null) || status=$?
  [[ -z $output ]] || printf '%s\n' "$output"
  (( status == 0 )) || echo "[exit status $status]"
  # The client starts the daemon; remember which one, so that it can be ended whatever happens next.
  [[ -n $daemon || ! -S $socket ]] || daemon=$(daemon_pid)
  (( status == expected )) || fail "that ended with status $status, not $expected"
}

daemon_pid() {
  vault status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p'
}

says() { [[ $output == *"$1"* ]] || fail "it should have said: $1"; }

echo "# A vault of its own, and a daemon that the client starts."
step 0 "printf 'correct horse battery staple' | vault init --password-stdin"
[[ -n $daemon ]] || fail "no vaultd is running"

echo; echo "# Store one secret, read it back: the same bytes."
step 0 "printf 'n7Xh2-express-key' | vault set iothome/express.key --kind api-key --attr owner=ana"
step 0 "vault get iothome/express.key"
[[ $output == n7Xh2-express-key ]] || fail "the value came back different"

echo; echo "# A program that knows nothing of vault asks the same socket: NUL-terminated JSON."
step 0 "perl -MIO::Socket::UNIX -e '
  my \$vault = IO::Socket::UNIX->new(\"\$ENV{XDG_RUNTIME_DIR}/vault/socket\") or die \$!;
  print \$vault qq({\"method\":\"io.vaultd.Vault.Get\",\"parameters\":{\"name\":\"iothome/express.key\"}}\\0);
  \$/ = qq(\\0); print readline(\$vault) =~ tr/\\0/\\n/r'"
says '"value":"n7Xh2-express-key"'
if python3 -c 'import varlink' 2>/dev/null; then
  step 0 "python3 -m varlink.cli call \
unix:\$XDG_RUNTIME_DIR/vault/socket/io.vaultd.Vault.Get '{\"name\": \"iothome/express.key\"}'"
  says 'n7Xh2-express-key'
fi

echo; echo "# Locked: the keys are gone from the daemon's memory, and nobody gets an answer."
step 0 "vault lock"
step 75 "vault get iothome/express.key"
step 0 "vault status"
says 'locked'

echo; echo "demo: everything did what it should"

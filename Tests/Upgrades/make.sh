#!/bin/bash
# make.sh PROGRAMS FOLDER: a store, its backups and its log, as the programs in the folder PROGRAMS write them.
set -eu
programs=$(realpath "$1"); mkdir -p "$2"; out=$(realpath "$2")
root=$(mktemp -d /tmp/vault-upgrade.XXXXXX); trap 'kill -9 $pid 2>/dev/null || true; rm -rf "$root"' EXIT
chmod 711 "$root"
mkdir -m 700 "$root/home" "$root/data" "$root/config" "$root/config/vault"; mkdir -m 711 "$root/run"
export HOME=$root/home XDG_DATA_HOME=$root/data XDG_CONFIG_HOME=$root/config XDG_RUNTIME_DIR=$root/run TZ=UTC0
export DBUS_SYSTEM_BUS_ADDRESS=unix:path=$root/none
mkdir "$root/bin"; cp "$programs/vault" "$programs/vaultd" "$root/bin/"; chmod 755 "$root/bin" "$root/bin/"*
socket=$XDG_RUNTIME_DIR/vault/socket
floor='--kdf-memory 19m --kdf-passes 2'
vault() { "$root/bin/vault" "$@" </dev/stdin; }
other() { setpriv --reuid=65534 --regid=65534 --clear-groups "$root/bin/vault" "$@" --socket "$socket"; }
start() {
  mkfifo "$root/ready"
  "$root/bin/vaultd" --system --store "$root/data/vault" --socket "$socket" --config /dev/null --ready-fd 9 \
    9>"$root/ready" >>"$root/log" 2>&1 & pid=$!
  cat "$root/ready" >/dev/null; rm "$root/ready"; chmod 666 "$socket"; }
stop() { kill "${1:--TERM}" "$pid"; wait "$pid" || true; }
password='correct horse battery'
open() { echo "$password" | vault unlock --password-stdin; }

export VAULT_SOCKET=$socket; mkdir -m 755 "$XDG_RUNTIME_DIR/vault"
start
echo "$password" | vault init --password-stdin $floor
echo "$password" | vault slot add recovery --password-stdin >"$out/recovery-code"

# An item of each class, with versions, attributes, kinds, policies and an expiry.
for class in when-unlocked after-first-unlock always; do
  for value in one two three; do
    printf "$class $value" | vault set "items/$class" --accessible $class -a owner=ana -a class=$class \
      $([ $value = one ] || echo --update)
  done
done
printf 'tok' | vault set iot/sensor --kind device-token --expires 2199-01-01 -a room=hall
printf 'finger' | vault set guarded --require password
head -c 20000 /dev/zero | tr '\0' 'L' | vault set large
printf '\000\001\377bytes\n' | vault set bytes --kind blob
printf 'old name' | vault set moved/from; vault mv moved/from moved/to --yes
printf 'otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0' | vault set hotp --kind totp
vault totp hotp >/dev/null
# A trash.
printf 'deleted' | vault set trash/first
printf 'deleted, always' | vault set trash/always --accessible always
vault rm trash/first; vault rm trash/always
# Keys, tokens, and a list of those that were taken back.
vault set keys/gateway --use jwt --generate ed25519 -a iss=https://gw.example -a aud=mqtt -a max-ttl=90y
vault token issue keys/gateway --sub lamp-1 --ttl 89y >"$out/token-good"
vault token issue keys/gateway --sub lamp-2 --ttl 89y >"$out/token-revoked"
vault token issue keys/gateway --sub lamp-3 --ttl 89y >"$out/token-of-revoked-subject"
id=$(vault token verify keys/gateway "$out/token-revoked" --json </dev/null | grep -o '"id":"[^"]*' | cut -d'"' -f4)
vault token revoke keys/gateway "$id"
vault token revoke keys/gateway --sub lamp-3
vault set keys/sign --use sign --generate p256
printf 'signed' | vault sign keys/sign >"$out/signature"; vault pubkey keys/sign >"$out/public"
# Grants of each kind, one of them used.
vault grant user:65534 items/after-first-unlock --can get,find
vault grant user:65534 'drop/*' --can deposit,set
vault grant user:65534 items/always --can get
vault grant unit:iothome.service 'iot/*' --can get,watch --until 2199-01-01
vault grant user:4242,group:4243 'items/**' --can find
other get items/after-first-unlock >/dev/null
# A request that is refused, and one that is missing.
other get guarded >/dev/null 2>&1 || true
other get missing >/dev/null 2>&1 || true
# The log's entries of the last second are not on the disk yet.
sleep 2
vault backup "$out/unlocked.backup"

# A deposit for an item that its depositor may not change: the unlock keeps it aside.
printf 'kept' | vault set aside/item
vault grant user:65534 'aside/*' --can deposit
vault lock; printf 'not taken' | other deposit aside/item; open

# A session of a locked vault: gets, a refusal, and deposits that wait for the next unlock.
vault lock
other get items/after-first-unlock >/dev/null
vault get items/when-unlocked >/dev/null 2>&1 || true
echo wrong | vault unlock --password-stdin >/dev/null 2>&1 || true
printf 'left while locked' | other deposit drop/new --reason 'from the cellar'
sleep 2
vault backup "$out/locked.backup"
stop

# A cold session, and one whose daemon is killed: their entries join the log at the next unlock, which is not here.
start
other get items/always >/dev/null
vault get items/always >/dev/null
vault get items/when-unlocked >/dev/null 2>&1 || true
stop
start
vault get items/always >/dev/null
vault set items/always --update <<<'' >/dev/null 2>&1 || true
vault status >"$root/status"; sleep 2
stop -KILL
mkdir -p "$out/store"; cp -a "$root/data/vault/." "$out/store/"; rm -f "$out/store/vault.lock"
# The same in the midst of a rekey, with a second store beside it that is half filled.
mkdir "$root/before"; cp -a "$root/data/vault/." "$root/before/"
until [ -e "$root/data/vault/rekey/vault.db-wal" ]; do
  rm -rf "$root/data/vault"; cp -a "$root/before" "$root/data/vault"; start; open
  for n in $(seq 40); do echo "{\"name\":\"many/$n\",\"value\":\"v$n\"}"; done | vault set --batch >/dev/null
  echo "$password" | vault rekey --password-stdin >/dev/null 2>&1 &
  size() { stat -c %s "$root/data/vault/rekey/vault.db-wal" 2>/dev/null || echo 0; }
  while kill -0 $! 2>/dev/null && [ "$(size)" -lt 20000 ]; do :; done
  stop -KILL; wait $! || true
done
mkdir -p "$out/rekeying"; cp -a "$root/data/vault/." "$out/rekeying/"
rm -rf "$root/data/vault"; cp -a "$root/before" "$root/data/vault"
# The output of the same programs about the first.
start
open
vault verify >/dev/null
for what in list trash grants deposits 'audit list -n 10000'; do
  command=$what; [ "$command" = trash ] || [ "$command" = deposits ] && command="$command list"
  vault $command --json >"$out/said-${what%% *}"
done
vault audit --verify >/dev/null
stop
find "$out" -name vault.room -o -name vault.lock | xargs rm

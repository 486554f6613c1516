#!/usr/bin/env bash
# system-mode.sh: the system's units under a real system manager, in a container of this machine's own /usr, with an
# account `vault` of another program's that wants the vault's place, and a daemon that was taken over and tries to have
# the manager give it a file of root's.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(mktemp -d /tmp/vault-system.XXXXXX)
trap 'rm -rf "$root"' EXIT
prefix=/opt/vault
if (( EUID != 0 )); then
  [[ ${CI:-} != true ]] || { echo "system-mode: FAILED: not root" >&2; exit 1; }
  echo "system-mode: skipped: a container needs root"
  exit
fi

make --no-print-directory -s install PREFIX="$prefix" SECURITYDIR="$prefix/lib/security" DESTDIR="$root/image" \
  >/dev/null
mkdir "$root/out"
# The user that HashiCorp's package makes.
echo 'u vault - "HashiCorp Vault" /etc/vault.d /bin/false' >"$root/out/other.conf"

cat >"$root/out/check" <<'CHECK'
#!/bin/bash
# Runs in the container, as root. Its last word is `held`.
set -euo pipefail
exec >/out/said 2>&1
as_daemon() { setpriv --reuid=_vaultd --regid=_vaultd --clear-groups "$@"; }
as_stranger() { setpriv --reuid=vault --regid=vault --clear-groups "$@"; }
vault() { /opt/vault/bin/vault --system "$@"; }
fail() { echo "$*"; exit 1; }

systemctl start vaultd.socket vaultd.service
[[ $(stat -c %U:%G:%a /run/vault-pam) == root:root:755 ]] || fail "$(stat -c %U:%G:%a /run/vault-pam)"
[[ $(stat -c %U:%G:%a /run/vault-pam/socket) == _vaultd:_vaultd:600 ]] ||
  fail "$(stat -c %U:%G:%a /run/vault-pam/socket)"

# HashiCorp's account gets nothing by its name: no place of the vault's, and nobody's password tried.
[[ $(getent passwd vault | cut -d: -f6) == /etc/vault.d ]] || fail "the other program's account is not there"
for place in /var/lib/vault /run/vault; do
  [[ $(stat -c %U $place) == _vaultd ]] || fail "$place belongs to $(stat -c %U $place)"
  ! as_stranger touch $place/mine 2>/dev/null || fail "the other program's account writes to $place"
done
grep -q '"_vaultd"' /etc/polkit-1/rules.d/50-vault.rules || fail "polkit's rule is for another account"
connect='import socket; socket.socket(socket.AF_UNIX).connect("/run/vault-pam/socket")'
as_daemon python3 -c "$connect" || fail "the daemon does not reach its helper"
! as_stranger python3 -c "$connect" 2>/dev/null || fail "the other program's account reaches vault-pam"

# The daemon finds its helper there.
echo 'correct horse battery' | vault init --password-stdin --kdf-memory 19m --kdf-passes 2
echo 'correct horse battery' | vault unlock --password-stdin
echo 'correct horse battery' | vault slot add pam --keystore memory --user 0 --password-stdin
vault status --json | grep -q '"name":"pam","available":true' || fail "$(vault status --json)"

# The socket outlives the daemon, which starts again for whoever asks.
systemctl stop vaultd.service
[[ $(vault status --json) == *'"state":"cold"'* ]] || fail "after the daemon ended nobody starts it again"

# A daemon that was taken over puts links wherever it can, while the socket is made again and again.
echo secret >/etc/victim
chmod 600 /etc/victim
# It is a child of its own, so that the kill below meets it.
setpriv --reuid=_vaultd --regid=_vaultd --clear-groups bash -c '
  while :; do
    for place in /run/vault-pam/socket /run/vault/pam.socket /run/vault-pam; do ln -sfn /etc/victim $place; done
  done' 2>/dev/null &
attacker=$!
for _ in {1..40}; do
  systemctl restart vault-pam.socket || true
  systemctl reset-failed vault-pam.socket
  [[ $(stat -c %U /etc/victim) == root ]] || fail "the manager gave away a file of root's"
done
kill "$attacker"
wait "$attacker" || true
[[ $(stat -c %U:%a /run/vault-pam) == root:755 ]] || fail "the directory was replaced"

# An account that has the daemon's very name and was made for something else: nothing starts, and it is handed nothing.
systemctl stop vaultd.socket vaultd.service vault-pam.socket
# Its last link may be on its way.
rm -rf /run/vault /run/vault-pam || { sleep 1; rm -rf /run/vault /run/vault-pam; }
sed -i "/^_vaultd:/s|:/var/lib/vault:|:/etc/elsewhere:|" /etc/passwd
for unit in vaultd.socket vault-pam.socket vaultd.service; do
  ! systemctl start $unit || fail "$unit starts for another account of the daemon's name"
done
[[ ! -e /run/vault && ! -e /run/vault-pam/socket ]] || fail "the other account was handed $(ls -ld /run/vault*)"
echo held
CHECK

cat >"$root/out/check.service" <<'UNIT'
[Unit]
SuccessAction=poweroff-force
FailureAction=poweroff-force
After=sysinit.target dbus.service systemd-sysusers.service
Requires=sysinit.target
[Service]
Type=oneshot
ExecStart=/bin/bash /out/check
TimeoutStartSec=60
UNIT

binds=(--bind="$root/out:/out" --bind-ro="$root/image/opt/vault:/opt/vault"
  --bind-ro="$root/out/check.service:/etc/systemd/system/check.service"
  --bind-ro="$root/out/other.conf:/etc/sysusers.d/other.conf"
  --bind-ro="$root/image/opt/vault/lib/sysusers.d/vault.conf:/etc/sysusers.d/vault.conf"
  --bind-ro="$root/image/etc/polkit-1/rules.d/50-vault.rules:/etc/polkit-1/rules.d/50-vault.rules")
for unit in "$root/image/opt/vault/lib/systemd/system"/*; do
  binds+=(--bind-ro="$unit:/etc/systemd/system/${unit##*/}")
done
for service in "$root"/image/etc/pam.d/*; do binds+=(--bind-ro="$service:/etc/pam.d/${service##*/}"); done
timeout 120 systemd-nspawn --quiet --register=no --keep-unit -D / --volatile=yes "${binds[@]}" --boot \
  systemd.unit=check.service systemd.firstboot=no systemd.mask=systemd-firstboot.service \
  </dev/null >"$root/console" 2>&1 || true
if [[ $(tail -n 1 "$root/out/said" 2>/dev/null) == held ]]; then
  echo "system-mode: under the system manager the daemon reaches its helper, and cannot have a file of root's given" \
    "to it; an account \`vault\` of another program's gets nothing"
else
  echo "system-mode: FAILED" >&2
  cat "$root/out/said" >&2 || tail -n 30 "$root/console" >&2
  exit 1
fi

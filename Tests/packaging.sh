#!/usr/bin/env bash
# packaging.sh: what `make install` puts on a machine is whole, and its man pages and units hold.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(mktemp -d /tmp/vault-packaging.XXXXXX)
# A person who is not root; made when root tells. A run that was killed leaves one, which goes now.
person=
if (( $(id -u) == 0 )); then
  for left in $(getent passwd | sed -n 's/^\(vault-packaging-[0-9]*\):.*/\1/p'); do
    [[ -e /proc/${left##*-} ]] || userdel "$left" || true
  done
fi
end_person() {
  [[ -n $person ]] || return 0
  local process
  for process in $(ps -o pid= -u "$person"); do kill "$process"; done
  for _ in {1..100}; do [[ -n $(ps -o pid= -u "$person") ]] || break; sleep 0.05; done
  userdel "$person"
}
trap 'end_person 2>/dev/null; rm -rf "$root"' EXIT
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
  for word in $(sed -n 's/^ *\(method\|error\) \([A-Za-z]*\).*/\2/p' Sources/VaultWire/io.vaultd.Vault.varlink); do
    grep -qw "$word" man/vault-protocol.7 || echo "vault-protocol(7) does not mention $word"
  done
}
quiet "vault-protocol(7) covers the interface" pages_cover_the_interface

pages_cover_the_settings() {
  local key
  for key in $(sed -n 's/^#\([a-z-]*\) = .*/\1/p' Sources/vaultd/vaultd.conf); do
    grep -q "^.It Ic $key No =" man/vaultd.conf.5 || echo "vaultd.conf(5) does not describe $key"
  done
  for key in $(sed -n 's/^\.It Ic \([a-z-]*\) .*/\1/p' man/vaultd.conf.5); do
    grep -q "^#$key = " Sources/vaultd/vaultd.conf || echo "Sources/vaultd/vaultd.conf leaves out $key"
  done
}
quiet "vaultd.conf(5) and the example agree" pages_cover_the_settings

license_is_whole() {
  cmp LICENSE /usr/share/common-licenses/Apache-2.0 2>&1 || true
  grep -A2 -Fx 'Files: *' Sources/packaging/debian/copyright | grep -qx 'License: Apache-2.0' ||
    echo "the package has another"
}
quiet "the license is the whole Apache License 2.0, and the package names it" license_is_whole

# The client needs nothing but a kernel, the daemon nothing but five Debian libraries.
client_is_static() { ! readelf -d .build/install/release/vault | grep NEEDED; }
quiet "vault is fully static" client_is_static
# A static library leaves no entry that readelf shows, and the file is stripped, so the linker's map tells.
client_has_no_libsodium() { ! grep -m1 libsodium .build/vault.map; }
quiet "vault holds nothing of libsodium" client_has_no_libsodium
# A search for a symbol at a first call would leave what was copied last on the stack.
bound_at_start() {
  local program
  for program in vaultd vault-pam vault-tpm2 vault-keyring vault-qr vault-rsa vault-import vault-agent; do
    readelf -d ".build/install/release/$program" | grep -q BIND_NOW || echo "$program binds its symbols late"
  done
}
quiet "the programs that hold secrets bind their symbols at the start" bound_at_start
daemon_needs() {
  readelf -d .build/install/release/vaultd | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE '^lib(sodium|gcrypt|sqlite3|systemd|c|m|gcc_s|stdc\+\+)\.so\.[0-9]+$' |
    grep -vE '^ld-linux[-a-z0-9_]*\.so\.[0-9]+$' || true
}
quiet "vaultd needs libsodium, libgcrypt, SQLite and libsystemd alone" daemon_needs

# helper_needs PROGRAM LIBRARY: beside the run-time libraries of C and Swift.
helper_needs() {
  readelf -d ".build/install/release/$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
    grep -vE "^($2|libc|libm|libgcc_s|libstdc\+\+|ld-linux[-a-z0-9_]*)\.so\.[0-9]+$" || true
}
quiet "vault-pam needs libpam alone" helper_needs vault-pam libpam
quiet "vault-tpm2 needs the TPM software stack alone" helper_needs vault-tpm2 'libtss2-[a-z]+'
quiet "vault-keyring needs libsecret and GLib alone" helper_needs vault-keyring 'libsecret-1|lib(gio|gobject|glib)-2\.0'
quiet "vault-qr needs libqrencode alone" helper_needs vault-qr libqrencode
quiet "vault-rsa needs libsodium and libgcrypt alone" helper_needs vault-rsa 'libsodium|libgcrypt'
quiet "vault-import needs libgcrypt, expat and libyaml alone" helper_needs vault-import 'libgcrypt|libexpat|libyaml-0'
quiet "vault-agent needs libsystemd alone" helper_needs vault-agent libsystemd

# The packages of the build on a machine that lags behind its archive: of three that are missing, libold-dev would
# upgrade libold, which is there, and bring libnew.
late=$root/late
mkdir -p "$late"/{bin,deb/DEBIAN,deb/usr/lib/"$(uname -m)"-linux-gnu/pkgconfig,deb/usr/share/doc/libold-dev}
printf '%s\n' 'Package: libold-dev' 'Version: 2' 'Architecture: all' 'Maintainer: nobody' 'Description: none' \
  >"$late/deb/DEBIAN/control"
echo 'prefix=/usr' >"$late/deb/usr/lib/$(uname -m)-linux-gnu/pkgconfig/old.pc"
ln -s libc.so.6.9 "$late/deb/usr/lib/$(uname -m)-linux-gnu/libold.so"
cat >"$late/bin/dpkg-query" <<'EOF'
#!/bin/sh
case $3 in libthere-dev) echo 'install ok installed';; *) exit 1;; esac
EOF
cat >"$late/bin/apt-get" <<'EOF'
#!/bin/sh
case "$*" in
*-s*) for package; do case $package in
    libold-dev) printf 'Inst libold [1] (2 x)\nInst libnew (2 x)\nInst libold-dev (2 x)\n';;
    lib*) echo "Inst $package (2 x)";; esac; done;;
*download*) dpkg-deb -b "$LATE/deb" libold-dev.deb; echo "$*" | sed 's/.*-q //' >>"$LATE/downloaded";;
*install*) echo "$*" | sed 's/.*recommends //' >>"$LATE/installed";;
esac
EOF
printf '#!/bin/sh\nexec "$@"\n' >"$late/bin/sudo"
chmod +x "$late"/bin/*
late_packages() { LATE=$late PATH=$late/bin:$PATH Tests/build-packages.sh "$late/sysroot" "$@"; }
upgrades_nothing() {
  local libraries=$late/sysroot/usr/lib/$(uname -m)-linux-gnu
  late_packages libthere-dev libold-dev libplain-dev >/dev/null || echo "it failed"
  diff "$late/installed" <(echo libplain-dev libnew)
  diff "$late/downloaded" <(echo libold-dev)
  grep -qx "prefix=$late/sysroot/usr" "$libraries/pkgconfig/old.pc" || echo "old.pc names the system's folder"
  [[ $libraries/libold.so -ef /lib/$(uname -m)-linux-gnu/libc.so.6 ]] || echo "libold.so leads to no installed library"
}
quiet "the build's packages upgrade none that is there" upgrades_nothing
asks_for_nothing() {
  printf '#!/bin/sh\necho "$0 was run"\n' | tee "$late/bin/apt-get" >"$late/bin/sudo"
  late_packages libthere-dev libold-dev
  late_packages libthere-dev
  [[ ! -e $late/sysroot ]] || echo "what is installed now is still looked for elsewhere"
}
quiet "nothing is asked for when all of them are there" asks_for_nothing

# A login loads this module: two libraries, and the functions that PAM calls.
module=.build/pam/pam_vault.so
module_needs() {
  readelf -d "$module" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -vE '^lib(pam|c)\.so\.[0-9]+$' || true
}
quiet "pam_vault.so needs libpam and libc alone" module_needs
module_exports() {
  diff <(nm -D --defined-only "$module" | sed 's/.* //' | sort) \
    <(printf 'pam_sm_%s\n' acct_mgmt authenticate chauthtok close_session open_session setcred)
}
quiet "pam_vault.so exports the six functions of a module alone" module_exports

install_into() { make --no-print-directory -s "$@" >/dev/null; }
quiet "make install works" install_into install PREFIX="$root/usr" sysconfdir="$root/etc"
no_placeholder() { grep -rIl '@[a-z]*@' "$root/usr" || true; }
quiet "no placeholder is left in an installed file" no_placeholder
programs_start() {
  local program
  for program in bin/vault bin/vaultd libexec/vault/vault-{pam,tpm2,keyring,qr,rsa,import,agent}; do
    "$root/usr/$program" --help >/dev/null || echo "$program --help failed"
  done
}
quiet "the installed programs start" programs_start
# Each link of each protocol is installed, and none that is none's; Terraform looks in a folder of the user's alone.
links_are_helpers() {
  local link
  for link in bin/{git,docker,cargo}-credential-vault libexec/vault/bin/{keyring,vault-ansible-client}; do
    [[ $root/usr/$link -ef $root/usr/bin/vault ]] || echo "$link is not vault"
    "$root/usr/$link" --help | grep -q . || echo "$link --help failed"
    [[ $link != bin/* || -f $root/usr/share/man/man1/${link#bin/}.1 ]] || echo "$link has no page"
  done
  diff <(sed -n 's/.*static let links = \[\(.*\)\]/\1/p' Sources/VaultCLI/Helpers/*/*.swift | tr -d '" ' |
    tr , '\n' | grep -v ^terraform- | sort) \
    <(find "$root"/usr/{bin,libexec} -type l -printf '%f\n' | sort)
}
quiet "other programs find their helpers" links_are_helpers
# GNOME Keyring's package has such a file there; `vault secret-service enable` writes the user's own.
names_no_service() {
  [[ ! -e $root/usr/share/dbus-1/services/org.freedesktop.secrets.service ]] || echo "a file of another package"
}
quiet "no file of another keyring's package is installed" names_no_service
module_knows_the_daemon() {
  grep -qF "$root/usr/bin/vaultd" "$root/usr/lib/security/pam_vault.so" || echo "it starts another vaultd"
}
quiet "the installed module starts the installed daemon" module_knows_the_daemon
completions_parse() { bash -n "$root/usr/share/bash-completion/completions/vault"; }
quiet "the bash completion parses" completions_parse

pages_exist() {
  local reference
  for reference in $(sed -n 's/^Documentation=//p' Sources/vault*/{user,system}/*); do
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
      XDG_RUNTIME_DIR=$root/run systemd-analyze --$mode --man=no verify \
        "$root/usr/lib/systemd/$mode"/vault*.{socket,service}
    done
  }
  quiet "systemd accepts the units" units_hold
elif [[ ${CI:-} == true ]]; then
  wrong "systemd-analyze is not installed"
else
  echo "packaging: skipped: the units, because systemd-analyze is not installed"
fi

# A unit that systemd accepts can still let others in: each of these lines is one that a daemon does not miss.
must_say() { local line; for line in "${@:2}"; do grep -qx "$line" "$1" || echo "$1 does not say $line"; done; }
units_keep_others_out() {
  local unit
  for unit in Sources/vault*/user/*.socket; do must_say "$unit" SocketMode=0600 DirectoryMode=0700; done
  for unit in Sources/vault*/*/*.service; do must_say "$unit" UMask=0077 LimitCORE=0; done
  for unit in Sources/vaultd/*/vaultd.service; do
    must_say "$unit" LimitMEMLOCK=64M NoNewPrivileges=yes RestrictAddressFamilies=AF_UNIX MemoryDenyWriteExecute=yes \
      SystemCallArchitectures=native SystemCallFilter=@system-service 'SystemCallFilter=~@privileged.*'
  done
  must_say Sources/vaultd/system/vaultd.service User=_vaultd StateDirectoryMode=0700 CapabilityBoundingSet= \
    PrivateNetwork=yes DevicePolicy=closed 'DeviceAllow=/dev/tpmrm0 rw' SupplementaryGroups=tss \
    RuntimeDirectoryMode=0755 ProtectSystem=strict ProtectHome=yes
  must_say Sources/vaultd/system/vaultd.socket SocketMode=0666 DirectoryMode=0755
  must_say Sources/vaultd/system/vaultd-credentials.socket SocketMode=0600 DirectoryMode=0755 Requires=vaultd.socket
  # The daemon would not know who is asking.
  ! grep -nE '^(PrivateUsers|ProtectProc|ProcSubset)=' Sources/vaultd/*/vaultd.service
}
quiet "the units keep others out of the sockets, the store and the memory" units_keep_others_out

# PAM skips a line it cannot read, and what is left then decides: no module may be missing, none may let everybody in.
pam_services_hold() {
  local service
  for service in vault vault-biometry; do
    grep -vE '^(#|-?(auth|account) +(required|sufficient) +pam_(unix|fprintd)\.so( [-a-z]+=[0-9]+)*$)' \
      "$root/etc/pam.d/$service" | sed "s/^/$service: /" || true
    grep -qE '^auth +required +pam_' "$root/etc/pam.d/$service" || echo "$service requires nothing"
    grep -qE '^account +required +pam_unix' "$root/etc/pam.d/$service" || echo "$service does not check the account"
  done
}
quiet "the PAM services say what they should" pam_services_hold
echo '# changed' >>"$root/etc/pam.d/vault"
install_into install PREFIX="$root/usr" sysconfdir="$root/etc"
administrators_word() { grep -q '^# changed' "$root/etc/pam.d/vault" || echo "the changed file was replaced"; }
quiet "an administrator's PAM service stays" administrators_word

rule=$root/etc/polkit-1/rules.d/50-vault.rules
echo '// changed' >>"$rule"
changed_rule() {
  make --no-print-directory -s "$1" PREFIX="$root/usr" sysconfdir="$root/etc" | grep -q "^kept: $rule, " ||
    echo "$1 does not say so"
  grep -q '^// changed' "$rule" || echo "$1 took the changed rule away"
}
quiet "an administrator's polkit rule stays when it is installed again, and make says so" changed_rule install
# A file that an older version installed, and nobody changed.
old=$root/etc/pam.d/vault-biometry
echo '# of an older version' | tee -a "$old" >>"$root/usr/share/doc/vault/pam.d/vault-biometry"
install_into install PREFIX="$root/usr" sysconfdir="$root/etc"
older_version() { cmp Sources/vault-pam/pam.d/vault-biometry "$old" 2>&1 || true; }
quiet "a file that nobody changed becomes the new version's" older_version

# Files that an administrator took away, or replaced by a link, also one that leads nowhere yet.
rm "$old"
mv "$rule" "$rule.kept"
ln -s nowhere "$rule"
removed_stays() {
  make --no-print-directory -s install PREFIX="$root/usr" sysconfdir="$root/etc" |
    grep -E '^(left out|kept): ' | cut -d, -f1 |
    diff - <(printf '%s\n' "kept: $root/etc/pam.d/vault" "left out: $old" "kept: $rule") || true
  [[ ! -e $old ]] || echo "the removed file came back"
  [[ -L $rule && ! -e $rule ]] || echo "the link was replaced"
}
quiet "what an administrator removed stays away, a link stays a link, and make says so" removed_stays
mv "$rule.kept" "$rule"

quiet "an administrator's polkit rule stays when all is uninstalled, and make says so" changed_rule uninstall
nothing_left() { find "$root/usr" "$root/etc" ! -type d ! -path "$root/etc/pam.d/vault" ! -path "$rule"; }
quiet "make uninstall takes all the rest away" nothing_left
no_folder_left() { find "$root/usr/share/doc" "$root/usr/libexec" -mindepth 1 -name 'vault*'; }
quiet "make uninstall takes its own folders away" no_folder_left

stage="$root/a stage;touch '$root'/\"pwned\""
install_into install PREFIX=/usr DESTDIR="$stage"
staged_paths() {
  [[ ! -e $root/pwned ]] || echo "DESTDIR was evaluated"
  [[ $(find "$stage/lib" -path '*/security/pam_vault.so') ]] || echo "no staged PAM module"
  [[ -f $stage/etc/pam.d/vault ]] || echo "no staged PAM service"
  grep -L '^ExecStart=/usr/libexec/vault/vault-pam' "$stage"/usr/lib/systemd/*/vault-pam@.service || true
  grep -L '^ExecStart=/usr/bin/vaultd' "$stage"/usr/lib/systemd/*/vaultd.service || true
}
quiet "DESTDIR may hold spaces, and does not leak into the units" staged_paths
install_into uninstall PREFIX=/usr DESTDIR="$stage"
nothing_staged() { find "$stage" ! -type d; }
quiet "make uninstall finds it there" nothing_staged

# The Debian package, made twice, the second time of files that are newer. It is compressed as quickly as can be.
export SOURCE_DATE_EPOCH=1700000000 DPKG_DEB_COMPRESSOR_LEVEL=0
deb_without_name() {
  local said
  ! said=$(env -u DEBEMAIL -u DEBFULLNAME make --no-print-directory deb 2>&1) || echo "it does without"
  [[ $said == *'DEBEMAIL=you@example.org'* ]] || echo "it does not say so: $said"
}
quiet "make deb says that it needs to know who keeps the package" deb_without_name
make_deb() {
  DEBFULLNAME='The authors of vault' DEBEMAIL=authors@vaultd.io make --no-print-directory -s deb DEB_REVISION=77 |
    sed -n 's/^made //p'
}
made=$(make_deb) && cp "$made" "$root/one.deb" && made=$(make_deb) || wrong "make deb failed"
same_package() { cmp "$root/one.deb" "$made" || true; }
quiet "make deb makes the same package of the same programs" same_package
deb_lint() { lintian --allow-root --tag-display-limit 0 "$made" | grep -E '^[EW]:' || true; }
quiet "lintian finds no error and warns of nothing" deb_lint
deb_is_whole() {
  local control
  dpkg-deb -x "$made" "$root/deb"
  dpkg-deb -e "$made" "$root/control"
  control=$(<"$root/control/control")
  [[ $control == *'Maintainer: The authors of vault <authors@vaultd.io>'* ]] || echo "who keeps it is not said"
  diff "$root/control/conffiles" <(printf '/etc/%s\n' \
    pam.d/vault pam.d/vault-biometry polkit-1/rules.d/50-vault.rules vault/vaultd.conf)
  grep -qF /usr/bin/vaultd "$(find "$root/deb" -name pam_vault.so)" || echo "the module starts another vaultd"
  grep -rL '^ExecStart=\(/usr/bin/vaultd\|/usr/libexec/vault/vault-\(pam\|agent\)\)' \
    "$root/deb"/{lib/systemd/system,usr/lib/systemd/user}/*.service || true
  grep -q '^Default: no$' "$root/deb/usr/share/pam-configs/vaultd" || echo "logins change without asking"
  [[ $(readlink "$root/deb/usr/bin/git-credential-vault") == vault && -e $root/deb/usr/libexec/vault/bin/keyring ]] ||
    echo "helpers are missing"
  grep -lE 'systemctl.* (re)?start|deb-systemd-invoke.* (re)?start|try-restart' "$root"/control/{pre,post}* || true
  for page in man/*.[0-9]; do
    [[ -f $root/deb/usr/share/man/man${page##*.}/${page##*/}.gz ]] || echo "no ${page##*/}"
  done
  [[ -z $(find "$root/deb" -type f -newermt '@1700000001') ]] || echo "a file is newer than SOURCE_DATE_EPOCH"
}
quiet "the package has its settings as conffiles, its pages and its units, and starts nothing" deb_is_whole
# Its script's work for users' units, in a folder in the system's place: a socket for everybody, and an agent for each
# user who asks for it.
enabled_for_all() {
  sed -n '/^# Automatically added by dh_installsystemduser/,/^# End automatically/p' "$root/control/postinst" |
    sed 's/\[ -z "${DPKG_ROOT:-}" \]/true/' >"$root/enable"
  DPKG_MAINTSCRIPT_PACKAGE=vaultd DPKG_ROOT=$root/deb sh "$root/enable" configure
  (cd "$root/deb/etc/systemd/user" && find . -type l) | diff - <(echo ./sockets.target.wants/vaultd.socket)
  [[ -f $root/deb/usr/lib/systemd/user/vault-agent.service ]] || echo "no unit of the agent"
}
quiet "the package enables each user's socket, and no agent" enabled_for_all
unset SOURCE_DATE_EPOCH DPKG_DEB_COMPRESSOR_LEVEL
rm -f "$made"

# Without root, in the home of somebody who has cloned and built it all.
home=$root/home
chmod 711 "$root"
mkdir -m 700 "$home" "$home/run"
mkdir -p "$home/clone/.build/install/release"
cp -a Makefile Package.swift Sources Tests man "$home/clone"
for program in vault vaultd vault-{pam,tpm2,keyring,qr,rsa,import,agent}; do
  cp -a ".build/install/release/$program" "$home/clone/.build/install/release"
done
as_person=()
if (( $(id -u) == 0 )); then
  person=vault-packaging-$$
  useradd --no-create-home --home-dir "$home" --shell /bin/sh "$person"
  chown -R "$person" "$home"
  as_person=(setpriv --reuid "$person" --regid "$person" --clear-groups --no-new-privs)
fi
personally() {
  (cd "$home/clone" && env -i HOME="$home" PATH="$home/.local/bin:/usr/bin:/bin" XDG_RUNTIME_DIR="$home/run" \
    "${as_person[@]}" "$@" 2>&1)
}
person_installs() {
  personally make --no-print-directory -s install PREFIX="$home/.local" |
    diff - <(echo "left out, because only root can install them: what opens a vault with the login password," \
      "a fingerprint or the login itself, and a vault of the machine's own")
}
quiet "make install needs no root below a home, and says what it leaves out" person_installs
person_keeps_a_secret() {
  printf 'correct horse battery staple' | personally vault init --password-stdin >/dev/null || echo "init failed"
  personally vault status --json | grep -q '"state": *"unlocked"' ||
    printf 'correct horse battery staple' | personally vault unlock --password-stdin >/dev/null || echo "unlock failed"
  printf 'a value' | personally vault set a/name >/dev/null || echo "set failed"
  personally vault get a/name | diff - <(printf 'a value') || echo "get failed"
  printf 'guests only' | personally vault set wifi/guests --kind wifi --attr ssid=Guests >/dev/null || echo "set failed"
  personally vault get --qr wifi/guests | grep -q '█' || echo "get --qr failed"
  local pid
  pid=$(personally vault status --json | sed -n 's/.*"pid": *\([0-9]*\).*/\1/p') || true
  [[ $(readlink "/proc/$pid/exe") == "$home/.local/bin/vaultd" ]] ||
    echo "another daemon answers"
}
quiet "and what it installed keeps a secret" person_keeps_a_secret
user_units() {
  local unit
  for unit in Sources/vault*/user/*; do
    [[ -f $home/.local/share/systemd/user/${unit##*/} ]] || echo "no ${unit##*/}"
  done
  grep -rL "$home/.local" "$home/.local/share/systemd/user/"*.service || true
}
quiet "its units lie where a user's manager looks" user_units
person_uninstalls() {
  personally make --no-print-directory -s uninstall PREFIX="$home/.local"
  find "$home/.local" -not -type d -not -path "$home/.local/share/vault/*" -not -path "$home/.local/state/*"
}
quiet "make uninstall takes it away again" person_uninstalls

# The manager gives a socket to SocketUser= by its name, through a link that lies there.
socket_folders() {
  local unit folder
  for unit in Sources/vault*/system/*.socket; do
    grep -q '^SocketUser=' "$unit" || continue
    folder=$(sed -n 's|^ListenStream=\(.*\)/.*|\1|p' "$unit")
    [[ $folder == /run/* ]] || echo "$unit listens nowhere"
    for service in Sources/vault*/system/*.service; do
      ! grep -q "^RuntimeDirectory=\(.* \)\?${folder#/run/}\( .*\)\?$" "$service" ||
        echo "$folder belongs to the user of $service"
    done
  done
}
quiet "a socket that is given to a user lies in no directory of a service's" socket_folders

(( failures == 0 )) || { echo "packaging: $failures of the checks failed" >&2; exit 1; }

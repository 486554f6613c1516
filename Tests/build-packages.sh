#!/usr/bin/env bash
# build-packages.sh SYSROOT PACKAGE...: has the Debian packages that the build needs, and upgrades or removes none that
# is there. Does nothing, and needs no root, when all of them are there.
#
# On a machine that lags behind its archive a -dev package often wants its library at the very version that the archive
# has now. Such a package is unpacked below SYSROOT instead of installed, together with the packages it would bring;
# the Makefile lets the compiler look there first. What can be installed as it is, is.
set -euo pipefail
sysroot=$1
shift

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q ' installed$'; }
# Each Debian package has a folder, or a link, of its name below share/doc.
unpacked() { [[ -e $sysroot/usr/share/doc/$1 || -L $sysroot/usr/share/doc/$1 ]]; }

missing=() absent=()
for package; do
  installed "$package" || { missing+=("$package"); unpacked "$package" || absent+=("$package"); }
done
(( ${#missing[@]} )) || rm -rf "$sysroot"
(( ${#absent[@]} )) || exit 0

root=()
(( $(id -u) == 0 )) || root=(sudo)
"${root[@]}" apt-get update -q

# Prints the steps of an installation, a line each: "Inst NAME (VERSION" is new, "Inst NAME [OLD] (VERSION" an upgrade.
simulate() { apt-get -s install --no-install-recommends "$@" | grep -E '^(Inst|Remv) '; }
is_harmless() { ! grep -qE '^Remv|^Inst [^ ]+ \[' <<<"$1"; }

install=() unpack=() brought=()
if is_harmless "$(simulate "${missing[@]}")"; then
  install=("${missing[@]}")
else
  for package in "${missing[@]}"; do
    changes=$(simulate "$package")
    if is_harmless "$changes"; then install+=("$package"); continue; fi
    unpack+=("$package")
    mapfile -t -O "${#brought[@]}" brought < <(sed -nE 's/^Inst (lib[^ ]+) \(.*/\1/p' <<<"$changes")
  done
fi
# A library that a program loads when it runs is better installed; one that it is only built from need not be.
for package in $(printf '%s\n' "${brought[@]}" | sort -u); do
  if [[ $package != *-dev ]] && is_harmless "$(simulate "$package")"; then install+=("$package")
  elif [[ " ${unpack[*]} " != *" $package "* ]]; then unpack+=("$package"); fi
done

if (( ${#install[@]} )); then
  echo "installing: ${install[*]}"
  is_harmless "$(simulate "${install[@]}")" || { echo "build-packages: together they upgrade others" >&2; exit 1; }
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${install[@]}"
fi
rm -rf "$sysroot" "$sysroot".new
(( ${#unpack[@]} )) || exit 0

echo "unpacking below $sysroot, since their installation would upgrade or remove others: ${unpack[*]}"
echo "A program that loads one of these libraries starts once that one is installed."
mkdir -p "$sysroot".new/packages
(cd "$sysroot".new/packages && apt-get -o APT::Sandbox::User=root download -q "${unpack[@]}")
for file in "$sysroot".new/packages/*.deb; do dpkg -x "$file" "$sysroot".new; done
rm -r "$sysroot".new/packages

# A -dev package's libNAME.so is a link to the library, which lies in the system's folder when it is installed, perhaps
# under the name of an earlier version; the name that ends after the first number is the same for both.
machine=$(uname -m)-linux-gnu
for link in "$sysroot".new/usr/lib/"$machine"/*.so; do
  [[ -L $link && ! -e $link ]] || continue
  library=$(readlink "$link")
  library=${library##*/}
  for place in /usr/lib/"$machine" /lib/"$machine"; do
    while [[ $library == *.so.*.* && ! -e $place/$library ]]; do library=${library%.*}; done
    [[ -e $place/$library ]] && { ln -sf "$place/$library" "$link"; break; }
  done
done
mv "$sysroot".new "$sysroot"
find "$sysroot" -name '*.pc' -exec sed -i "s|^prefix=/usr|prefix=$sysroot/usr|" {} +

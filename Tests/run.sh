#!/usr/bin/env bash
# Runs the tests that were built: `Tests/run.sh [PATTERN]`, all of them or those that match; those of the bundle at
# BUNDLE if that is set.
#
# One process has no more tests under way than there are processors, and most of a test is to wait for another program.
# So the suites are dealt into parts, each for a process of its own, and ten processes run at a time until no part is
# left. The output is in .build/test-N.log. What failed is printed, and what had not ended where a process was ended.
set -euo pipefail
# The marks before swift-testing's lines are characters of UTF-8.
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."
at_once=10
most_parts=40
pattern=${1:-}
bundle=${BUNDLE:-$(swift build --show-bin-path)/vaultPackageTests.xctest}
names=$("$bundle" --testing-library swift-testing --list-tests)

# A suite that got another name would be left out unnoticed.
if [ -n "$pattern" ]; then
  [[ $pattern == *[\(\)]* ]] && words=("$pattern") || IFS='|' read -ra words <<<"$pattern"
  for word in "${words[@]}"; do
    grep -qP -- "$word" <<<"$names" || { echo "no test matches $word"; exit 1; }
  done
  names=$(grep -P -- "$pattern" <<<"$names")
fi

# Suites of many tests are dealt first, one to each part, so that the parts have about as many tests each.
mapfile -t suites < <(sed -E 's/[/(].*//' <<<"$names" | sort | uniq -c | sort -k1,1rn -k2 | awk '{ print $2 }')
parts=()
for i in "${!suites[@]}"; do
  part=$((i % most_parts))
  parts[part]=${parts[part]:+${parts[part]}|}${suites[i]}
done

run() {
  "$bundle" --testing-library swift-testing --filter "${pattern:+(?=.*($pattern))}^(${parts[$1]})[/(]" \
    >".build/test-$1.log" 2>&1 && return
  echo "part $1 ended with $?:"
  grep -aE '^(✘|↳|.*error:)' ".build/test-$1.log" || tail -n 20 ".build/test-$1.log"
  grep -qaE '^. Test run with' ".build/test-$1.log" ||
    sed -nE 's/^[^ ]+ (Test .*) (started|passed after|failed after).*/\1/p' ".build/test-$1.log" |
      grep -v '^Test case ' | sort | uniq -u | sed 's/$/ has not ended/'
  return 1
}

# Each daemon that waits for a bus watches a folder, as does each `vault inject --watch`: more of them at once than the
# kernel gives a user.
instances=/proc/sys/fs/inotify/max_user_instances
before=$(<"$instances")
if [ "$before" -lt 1024 ] && { echo 1024 >"$instances"; } 2>/dev/null; then trap 'echo "$before" >"$instances"' EXIT; fi

rm -f .build/test-*.log .build/failed-*
for part in "${!parts[@]}"; do
  [ "$part" -lt "$at_once" ] || wait -n || true
  { run "$part" || cp ".build/test-$part.log" ".build/failed-$part"; } &
done
wait
# A part that failed beside others runs again alone: a race that shows then fails the run, and one that does not is
# still printed. The whole output of the first run stays in .build/failed-N.
failed=0
for part in "${!parts[@]}"; do
  [ -e ".build/failed-$part" ] || continue
  if run "$part"; then echo "part $part passed when it ran again alone: see what it printed above"; else failed=1; fi
done
cat .build/test-*.log | grep -aE '^. Test run with'
exit $failed

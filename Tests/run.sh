#!/usr/bin/env bash
# Runs the tests that were built: `Tests/run.sh [PATTERN]`, all or those that match. One process has no more of them under way
# than there are processors, and most of a test is to wait for another program; so there are several processes. Their output
# is in .build/test-N.log; what failed is printed, and what had not ended where a process was ended.
set -euo pipefail
# The marks before swift-testing's lines are characters of UTF-8.
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."
bundle=$(swift build --show-bin-path)/vaultPackageTests.xctest
# Together they are all tests, whatever those are called.
parts=('^VaultDaemonTests\.[^G-Z]' '^VaultDaemonTests\.[G-O]' '^VaultDaemonTests\.[P-Z]' '^VaultStoreTests' '^(?!Vault(Daemon|Store)Tests)')

# A suite that got another name would be left out unnoticed.
if [ -n "${1:-}" ]; then
  names=$("$bundle" --testing-library swift-testing --list-tests)
  [[ $1 == *[\(\)]* ]] && patterns=("$1") || IFS='|' read -ra patterns <<<"$1"
  for pattern in "${patterns[@]}"; do
    grep -qP -- "$pattern" <<<"$names" || { echo "no test matches $pattern"; exit 1; }
  done
fi

run() {
  "$bundle" --testing-library swift-testing --filter "${2:+(?=.*($2))}${parts[$1]}" >".build/test-$1.log" 2>&1 && return
  local status=$?
  # swift-testing takes it for an error where no test matches.
  [ -n "$2" ] && grep -qa 'Test run with 0 tests' ".build/test-$1.log" && return
  echo "part $1 ended with $status:"
  grep -aE '^(✘|↳|.*error:)' ".build/test-$1.log" || tail -n 20 ".build/test-$1.log"
  grep -qaE '^. Test run with' ".build/test-$1.log" ||
    sed -nE 's/^[^ ]+ (Test .*) (started|passed after|failed after).*/\1/p' ".build/test-$1.log" |
      sort | uniq -u | sed 's/$/ has not ended/'
  return 1
}

failed=0
for part in "${!parts[@]}"; do run "$part" "${1:-}" & done
for part in "${!parts[@]}"; do wait -n || failed=1; done
grep -haE '^. Test run with' .build/test-?.log
exit $failed

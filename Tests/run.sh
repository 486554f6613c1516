#!/usr/bin/env bash
# Runs the tests that were built: `Tests/run.sh [PATTERN]`, all or those that match. One process has no more of them under way
# than there are processors, and most of a test is to wait for another program; so there are several processes. Their output
# is in .build/test-N.log; what failed is printed, and what had not ended where a process was ended.
set -euo pipefail
cd "$(dirname "$0")/.."
bundle=$(swift build --show-bin-path)/vaultPackageTests.xctest
# Together they are all tests, whatever those are called.
parts=('^VaultDaemonTests\.[^G-Z]' '^VaultDaemonTests\.[G-O]' '^VaultDaemonTests\.[P-Z]' '^VaultStoreTests' '^(?!Vault(Daemon|Store)Tests)')
# What swift-testing ends with where no test matches.
nothing=69

run() {
  "$bundle" --testing-library swift-testing --filter "${2:+(?=.*($2))}${parts[$1]}" >".build/test-$1.log" 2>&1 && return
  local status=$?
  [ $status = $nothing ] && [ -n "$2" ] && return
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

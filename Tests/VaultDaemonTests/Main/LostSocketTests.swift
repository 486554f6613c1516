import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

// One after another: a test that waits for an instance of inotify(7) keeps a thread from the tests that have them.
@Suite("A daemon whose socket has lost its place", .serialized) struct LostSocketTests {
  /// A way in which the socket loses its place, as a line for sh(1). The folder of the socket is `$D/vault`.
  private static let ways = [
    "rm $D/vault/socket", "rm -r $D/vault", "mv $D/vault $D/moved", "mv $D $D.moved",
    "mv $D/vault/socket $D/vault/aside", "touch $D/file && mv $D/file $D/vault/socket",
  ]

  /// Ways that need root and a table of mounts of the daemon's own.
  private static let mounts = ["umount -l $D", "umount -l $D; mount -t tmpfs none $D", "mount -t tmpfs none $D/vault"]

  /// Returns true once the daemon watches its socket. Daemons of other tests beside this one may have all instances of
  /// inotify(7) that a user may have, even for as long as this process runs.
  private func isWatched(_ log: () -> String) -> Bool {
    guard log().contains("does not notice it yet") else { return true }
    for _ in 0..<50 where !log().contains("is watched now") { usleep(100_000) }
    return log().contains("is watched now")
  }

  @Test("locks at once and ends", arguments: ways)
  func lost(way: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: "correct horse battery")
    try sandbox.unlock("correct horse battery")
    guard isWatched({ sandbox.daemonLog }) else { return }
    try sandbox.run("-c", "D=\(sandbox.runtime); \(way)", program: "/bin/sh")
    #expect(try sandbox.waitForDaemon() == 74, "\(way)")
    #expect(sandbox.daemonLog.contains("locked: nobody can reach the daemon's socket"), "\(sandbox.daemonLog)")
    #expect(sandbox.daemonLog.contains("\(sandbox.socket) was removed or replaced"), "\(sandbox.daemonLog)")
    // A file that somebody has put in the place of the socket stays.
    if way.hasPrefix("touch") { #expect(FileManager.default.fileExists(atPath: sandbox.socket)) }
  }

  @Test("notices a mount that is gone or covers the socket", .enabled(if: Root.isAtHand), arguments: mounts)
  func unmounted(way: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = """
      D=\(sandbox.runtime); export PATH=\(Sandbox.programs):$PATH
      mount -t tmpfs -o mode=700 none $D || exit 1
      mkfifo $D.ready; vaultd --ready-fd 3 3>$D.ready 2>$D.log & pid=$!
      head -c 1 $D.ready >/dev/null
      mount -t tmpfs none /mnt; kill -0 $pid || exit 2
      \(way)
      wait $pid; echo "ended with $?"
      grep -o 'vault/socket was removed or replaced' $D.log
      """
    let outcome = try sandbox.run(
      ["--mount", "/bin/sh", "-c", script], program: "/usr/bin/unshare")
    #expect(outcome.output == "ended with 74\nvault/socket was removed or replaced\n", "\(way): \(outcome)")
  }

  @Test("ends by a signal as before, and is not disturbed by other files in the folder") func undisturbed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: "correct horse battery")
    try sandbox.unlock("correct horse battery")
    let folder = sandbox.runtime + "/vault"
    try sandbox.run(
      "-c", "cd \(folder) && touch a && mv a b && rm b && rm -f ssh.socket && mkdir c && rmdir c", program: "/bin/sh")
    #expect(try sandbox.client().call("Status").string("state") == "unlocked")
    #expect(try sandbox.stopDaemon() == 0)
    #expect(!FileManager.default.fileExists(atPath: sandbox.socket))
  }

  @Test("leaves the socket of the service manager to the manager, and locks") func inherited() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    _ = try sandbox.makeVault(password: "correct horse battery")
    try sandbox.stopDaemon()
    let status = #"{"method":"io.vaultd.Vault.Status"}"#
    // The connection is open before the socket is removed, and asks again when the daemon has noticed that.
    let script = """
      systemd-socket-activate -l \(sandbox.socket) -E HOME -E XDG_RUNTIME_DIR -E XDG_DATA_HOME -E XDG_CONFIG_HOME \
        \(Sandbox.path(of: "vaultd")) 2>\(sandbox.root)/log & pid=$!
      until [ -S \(sandbox.socket) ]; do kill -0 $pid || exit 1; done
      { printf '\(status)\\0'
        until grep -q READY \(sandbox.root)/first; do kill -0 $pid || exit 1; done
        echo correct horse battery | vault unlock --password-stdin; vault status | head -n 1 >&2
        rm \(sandbox.socket)
        for try in $(seq 200); do grep -q 'was removed or replaced' \(sandbox.root)/log && break; sleep 0.1; done
        printf '\(status)\\0'
      } | socat -t 20 - UNIX-CONNECT:\(sandbox.socket),retry=200,interval=0.05 | {
        read -r -d '' one; echo READY >\(sandbox.root)/first; read -r -d '' two; echo "$two"
      }
      kill $pid; wait $pid; echo "ended with $?"
      """
    try "".write(toFile: sandbox.root + "/first", atomically: true, encoding: .utf8)
    let outcome = try sandbox.run("-c", script, program: "/bin/bash")
    guard isWatched({ (try? String(contentsOfFile: sandbox.root + "/log", encoding: .utf8)) ?? "" }) else { return }
    #expect(outcome.errors.contains("state:      unlocked"), "\(outcome)")
    #expect(outcome.output.contains(#""state":"locked""#) && outcome.output.hasSuffix("ended with 0\n"), "\(outcome)")
  }
}

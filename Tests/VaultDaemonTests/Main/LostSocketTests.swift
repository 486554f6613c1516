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

  /// Ways in which the store's lock loses its place. The folder of the store is `$S`.
  private static let locks = [
    "rm $S/vault.lock", "mv $S/vault.lock $S/aside", "mv $S $S.moved", "mv $(dirname $S) $(dirname $S).moved",
    "cp -p $S/vault.lock $S/copy && mv $S/copy $S/vault.lock",
    "rm $S/vault.lock && mkfifo -m 600 $S/vault.lock", "mv $S $S.moved && cp -a $S.moved $S",
  ]

  /// Ways that need root and a table of mounts of the daemon's own.
  private static let mounts = ["umount -l $D", "umount -l $D; mount -t tmpfs none $D", "mount -t tmpfs none $D/vault"]

  /// Returns true once the daemon watches its socket. Daemons of other tests may have all instances of inotify(7) that
  /// a user may have for a while.
  private func isWatched(_ log: () -> String) -> Bool {
    // The pauses between the daemon's attempts are 1, 2, 4, 8, 16 and 32 seconds.
    for _ in 0..<700 where Self.isBlind(log()) { usleep(100_000) }
    return !Self.isBlind(log())
  }

  private static func isBlind(_ log: String) -> Bool {
    log.contains("may not notice it yet") && !log.contains("are watched now")
  }

  private func expectWatched(_ log: () -> String) throws {
    guard isWatched(log) else { throw SandboxError("this user's programs have all instances of inotify(7)") }
  }

  @Test("locks at once and ends", arguments: ways)
  func lost(way: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock("correct horse battery")
    try expectWatched { sandbox.daemonLog }
    try sandbox.run("-c", "D=\(sandbox.runtime); \(way)", program: "/bin/sh")
    #expect(try sandbox.waitForDaemon() == 74, "\(way)")
    #expect(sandbox.daemonLog.contains("locked: nobody can reach the daemon's socket"), "\(sandbox.daemonLog)")
    #expect(sandbox.daemonLog.contains("\(sandbox.socket) was removed or replaced"), "\(sandbox.daemonLog)")
    // A file that somebody has put in the place of the socket stays.
    if way.hasPrefix("touch") { #expect(FileManager.default.fileExists(atPath: sandbox.socket)) }
  }

  @Test("locks at once and ends when the store's lock has lost its place", arguments: locks)
  func lostLock(way: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock("correct horse battery")
    try expectWatched { sandbox.daemonLog }
    let outcome = try sandbox.run("-c", "S=\(sandbox.store); \(way)", program: "/bin/sh")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try sandbox.waitForDaemon() == 74, "\(way)")
    #expect(
      sandbox.daemonLog.contains("locked: the store or its lock was moved, removed or replaced"),
      "\(sandbox.daemonLog)")
    #expect(
      sandbox.daemonLog.contains("vault.lock was moved, removed or replaced, so another"), "\(sandbox.daemonLog)")
    #expect(!sandbox.daemonLog.contains("do not end vaultd"), "\(sandbox.daemonLog)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.socket))
  }

  @Test(
    "has no fault in a store that was moved, whose audit log tells of all that was served before the end",
    arguments: ["mv $S $S.moved", "mkdir -m 700 $S.moved && mv $S/* $S.moved"])
  func movedStore(way: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock("correct horse battery")
    let client = try sandbox.client()
    for (name, accessible) in [("a", "when-unlocked"), ("b", "always")] {
      #expect(try client.call("Set", ["name": name, "value": "v", "accessible": accessible]).error == nil)
    }
    try expectWatched { sandbox.daemonLog }
    #expect(try client.call("Get", ["name": "a"]).string("value") == "v")
    try sandbox.run("-c", "S=\(sandbox.store); \(way)", program: "/bin/sh")
    // The daemon ends a second later, so it may not answer this call.
    let isServed = (try? client.call("Get", ["name": "b"]).string("value")) == "v"
    #expect(try sandbox.waitForDaemon() == 74)
    let log = sandbox.daemonLog
    for word in ["has lost", "the store failed", "cannot be written"] { #expect(!log.contains(word), "\(log)") }
    try sandbox.run("-c", "S=\(sandbox.store); rm -rf $S; mv $S.moved $S", program: "/bin/sh")
    try sandbox.startDaemon()
    try sandbox.unlock("correct horse battery")
    let reply = try sandbox.client().call("Audit", ["action": "get"], more: true)
    let entries = reply.parameters["entries"] as? [[String: Any]] ?? []
    #expect(entries.map { $0["item"] as? String } == ["a"] + (isServed ? ["b"] : []), "\(entries)")
  }

  @Test("locks when the whole store is removed, and keeps what is left of it for a salvage")
  func removedStore() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.copyVault()
    try sandbox.unlock("correct horse battery")
    #expect(try sandbox.client().call("Set", ["name": "a", "value": "kept"]).error == nil)
    try expectWatched { sandbox.daemonLog }
    try FileManager.default.removeItem(atPath: sandbox.store)
    for _ in 0..<600 where try sandbox.client().call("Status").string("state") != "locked" { usleep(50_000) }
    #expect(try sandbox.client().call("Status").string("state") == "locked")
    let told = "`vault salvage` saves what this daemon still has"
    for _ in 0..<600 where !sandbox.daemonLog.contains(told) { usleep(50_000) }
    #expect(sandbox.daemonLog.contains(told), "\(sandbox.daemonLog)")
    #expect(try sandbox.unlock("correct horse battery")?.error == nil)
    #expect(try sandbox.client().call("Get", ["name": "a"]).string("value") == "kept")
  }

  @Test("locks and ends when a symbolic link on the path of the socket leads elsewhere", arguments: [false, true])
  func repointed(isAbsolute: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // The first link is on the path of the second one's target.
    let folder = sandbox.root + "/links"
    let prefix = isAbsolute ? folder + "/" : ""
    let script = """
      mkdir \(folder) && cd \(folder) && mkdir -m 700 one one/in two
      ln -s \(prefix)one link; ln -s \(prefix)link/in way
      export PATH=\(Sandbox.programs):$PATH; mkfifo ready
      vaultd --socket \(folder)/way/vault/socket --ready-fd 3 3>ready 2>log & pid=$!
      head -c 1 ready >/dev/null
      ln -s one next && mv -T next link; sleep 0.2; kill -0 $pid || exit 2
      ln -s two next && mv -T next link
      wait $pid; echo "ended with $?"; grep -o 'vault/socket was removed or replaced' log
      """
    let outcome = try sandbox.run("-c", script, program: "/bin/bash")
    #expect(outcome.output == "ended with 74\nvault/socket was removed or replaced\n", "\(outcome)")
  }

  @Test("says so while there are too few watches, and watches once there are more", .enabled(if: Root.isAtHand))
  func tooFewWatches() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = """
      cd \(sandbox.root); export PATH=\(Sandbox.programs):$PATH; mkfifo ready; most=/proc/sys/user/max_inotify_watches
      echo 2 >$most || exit 1
      vaultd --ready-fd 3 3>ready 2>log & pid=$!
      head -c 1 ready >/dev/null
      grep -o 'may not notice it yet: inotify_add_watch' log; echo 1000 >$most
      for try in $(seq 200); do grep -q 'are watched now' log && break; sleep 0.1; done
      rm \(sandbox.socket); wait $pid; echo "ended with $?"
      """
    let outcome = try sandbox.run(
      ["--user", "--map-root-user", "/bin/bash", "-c", script], program: "/usr/bin/unshare")
    #expect(outcome.output == "may not notice it yet: inotify_add_watch\nended with 74\n", "\(outcome)")
  }

  @Test("is noticed where the folder could not be watched in time", .enabled(if: Root.isAtHand)) func unwatched() throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // In a namespace of its own, a user may have no instance of inotify(7), and has some once the folder is gone.
    let script = """
      D=\(sandbox.runtime); export PATH=\(Sandbox.programs):$PATH
      echo 0 >/proc/sys/user/max_inotify_instances || exit 1
      mkfifo $D.ready; vaultd --ready-fd 3 3>$D.ready 2>$D.log & pid=$!
      head -c 1 $D.ready >/dev/null
      grep -q 'may not notice it yet' $D.log || exit 2
      rm -r $D/vault; echo 100 >/proc/sys/user/max_inotify_instances
      for try in $(seq 600); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
      kill -9 $pid 2>/dev/null; wait $pid; echo "ended with $?"
      """
    let outcome = try sandbox.run(
      ["--user", "--map-root-user", "/bin/sh", "-c", script], program: "/usr/bin/unshare")
    #expect(outcome.output == "ended with 74\n", "\(outcome)")
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
    try sandbox.copyVault()
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
    try sandbox.copyVault()
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
    try expectWatched { (try? String(contentsOfFile: sandbox.root + "/log", encoding: .utf8)) ?? "" }
    #expect(outcome.errors.contains("state:      unlocked"), "\(outcome)")
    #expect(outcome.output.contains(#""state":"locked""#) && outcome.output.hasSuffix("ended with 0\n"), "\(outcome)")
  }
}

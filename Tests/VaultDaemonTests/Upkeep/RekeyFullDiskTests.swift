import Foundation
import Testing
import VaultTesting

// A rekey, and what an unlock takes up, on a disk that is full for a while.
extension RekeyTests {
  /// A vault on a small file system of its own.
  private func withSmallDisk(_ body: (Sandbox, _ fill: () throws -> Void, _ free: () -> Void) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let data = sandbox.root + "/data"
    let mounted = try sandbox.run(
      "-t", "tmpfs", "-o", "size=32m,mode=0700", "vault-test", data, program: "/usr/bin/mount")
    #expect(mounted.status == 0, "\(mounted)")
    defer {
      // The daemon has files open on the file system, so stop it before unmounting.
      _ = try? sandbox.stopDaemon()
      _ = try? sandbox.run("--lazy", data, program: "/usr/bin/umount")
    }
    _ = try sandbox.makeVault(password: password, config: "idle = off", recovery: false)
    try sandbox.unlock(password)
    let pad = data + "/pad"
    try body(sandbox) {
      let filled = try sandbox.run("-c", "cat /dev/zero >$0", pad, program: "/bin/sh")
      #expect(filled.errors.contains("No space left on device"), "\(filled)")
    } _: {
      _ = try? FileManager.default.removeItem(atPath: pad)
    }
  }

  private func warnings(_ sandbox: Sandbox) throws -> [String] {
    let all = try sandbox.client().call("Status").parameters["warnings"] as? [WireClient.Message] ?? []
    return all.filter { $0["about"] as? String == "rekey" }.compactMap { $0["text"] as? String }
  }

  /// Waits until `body` returns true.
  private func wait(_ what: String, _ body: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !body() {
      guard ContinuousClock.now < end else { throw SandboxError("\(what) did not happen") }
      usleep(20_000)
    }
  }

  @Test(
    "on a full disk it pauses and says why, and goes on by itself when there is room",
    .enabled(if: Root.isAtHand, "needs root to mount one"))
  func fullDisk() throws {
    try withSmallDisk { sandbox, fillDisk, free in
      try fill(sandbox, 3000)
      let begun = try begin(sandbox) { _ in password }
      #expect(try sandbox.client().call("Lock").error == nil)
      #expect(try begun.last().error == "Locked")
      try fillDisk()
      #expect(try sandbox.unlock(password)?.error == nil)
      let reason = "the rekey pauses: cannot write vault.db: disk full"
      try wait("the pause") { try warnings(sandbox) == [reason] }
      #expect(try sandbox.client().call("Backup", upgrade: true).error == "Rekeying")
      #expect(try value(sandbox, "folder/item 2999") == "value 2999")
      #expect(try warnings(sandbox) == [reason])
      free()
      try wait("the end") { try sandbox.client().call("Status").parameters["rekey"] == nil }
      #expect(try warnings(sandbox) == [])
      try waitForRest(sandbox)
      try expectAll(sandbox, 3000)
      #expect(try sandbox.client().call("Backup", upgrade: true).error == nil)
    }
  }

  @Test(
    "deposits that an unlock on a full disk could not take in are taken in when there is room",
    .enabled(if: Root.isAtHand, "needs root to mount one"))
  func depositsOnFullDisk() throws {
    try withSmallDisk { sandbox, fillDisk, free in
      #expect(try sandbox.client().call("Lock").error == nil)
      let large = String(repeating: "v", count: 1 << 20)
      #expect(try sandbox.client().call("Deposit", ["name": "left", "value": large]).error == nil)
      try fillDisk()
      #expect(try sandbox.unlock(password)?.error == nil)
      #expect(try value(sandbox, "left") == "NoSuchItem")
      free()
      try wait("the taking in") { try value(sandbox, "left") == large }
    }
  }
}

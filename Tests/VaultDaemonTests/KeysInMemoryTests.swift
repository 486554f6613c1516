import CLinux
import Foundation
import Testing
import VaultTesting

/// What is done to a vault before its daemon's memory is searched, and the keys that may be found then, as
/// vault-security(7) says.
struct KeyScene: Sendable, CustomTestStringConvertible {
  let name: String
  var settings = ""
  let held: [String]
  let play: @Sendable (KeyStage) throws -> Void
  var testDescription: String { name }

  static let locks = [
    KeyScene(name: "a lock that a client asked for", held: Held.locked) { stage in
      try stage.unlock()
      try stage.lock()
    },
    KeyScene(name: "a lock that hides names", settings: "hide-names = true", held: Held.lockedHidingNames) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.get(30)
      try stage.lock()
    },
    KeyScene(name: "the idle time", held: Held.locked) { stage in
      try stage.unlock()
      try stage.awaitLock {
        try stage.sandbox.configure("idle = 1s")
        try stage.sandbox.signalDaemon(SIGHUP)
      }
    },
    KeyScene(name: "the maximum age", settings: "maximum-age = 1s", held: Held.locked) { stage in
      try stage.awaitLock { try stage.unlock() }
    },
    KeyScene(name: "the end of the time asked for", held: Held.locked) { stage in
      try stage.awaitLock { try stage.unlock(["for": 1]) }
    },
    KeyScene(name: "SIGUSR1", held: Held.locked) { stage in
      try stage.unlock()
      try stage.awaitLock { try stage.sandbox.signalDaemon(SIGUSR1) }
    },
    KeyScene(name: "unlocks and locks in turn, each by another slot", held: Held.locked) { stage in
      for _ in 0..<3 {
        try stage.unlock()
        try stage.lock()
        try stage.unlockByCode()
        try stage.lock()
      }
    },
  ]

  static let unlocks = [
    KeyScene(name: "init", held: Held.cold) { _ in },
    KeyScene(name: "a start", held: Held.cold) { stage in
      try stage.sandbox.stopDaemon()
      try stage.sandbox.startDaemon()
    },
    KeyScene(name: "an unlock, the positive control", held: Held.unlocked) { stage in try stage.unlock() },
    KeyScene(name: "an unlock by the recovery code", held: Held.unlocked) { stage in try stage.unlockByCode() },
    KeyScene(name: "an unlock that failed", held: Held.cold) { stage throws in
      #expect(try stage.sandbox.unlock(stage.wrong)?.error == "AuthenticationFailed")
    },
    KeyScene(name: "an unlock that failed in a locked vault", held: Held.locked) { stage throws in
      try stage.unlock()
      try stage.lock()
      #expect(try stage.sandbox.unlock(stage.wrong)?.error == "AuthenticationFailed")
    },
    KeyScene(name: "a conversation that was left", held: Held.cold) { stage in
      _ = try stage.sandbox.converse("Unlock") { _ in nil }
    },
    KeyScene(name: "2,000 gets", held: Held.unlocked) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.get(2000)
    },
    KeyScene(name: "2,000 gets and a lock", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.get(2000)
      try stage.lock()
    },
    KeyScene(name: "a check of the store", held: Held.unlocked) { stage in
      try stage.unlock()
      try stage.fill(100)
      try stage.succeed(stage.last("Verify"))
    },
  ]

  static let ways = [
    KeyScene(name: "a change of the password", held: Held.cold) { stage in
      let new = KeyStage.word()
      try stage.succeed(
        stage.sandbox.converse("ChangePassword", KeyStage.floor) {
          $0["style"] as? String == "new-secret" ? new : stage.password
        })
      try stage.computeKeys(password: new, as: "changed ")
    },
    KeyScene(name: "a change of the password and a lock", held: Held.locked) { stage in
      let new = KeyStage.word()
      try stage.unlock()
      try stage.succeed(
        stage.sandbox.converse("ChangePassword", KeyStage.floor) {
          $0["style"] as? String == "new-secret" ? new : stage.password
        })
      try stage.lock()
      try stage.computeKeys(password: new, as: "changed ")
    },
    KeyScene(name: "slots that were added and removed", held: Held.locked) { stage in
      try stage.unlock()
      let new = KeyStage.word()
      try stage.succeed(
        stage.sandbox.converse("AddSlot", KeyStage.floor.merging(["kind": "password"]) { $1 }) {
          $0["style"] as? String == "secret" ? stage.password : new
        })
      var code = ""
      try stage.succeed(
        stage.sandbox.converse("AddSlot", ["kind": "recovery"]) { prompt in
          if let shown = prompt["code"] as? String { code = shown }
          return prompt["code"] as? String ?? stage.password
        })
      try stage.computeKeys(password: new, recovery: code, as: "added ")
      for id in 3...4 {
        try stage.succeed(stage.sandbox.converse("RemoveSlot", ["id": id]) { _ in stage.password })
      }
      try stage.lock()
    },
  ]

  static let copies = [
    KeyScene(name: "a backup", held: Held.unlocked) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.add(backup: stage.sandbox.client().backup().bytes)
    },
    KeyScene(name: "a backup and a lock", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.add(backup: stage.sandbox.client().backup().bytes)
      try stage.lock()
    },
    KeyScene(name: "a backup of a locked vault", held: Held.locked) { stage in
      try stage.unlock()
      try stage.lock()
      try stage.add(backup: stage.sandbox.client().backup().bytes)
    },
    KeyScene(name: "a backup that is cut short by a lock", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let client = try stage.sandbox.client()
      try stage.succeed(client.call("Backup", upgrade: true))
      try stage.lock()
    },
    KeyScene(name: "a salvage", held: Held.unlocked) { stage in
      try stage.unlock()
      try stage.fill(30)
      try stage.succeed(stage.last("Salvage"))
    },
    KeyScene(name: "a salvage and a lock", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill(30)
      try stage.succeed(stage.last("Salvage"))
      try stage.lock()
    },
    KeyScene(name: "a restore", held: Held.cold) { stage in
      try stage.unlock()
      try stage.fill()
      let backup = try stage.sandbox.client().backup().bytes
      try stage.add(backup: backup)
      try stage.sandbox.stopDaemon()
      try FileManager.default.removeItem(atPath: stage.sandbox.store)
      try stage.sandbox.startDaemon()
      try stage.succeed(stage.sandbox.restore(backup, secret: stage.password))
      try stage.computeKeys(as: "restored ")
    },
    KeyScene(name: "a restore that failed", held: []) { stage throws in
      try stage.unlock()
      let backup = try stage.sandbox.client().backup().bytes
      try stage.add(backup: backup)
      try stage.sandbox.stopDaemon()
      try FileManager.default.removeItem(atPath: stage.sandbox.store)
      try stage.sandbox.startDaemon()
      #expect(try stage.sandbox.restore(backup, secret: stage.wrong).error == "AuthenticationFailed")
      let start = stage.sandbox.headerCount(backup)
      #expect(
        try stage.sandbox.restore(
          backup, secret: stage.code, method: "recovery", sending: Array(backup[start...].dropLast())
        ).error == "InvalidBackup")
    },
  ]

  static let rekeys = [
    KeyScene(name: "a rekey", held: Held.unlocked.map { "next " + $0 }) { stage in
      try stage.unlock()
      try stage.fill(300)
      let begun = try stage.beginRekey()
      try stage.succeed(stage.last("Rekey"))
      try stage.computeKeys(recovery: begun.code, as: "next ")
    },
    KeyScene(name: "a rekey and a lock", held: Held.locked.map { "next " + $0 }) { stage in
      try stage.unlock()
      try stage.fill(300)
      let begun = try stage.beginRekey()
      try stage.succeed(stage.last("Rekey"))
      try stage.computeKeys(recovery: begun.code, as: "next ")
      try stage.lock()
    },
    KeyScene(name: "a rekey that rests", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let begun = try stage.beginRekey()
      try stage.lock()
      try stage.computeKeys(recovery: begun.code)
    },
    KeyScene(name: "a rekey that was cancelled, and a lock", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let begun = try stage.beginRekey()
      try stage.lock()
      try stage.computeKeys(recovery: begun.code)
      try stage.unlock()
      try stage.succeed(stage.sandbox.client().call("Rekey", ["cancel": true], more: true))
      try stage.lock()
    },
  ]
}

@Suite(
  "Keys in the daemon's memory",
  .enabled(if: geteuid() == 0, "needs root to read the memory of a process that is not dumpable"))
struct KeysInMemoryTests {
  @Test(
    "of all keys that the store and its secrets give, those are in memory that vault-security(7) says, after",
    arguments: KeyScene.locks + KeyScene.unlocks + KeyScene.ways + KeyScene.copies + KeyScene.rekeys)
  func held(scene: KeyScene) throws {
    let stage = try KeyStage(scene.settings)
    try scene.play(stage)
    try stage.expect(scene.held, scene.name)
  }
}

import CLinux
import Foundation
import Testing
import VaultCore
import VaultTesting

/// Locks, sleeps and unlocks.
extension KeyScene {
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

  /// Unannounced sleeps: the first request after them finds the vault locked.
  static let sleeps = [
    KeyScene(name: "a sleep", place: .sleeps, held: Held.asleep) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.get(30)
      try stage.sleep()
    },
    KeyScene(name: "a sleep of a locked vault", place: .sleeps, held: Held.asleep) { stage in
      try stage.unlock()
      try stage.lock()
      try stage.sleep()
    },
    KeyScene(name: "a sleep, with hide-names", settings: "hide-names = true", place: .sleeps, held: Held.cold) {
      stage in
      try stage.unlock()
      try stage.fill()
      try stage.sleep()
    },
    KeyScene(
      name: "a sleep, with keep-across-sleep", settings: "keep-across-sleep = true", place: .sleeps, held: Held.locked
    ) { stage in
      try stage.unlock()
      try stage.fill()
      try stage.sleep()
    },
    KeyScene(name: "a backup that is cut short by a sleep", place: .sleeps, held: Held.asleep) { stage in
      try stage.unlock()
      try stage.fillWithMuch()
      stage.keep(try stage.beginBackup())
      try stage.sleep()
      try stage.awaitKeys(Held.asleep)
    },
    KeyScene(name: "a rekey that is cut short by a sleep", place: .sleeps, held: Held.asleep) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let begun = try stage.beginRekey()
      try stage.sleep()
      try stage.computeKeys(recovery: begun.code)
    },
    KeyScene(name: "a proof that is cut short by a sleep", place: .sleeps, held: Held.asleep) { stage in
      try stage.unlock()
      let left = try stage.beginProof("ChangePassword")
      try stage.sleep()
      #expect(try left.reply().error == "Cancelled")
    },
    KeyScene(name: "a restore that is cut short by a sleep", place: .sleeps, held: []) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let backup = try stage.keepBackupAlone()
      try stage.start()
      let client = try stage.beginRestore(backup)
      try stage.awaitKeys("the restore") { $0.contains("vault") }
      try stage.sleep()
      #expect(try client.reply().error == "Cancelled")
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
    KeyScene(name: "a recovery code that is another vault's", held: Held.cold) { stage throws in
      let other = RecoveryCode.random().text().withBytes { span in
        unsafe span.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
      }
      let refused = try stage.sandbox.unlock(other, ["method": "recovery"])
      #expect(refused?.error == "AuthenticationFailed")
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
}

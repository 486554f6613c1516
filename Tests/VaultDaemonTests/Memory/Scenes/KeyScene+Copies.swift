import CLinux
import Foundation
import Glibc
import Testing
import VaultTesting

/// Work that makes a second store: backups, restores, salvages and rekeys.
extension KeyScene {
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
    KeyScene(name: "a backup that is not read", held: Held.unlocked + ["pieces of the backup"]) { stage in
      try stage.unlock()
      try stage.fillWithMuch()
      stage.keep(try stage.beginBackup())
    },
    KeyScene(name: "a backup that is not read, and a lock", held: Held.locked + ["pieces of the backup"]) { stage in
      try stage.unlock()
      try stage.fillWithMuch()
      stage.keep(try stage.beginBackup())
      try stage.lock()
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
      let backup = try stage.keepBackupAlone()
      try stage.sandbox.startDaemon()
      try stage.succeed(stage.sandbox.restore(backup, secret: stage.password))
      try stage.computeKeys(as: "restored ")
    },
    KeyScene(name: "a restore that waits for its bytes", held: ["vault", "pieces of the backup"]) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let backup = try stage.keepBackupAlone()
      try stage.start()
      stage.keep(try stage.beginRestore(backup))
      try stage.awaitKeys("the restore") { $0.contains("pieces of the backup") }
    },
    KeyScene(name: "a restore that failed", held: []) { stage throws in
      try stage.unlock()
      let backup = try stage.keepBackupAlone()
      try stage.sandbox.startDaemon()
      #expect(try stage.sandbox.restore(backup, secret: stage.wrong).error == "AuthenticationFailed")
      let start = stage.sandbox.headerCount(backup)
      #expect(
        try stage.sandbox.restore(
          backup, secret: stage.code, method: "recovery", sending: Array(backup[start...].dropLast())
        ).error == "InvalidBackup")
    },
  ]

  /// Changes on a disk that is full, which need root to mount one.
  static let fullDisks = [
    KeyScene(name: "a rekey that a full disk pauses, and a lock", place: .smallDisk, held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let begun = try stage.beginRekey()
      try stage.lock()
      try stage.computeKeys(recovery: begun.code)
      try stage.fillDisk()
      try stage.unlock()
      try stage.awaitPause()
      try stage.awaitKeys("the next keys") { $0.contains { $0.hasPrefix("next ") } }
      try stage.lock()
    },
    // The keys of a locked vault are lent to the change, which is one transaction with its entry.
    KeyScene(
      name: "a slot that a full disk refuses in a locked vault", settings: "audit = required\n", place: .smallDisk,
      held: Held.locked
    ) { stage in
      try stage.unlock()
      try stage.lock()
      try stage.fillDisk()
      // The pages already allocated may have room for some slots.
      var (error, count): (String?, Int) = (nil, 0)
      while error == nil, count < 30 {
        count += 1
        error = try stage.sandbox.converse("AddSlot", ["kind": "recovery"]) {
          $0["code"] as? String ?? stage.password
        }?.error
      }
      #expect(error == "StorageFailed")
    },
  ]

  static let rekeys = [
    KeyScene(name: "a rekey", held: Held.unlocked.map { "next " + $0 }) { stage in
      try stage.unlock()
      try stage.fill(300)
      let begun = try stage.beginRekey()
      try stage.awaitEnd(of: begun.client)
      try stage.computeKeys(recovery: begun.code, as: "next ")
    },
    KeyScene(name: "a rekey and a lock", held: Held.locked.map { "next " + $0 }) { stage in
      try stage.unlock()
      try stage.fill(300)
      let begun = try stage.beginRekey()
      try stage.awaitEnd(of: begun.client)
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
    KeyScene(name: "a rekey that pauses as its second store does not open, and a lock", held: Held.locked) { stage in
      try stage.unlock()
      try stage.fill(3000)
      let begun = try stage.beginRekey()
      try stage.lock()
      try stage.computeKeys(recovery: begun.code)
      let held = try stage.holdRekey()
      defer { close(held) }
      try stage.unlock()
      try stage.awaitPause()
      try stage.awaitKeys("the next key") { $0.contains("next vault") }
      try stage.lock()
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

import CLinux
import Foundation
import Testing
import VaultTesting

/// Proofs of the right to the vault, and changes of slots.
extension KeyScene {
  /// Proofs of the right to the vault, while the call still waits for another answer.
  static let proofs = [
    KeyScene(name: "a proof, before the new password", held: Held.cold + ["vault"]) { stage in
      stage.keep(try stage.beginProof("ChangePassword"))
    },
    KeyScene(name: "a proof in an unlocked vault, before the new code", held: Held.unlocked + ["vault"]) { stage in
      try stage.unlock()
      stage.keep(try stage.beginProof("AddSlot", ["kind": "recovery"]))
    },
    KeyScene(name: "a proof that was left", held: Held.cold) { stage in
      do { _ = try stage.beginProof("ChangePassword") }
      try stage.awaitKeys(Held.cold)
    },
    KeyScene(name: "a proof that a lock cuts short", held: Held.locked) { stage in
      try stage.unlock()
      let left = try stage.beginProof("AddSlot", ["kind": "recovery"])
      try stage.lock()
      #expect(try left.reply().error == "Cancelled")
    },
    KeyScene(name: "a proof that SIGUSR1 cuts short in a cold vault", held: Held.cold) { stage in
      let left = try stage.beginProof("ChangePassword")
      try stage.sandbox.signalDaemon(SIGUSR1)
      #expect(try left.reply().error == "Cancelled")
    },
    KeyScene(
      name: "a rekey that asks for the new code", held: Held.unlocked + ["vault", "boot"], holdsPassword: true
    ) { stage in
      try stage.unlock()
      stage.keep(try stage.beginProof("Rekey"))
    },
    KeyScene(name: "a rekey that asked for the new code when a lock came", held: Held.locked) { stage in
      try stage.unlock()
      let left = try stage.beginProof("Rekey")
      try stage.lock()
      #expect(try left.reply().error == "Cancelled")
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
}

import Testing
import VaultTesting

/// Slots that presence or the login password opens, and the possible places of the boot key.
extension KeyScene {
  static let keystores = ["file", "tpm2", "keyring", "memory"].flatMap(scenes) + failures + logins + boots

  /// Everything that can be done with a slot of one keystore. Only the keystore `memory` leaves a key in memory.
  private static func scenes(_ keystore: String) -> [KeyScene] {
    let kept = keystore == "memory" ? ["presence key 3"] : []
    // An unlock with a secret first brings the key of a `memory` slot into memory.
    let open: @Sendable (KeyStage) throws -> Void = { stage in
      try stage.addPresence()
      try stage.succeed(stage.unlockByPresence())
    }
    func scene(
      _ what: String, _ held: [String], sleeps: Bool = false, play: @escaping @Sendable (KeyStage) throws -> Void
    ) -> KeyScene {
      KeyScene(
        name: "\(keystore): \(what)", place: .keystore(keystore, sleeps: sleeps), held: held, play: play)
    }
    return [
      scene("a slot was made", Held.cold + kept) { try $0.addPresence() },
      scene("an unlock", Held.unlocked + kept, play: open),
      scene("a lock", Held.locked + kept) { stage in
        try open(stage)
        try stage.lock()
      },
      scene("a sleep", Held.asleep, sleeps: true) { stage in
        try open(stage)
        try stage.sleep()
      },
      scene("the slot was removed", Held.locked) { stage in
        try open(stage)
        try stage.succeed(stage.sandbox.converse("RemoveSlot", ["id": 3]) { _ in stage.password })
        try stage.lock()
      },
      scene("a rekey", (Held.locked + kept).map { "next " + $0 }) { stage in
        try open(stage)
        let begun = try stage.beginRekey()
        try stage.awaitEnd(of: begun.client)
        try stage.computeKeys(recovery: begun.code, as: "next ")
        try stage.lock()
      },
    ]
  }

  private static let failures = [
    KeyScene(name: "file: PAM said no", place: .keystore("file", .no), held: Held.cold) { stage throws in
      try stage.addPresence()
      #expect(try stage.unlockByPresence().error == "AuthenticationFailed")
    },
    KeyScene(name: "file: a wrong login password", place: .keystore("file", .asks), held: Held.cold) { stage throws in
      try stage.addPresence()
      #expect(try stage.unlockByPresence(typing: stage.wrong).error == "AuthenticationFailed")
    },
    KeyScene(name: "tpm2: the key was lost", place: .keystore("tpm2"), held: Held.cold) { stage throws in
      try stage.addPresence()
      try stage.surroundings.chip?.clear()
      #expect(try stage.unlockByPresence().error == "MethodUnavailable")
    },
    KeyScene(name: "keyring: it is locked", place: .keystore("keyring"), held: Held.cold) { stage throws in
      try stage.addPresence()
      try stage.surroundings.keyring?.lock()
      #expect(try stage.unlockByPresence().error == "MethodUnavailable")
    },
  ]

  private static let logins = [
    KeyScene(name: "login: an unlock", held: Held.unlocked) { stage in
      try stage.addLogin()
      try stage.succeed(stage.sandbox.unlock(stage.login, ["method": "login"]))
    },
    KeyScene(name: "login: a lock", held: Held.locked) { stage in
      try stage.addLogin()
      try stage.succeed(stage.sandbox.unlock(stage.login, ["method": "login"]))
      try stage.lock()
    },
    KeyScene(name: "login: a wrong password", held: Held.cold) { stage throws in
      try stage.addLogin()
      #expect(try stage.sandbox.unlock(stage.wrong, ["method": "login"])?.error == "AuthenticationFailed")
    },
  ]

  private static let boots = ["tpm2", "credential"].flatMap { boot in
    [
      KeyScene(name: "boot key, \(boot): init", place: .boot(boot), held: Held.cold) { try $0.awaitBootKey() },
      KeyScene(name: "boot key, \(boot): a start", place: .boot(boot), held: Held.cold) { stage in
        try stage.sandbox.stopDaemon()
        try stage.start()
        try stage.awaitBootKey()
      },
      KeyScene(
        name: "boot key, \(boot): a rekey and a lock", place: .boot(boot), held: Held.locked.map { "next " + $0 }
      ) { stage in
        try stage.unlock()
        let begun = try stage.beginRekey()
        try stage.awaitEnd(of: begun.client)
        try stage.computeKeys(recovery: begun.code, as: "next ")
        try stage.lock()
        try stage.awaitBootKey()
      },
    ]
  }
}

import Testing
import VaultTesting
import VaultWire

@testable import VaultCLI

/// Extreme numbers from a daemon, or from a program that listens in its place, do no harm.
@Suite("Numbers of a daemon") struct ForeignNumberTests {
  static let extremes = [Int64.max, .max - 1, .min, -1, 0]

  /// Makes replies in which every number is `n`.
  private static func replies(_ n: Int64) -> [String: [String]] {
    let item =
      #"{"name":"n","kind":"password","attributes":{},"accessible":"always","require":"biometry","reuse":\#(n),"#
      + #""version":\#(n),"created":\#(n),"modified":\#(n),"expires":\#(n),"size":\#(n)}"#
    return [
      "Find": [#"{"parameters":{"items":[\#(item)]}}"#],
      "Show": [#"{"parameters":{"item":\#(item)}}"#],
      "History": [
        #"{"parameters":{"versions":[{"version":\#(n),"created":\#(n),"size":\#(n),"current":true}]}}"#
      ],
      "Status": [
        #"{"parameters":{"state":"unlocked","cause":"c","since":\#(n),"locks_at":\#(n),"locks_because":"idle","#
          + #""locks_on":[],"vault":"v","items":\#(n),"integrity":{"state":"checking","done":\#(n),"of":\#(n)},"#
          + #""rekey":{"done":\#(n),"of":\#(n)},"methods":[],"warnings":[],"version":"v","pid":\#(n)}}"#
      ],
      "ListSlots": [
        #"{"parameters":{"slots":[{"id":\#(n),"kind":"password","label":"","created":\#(n),"kdf_memory":\#(n),"#
          + #""kdf_passes":\#(n),"users":[\#(n)]}]}}"#
      ],
      "Get": [#"{"error":"io.vaultd.Vault.BackingOff","parameters":{"method":"password","retry_after_ms":\#(n)}}"#],
      "Delete": [
        #"{"error":"io.vaultd.Vault.AuthenticationFailed","parameters":{"method":"pam","retry_after_ms":\#(n)}}"#
      ],
      "Move": [#"{"error":"io.vaultd.Vault.Expired","parameters":{"name":"n","expires":\#(n)}}"#],
      "Monitor": [#"{"parameters":{"event":"state","time":\#(n),"state":"locked"}}"#],
      "Verify": [
        #"{"parameters":{"progress":{"state":"checking","done":\#(n),"of":\#(n)},"findings":[]},"continues":true}"#,
        #"{"parameters":{"findings":[{"kind":"damaged","item":\#(n),"text":"t"}],"result":{"records":\#(n),"#
          + #""unharmed":\#(n),"harmed":\#(n),"omitted":\#(n),"unchecked":[],"changed":[]}}}"#,
      ],
      "Rekey": [
        #"{"parameters":{"done":\#(n),"of":\#(n)},"continues":true}"#,
        #"{"parameters":{"slots":[\#(n)],"left_out":[\#(n)]}}"#,
      ],
      "Lock": [#"{"error":"io.vaultd.Vault.TooLarge","parameters":{"limit":\#(n)}}"#],
      "ChangePassword": [
        #"{"error":"io.vaultd.Vault.InvalidQuery","parameters":{"reason":"r","position":\#(n)}}"#
      ],
    ]
  }

  static let commands = [
    ["list"], ["find", "x"], ["show", "n"], ["history", "n"], ["status"], ["slot", "list"], ["get", "n"], ["rm", "n"],
    ["mv", "n", "m"], ["watch"], ["verify"], ["rekey"], ["lock"], ["passwd"], ["doctor"],
  ]

  @Test("none of them ends a command by a signal", arguments: extremes)
  func commands(number: Int64) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(sandbox, Self.replies(number))
    defer { daemon.close() }
    for command in Self.commands {
      for json in [[], ["--json"]] {
        let arguments = command + json + ["--socket", daemon.socket]
        let outcome = try sandbox.run(arguments)
        #expect(outcome.status < 128 && outcome.status != 70, "\(arguments) \(outcome)")
      }
    }
  }

  @Test("a wait is rounded up, whatever it is")
  func waits() {
    for (milliseconds, text) in [
      (1, "in 1 s"), (1000, "in 1 s"), (1001, "in 2 s"), (Int.max, "in 9223372036854776 s"), (Int.min, "in 1 s"),
    ] {
      let failure = Failure(.backingOff(method: "password", retryAfterMilliseconds: milliseconds))
      #expect(failure.message.hasSuffix(text), "\(failure.message)")
    }
  }
}

import VaultBytes
import VaultWire

@testable import VaultAgent

extension Question {
  /// Makes a question whose text every face must escape.
  static func sample(_ kind: Kind) -> Question {
    Question(
      kind: kind, title: "cron asks to get `a/b`", facts: ["user:1000 & <b>others</b>"],
      words: "<b>please</b> & \"now\"", prompt: "Vault password",
      inquiry: Wire.Inquiry(number: 123_456, about: "approval", count: 1, name: "a/b"), isSystem: false)
  }
}

/// Returns an answer as a word that a test can compare.
func word(_ answer: consuming Answer) -> String {
  switch consume answer {
  case .typed(let secret):
    secret.withBytes { bytes in
      String(
        decoding: (0..<bytes.byteCount).map { unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self) },
        as: UTF8.self)
    }
  case .yes: "yes"
  case .no: "no"
  case .once: "once"
  case .session: "session"
  case .always: "always"
  case .dismissed: "dismissed"
  }
}

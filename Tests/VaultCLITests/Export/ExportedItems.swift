import Foundation
import VaultBytes
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultCLI

/// Items of a vault for tests of exports.
enum ExportedItems {
  static func item(
    _ name: String, _ kind: ItemKind = .password, _ value: String = "secret", _ attributes: [String: String] = [:],
    expires: Int64? = nil, versions: [String] = [], accessible: AccessClass = .whenUnlocked, isOwn: Bool = true
  ) throws -> ExportedItem {
    try item(
      name, kind, Array(value.utf8), attributes, expires: expires, versions: versions, accessible: accessible,
      isOwn: isOwn)
  }

  static func item(
    _ name: String, _ kind: ItemKind, _ bytes: [UInt8], _ attributes: [String: String] = [:], expires: Int64? = nil,
    versions: [String] = [], accessible: AccessClass = .whenUnlocked, isOwn: Bool = true
  ) throws -> ExportedItem {
    let facts = Wire.Item(
      name: name, kind: kind.rawValue, attributes: attributes, accessible: accessible.name, require: "none", reuse: 60,
      version: versions.count + 1, created: 1000, modified: 2000, expires: expires, size: bytes.count,
      use: kind.use?.name)
    let old = versions.enumerated().map { number, text in
      ExportedItem.Earlier(PlannedSource.buffer(Array(text.utf8)), time: Int64(500 + number))
    }
    return ExportedItem(try ItemName(name), facts, isOwn: isOwn, PlannedSource.buffer(bytes), versions: old)
  }

  /// A valid value of a kind.
  static func value(of kind: ItemKind) throws -> String {
    switch kind {
    case .totp: "otpauth://totp/a?secret=JBSWY3DP"
    case .pairingCode: "031-45-154"
    case .tlsKey, .sshKey: "-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n"
    case .certificate: try pem("certificate-utctime")
    case .note: "two\nlines"
    case .password, .apiKey, .deviceToken, .wifi, .blob: "password 1"
    }
  }

  /// A file with a certificate or a key.
  static func pem(_ name: String) throws -> String {
    try String(contentsOf: Repository.root.appending(path: "Tests/Fuzz/Corpus/KindFuzz/\(name).pem"), encoding: .utf8)
  }

  /// The items that an import makes of entries for a format, in its mapping.
  static func imported(_ entries: [ExportedEntry]) -> [ImportedItem] {
    ImportMapping.map(entries.map(\.entry), source: "kdbx:a", into: [], now: PlannedSource.now).flatMap(\.items)
  }

  /// The losses, `NAME: WHAT`.
  static func lost(_ items: [ExportedItem], _ form: ExportForm) -> [String] {
    var account = ExportAccount()
    LossFinder.find(ExportMapping.map(items, form), now: PlannedSource.now, into: &account)
    return account.losses.map { "\($0.name): \($0.loss.what)" }
  }

  /// The fields of an entry, `NAME [ROLE] VALUE`.
  static func fields(_ entry: ExportedEntry) -> [String] {
    entry.entry.fields.map { "\($0.facts.name) [\($0.facts.role.rawValue)] \(PlannedSource.text($0))" }
  }
}

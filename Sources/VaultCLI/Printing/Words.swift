internal import ArgumentParser
internal import VaultModel

/// Words of the command line that the daemon knows. They are checked before anybody types a secret for them.
enum Words {
  static func kind(_ text: String) throws -> String { try check(text, ItemKind.allCases.map(\.rawValue)) }

  static func use(_ text: String) throws -> String { try check(text, KeyUse.allCases.map(\.name)) }

  static func accessible(_ text: String) throws -> String { try check(text, AccessClass.allCases.map(\.name)) }

  static func keystore(_ text: String) throws -> KeystoreKind {
    guard let keystore = KeystoreKind(rawValue: text) else {
      throw ValidationError("give one of \(PresenceOptions.names)")
    }
    return keystore
  }

  static func require(_ text: String) throws -> String { try check(text, Requirement.allCases.map(\.name)) }

  private static func check(_ text: String, _ known: [String]) throws -> String {
    guard known.contains(text) else { throw ValidationError("give one of \(known.joined(separator: ", "))") }
    return text
  }
}

package import VaultCore
package import VaultModel

/// The key that opens the `always` items without a person, by its place. The key is 32 random bytes.
///
/// A person who has the key and the store can read every `always` item, and nothing else.
package enum BootKey: Sendable, Equatable {
  /// The key itself, in a file of mode 0600.
  case file(String)
  /// The key sealed to this machine's TPM, in such a file.
  case tpm2(String)
  /// A credential of the service that `vaultd` runs as, by its name.
  case credential(String)

  /// Parses a value of the setting; nil if the value has no valid form.
  package init?(setting: String) {
    if setting.hasPrefix("/") {
      self = .file(setting)
    } else if setting.hasPrefix("tpm2:/") {
      self = .tpm2(String(setting.dropFirst(5)))
    } else if setting.hasPrefix("credential:") {
      let name = String(setting.dropFirst(11))
      guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else { return nil }
      self = .credential(name)
    } else {
      return nil
    }
  }

  /// The place of the key, in the words of the settings.
  package var place: String {
    switch self {
    case .file(let path): path
    case .tpm2(let path): "tpm2:\(path)"
    case .credential(let name): "credential:\(name)"
    }
  }

  /// The path of the file that a person can put back or change; nil for a credential, which stays for as long as the
  /// daemon runs.
  package var path: String? {
    switch self {
    case .file(let path), .tpm2(let path): path
    case .credential: nil
    }
  }

  /// The file that contains the key; nil for a credential if the service manager gave none.
  package func file(credentials: String?) -> KeyFile? {
    switch self {
    case .file(let path): KeyFile(path: path, name: "boot key")
    case .tpm2(let path): KeyFile(path: path, name: "sealed boot key")
    case .credential(let name):
      credentials.map { KeyFile(path: "\($0)/\(name)", name: "boot key", access: .credential) }
    }
  }

  /// The sizes that the file can have, in bytes.
  package var fileCount: ClosedRange<Int> {
    switch self {
    case .file, .credential: SlotRecord.presenceKeyCount...SlotRecord.presenceKeyCount
    case .tpm2: 1...PresenceTerms.maximumLocator
    }
  }

  /// Reads the content of the file. It blocks, but only as long as a small file takes.
  package func content(credentials: String?) throws(KeystoreError) -> SecureBytes {
    guard let file = file(credentials: credentials) else {
      throw KeystoreError(.notFound, "there is no boot key at \(place), because no credentials were passed")
    }
    return try file.read(fileCount)
  }
}

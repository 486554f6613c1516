internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The choice of an item's kind by its value.
enum FittingKind {
  /// Returns the first of the kinds that accepts the value with these attributes; ``ItemKind/blob`` if none does.
  static func first(of kinds: [ItemKind], for value: borrowing SecretBuffer, _ attributes: [String: String] = [:])
    -> ItemKind
  {
    value.withBytes { bytes in kinds.first { accepts(bytes, $0, attributes) } ?? .blob }
  }

  /// True if the kind accepts the value.
  static func accepts(_ value: RawSpan, _ kind: ItemKind, _ attributes: [String: String]) -> Bool {
    do throws(ValueError) { _ = try kind.validate(value, attributes: attributes) } catch { return false }
    return true
  }

  /// The kinds to try for the item that a field becomes: the one that an export of a vault has marked, then those of
  /// its role.
  static func candidates(
    _ field: SourceField, as role: ImportedField.Role, of entry: ImportedEntry.Kind
  ) -> [ItemKind] {
    let marked = field.facts.mark.flatMap { ItemKind(rawValue: $0) }
    return (marked.map { [$0] } ?? []) + candidates(role, of: entry, field.value)
  }

  /// The kinds to try for the main item of an entry, or for an item beside it.
  static func candidates(_ role: ImportedField.Role, of entry: ImportedEntry.Kind, _ value: borrowing SecretBuffer)
    -> [ItemKind]
  {
    switch role {
    case .password:
      switch entry {
      case .key: return keys(value)
      case .sshKey: return [.sshKey, .note]
      case .token: return [.apiKey, .password]
      case .wifi: return [.wifi, .password]
      case .pairing: return [.pairingCode, .password]
      case .value: return byContent(value)
      case .login, .note, .document, .oneTime, .file: return [.password]
      }
    case .oneTime: return [.totp, .note]
    case .secret, .oldPassword: return byContent(value)
    case .document, .attachment: return [.blob]
    case .note, .text, .title, .folder, .identifier, .username, .url, .tag, .created, .modified, .expires, .oldField,
      .setting:
      return [.note]
    }
  }

  private static func keys(_ value: borrowing SecretBuffer) -> [ItemKind] {
    let likely = value.withBytes { LikelyKind(of: $0)?.kind }
    return (likely.map { [$0] } ?? []) + [.sshKey, .tlsKey]
  }

  /// The kinds for a value of which only the content tells what it is.
  private static func byContent(_ value: borrowing SecretBuffer) -> [ItemKind] {
    value.withBytes { bytes in
      var kinds: [ItemKind] = []
      // A Wi-Fi code would need attributes that nobody gave.
      if let likely = LikelyKind(of: bytes)?.kind, likely != .wifi { kinds.append(likely) }
      guard bytes.isText else { return kinds }
      let text = Span<UInt8>(_bytes: bytes)
      let hasBreak = text.indices.contains { text[$0] == 0x0A || text[$0] == 0x0D }
      return kinds + (hasBreak || text.isEmpty ? [.note] : [.password])
    }
  }
}

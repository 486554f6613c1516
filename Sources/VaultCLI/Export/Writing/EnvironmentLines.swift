internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Items as lines `NAME='value'` that a POSIX shell and systemd read back exactly (sh(1); systemd.exec(5),
/// EnvironmentFile=).
enum EnvironmentLines {
  /// True if a variable can hold the value: text without a NUL.
  static func canHold(_ item: ExportedItem) -> Bool {
    item.isText && item.value.withBytes { !Span<UInt8>(_bytes: $0).contains(0) }
  }

  static func text(_ items: [ExportedItem], _ names: EnvironmentNames) -> SecretBuffer {
    var text = SecretBuffer(capacity: 64 << 10)
    for item in items {
      guard let variable = names.variable(of: item.name) else { continue }
      text.append(utf8: variable + "=")
      item.value.withBytes { append($0, to: &text) }
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }

  /// Appends a value between single quotes, in which nothing has a meaning of its own. One that contains a single quote
  /// stands between double quotes, with a backslash before each byte that means something there: systemd does not read
  /// `'\''`.
  private static func append(_ value: RawSpan, to text: inout SecretBuffer) {
    let bytes = Span<UInt8>(_bytes: value)
    let quote = bytes.contains(UInt8(ascii: "'")) ? UInt8(ascii: "\"") : UInt8(ascii: "'")
    text.reserve(bytes.count + 2)
    text.append(quote)
    for index in bytes.indices {
      if quote == UInt8(ascii: "\""), isSpecial(bytes[index]) { text.append(UInt8(ascii: "\\")) }
      text.append(bytes[index])
    }
    text.append(quote)
  }

  private static func isSpecial(_ byte: UInt8) -> Bool {
    [UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`")].contains(byte)
  }

  /// The losses of an item in this form, which holds its value and the name of a variable.
  static func losses(of item: ExportedItem, _ names: EnvironmentNames) -> [ExportLoss] {
    var losses: [ExportLoss] = names.isReturned(item.name) ? [] : [.exactName]
    // An import sees by the value alone what it is.
    let kinds = FittingKind.candidates(.secret, of: .value, item.value)
    if FittingKind.first(of: kinds, for: item.value) != item.kind { losses.append(.kind(item.facts.kind)) }
    losses += item.ownAttributes.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { .attribute($0) }
    if item.facts.expires != nil { losses.append(.expiry) }
    if !item.versions.isEmpty { losses.append(.versions(item.versions.count)) }
    return losses + ExportLoss.policy(of: item.facts)
  }
}

internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// An item of the vault with the values that an export takes out of it. The values wipe themselves.
final class ExportedItem {
  /// An earlier value, and the time at which it was stored, in Unix seconds.
  final class Earlier {
    let value: SecretBuffer
    let time: Int64

    init(_ value: consuming SecretBuffer, time: Int64) {
      self.value = value
      self.time = time
    }
  }

  let name: ItemName
  let facts: Wire.Item
  /// True if nobody but the exporter's user has made or written the item; see ``Importer``. The attributes of an import
  /// count only then: everybody who may make items gives them any attributes.
  let isOwn: Bool
  let value: SecretBuffer
  /// The earlier values, the oldest first.
  let versions: [Earlier]
  /// The public half of an SSH key and its fingerprint, if the format holds them.
  let publicKey: Wire.PublicKeyReply?

  init(
    _ name: ItemName, _ facts: Wire.Item, isOwn: Bool, _ value: consuming SecretBuffer, versions: [Earlier] = [],
    publicKey: Wire.PublicKeyReply? = nil
  ) {
    (self.name, self.facts, self.isOwn) = (name, facts, isOwn)
    (self.versions, self.publicKey) = (versions, publicKey)
    self.value = value
  }

  /// The kind; a kind that a later daemon knows is treated like a blob.
  var kind: ItemKind { ItemKind(rawValue: facts.kind) ?? .blob }

  /// True if the value is UTF-8.
  var isText: Bool { value.withBytes { UTF8Text.isValid($0) } }

  /// The last part of the name.
  var leaf: String { name.text.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? "" }

  /// The attribute of an import; nil if there is none, or if the item is not the exporter's own.
  func mark(_ key: String) -> String? { isOwn ? facts.attributes[key] : nil }

  /// The attributes without those by which an import knows its items.
  var ownAttributes: [String: String] { facts.attributes.filter { !ImportKey.ofImport.contains($0.key) } }
}

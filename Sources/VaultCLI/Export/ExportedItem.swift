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
  let value: SecretBuffer
  /// The earlier values, the oldest first.
  let versions: [Earlier]
  /// The public half of an SSH key and its fingerprint, if the format holds them.
  let publicKey: Wire.PublicKeyReply?

  init(
    _ name: ItemName, _ facts: Wire.Item, _ value: consuming SecretBuffer, versions: [Earlier] = [],
    publicKey: Wire.PublicKeyReply? = nil
  ) {
    (self.name, self.facts, self.versions, self.publicKey) = (name, facts, versions, publicKey)
    self.value = value
  }

  /// The kind; a kind that a later daemon knows is treated like a blob.
  var kind: ItemKind { ItemKind(rawValue: facts.kind) ?? .blob }

  /// True if the value is UTF-8.
  var isText: Bool { value.withBytes { UTF8Text.isValid($0) } }

  /// The last part of the name.
  var leaf: String { name.text.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? "" }

  /// The attributes without those by which an import knows its items.
  var ownAttributes: [String: String] { facts.attributes.filter { !ImportKey.ofImport.contains($0.key) } }
}

/// Something of an item that the format of an export does not hold.
struct ExportLoss: Hashable {
  /// The thing in words, such as `the kind api-key`.
  let what: String

  static let value = ExportLoss(what: "the value itself")
  static let valueForm = ExportLoss(what: "the form of the value, which is written as a URI")
  static let expiry = ExportLoss(what: "the expiry")
  static let keyring = ExportLoss(what: "what programs keep with it through the Secret Service")

  static func kind(_ kind: String) -> ExportLoss { ExportLoss(what: "the kind \(Printable.text(kind))") }
  static func attribute(_ key: String) -> ExportLoss { ExportLoss(what: "the attribute \(Printable.text(key))") }
  static func versions(_ count: Int) -> ExportLoss { ExportLoss(what: Counted.text(count, "earlier version")) }
  static func name(_ new: String) -> ExportLoss {
    ExportLoss(what: "the name, which an import makes \(Printable.wholeQuoted(new))")
  }

  /// The parts of an item's policy that no other program knows.
  static func policy(of item: Wire.Item) -> [ExportLoss] {
    var losses: [ExportLoss] = []
    if item.accessible != AccessClass.whenUnlocked.name {
      losses.append(ExportLoss(what: "the class \(Printable.text(item.accessible))"))
    }
    if item.require != Requirement.none.name {
      losses.append(ExportLoss(what: "the requirement \(Printable.text(item.require))"))
    }
    if let use = item.use, ItemKind(rawValue: item.kind)?.use?.name != use {
      losses.append(ExportLoss(what: "the use \(Printable.text(use))"))
    }
    if item.keyring != nil { losses.append(.keyring) }
    return losses
  }
}

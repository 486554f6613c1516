internal import VaultModel
internal import VaultWire

/// Something of an item that the format of an export does not hold.
struct ExportLoss: Hashable {
  /// The thing in words, such as `the kind api-key`.
  let what: String

  static let value = ExportLoss(what: "the value itself")
  static let valueForm = ExportLoss(what: "the form of the value, which is written as a URI")
  static let expiry = ExportLoss(what: "the expiry")
  /// The name of an item of which a variable has only the letters, digits and underscores.
  static let exactName = ExportLoss(what: "the exact name")
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

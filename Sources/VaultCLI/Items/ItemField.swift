internal import VaultModel
internal import VaultWire

/// The fields that `vault get --field` can print: built-in fields and attributes.
///
/// `attr:NAME` always means the attribute of that name. Any other name means a built-in field or, if there is none, an
/// attribute.
enum ItemField {
  /// The built-in fields.
  static let all = [
    "value", "uri", "name", "kind", "version", "created", "modified", "expires", "accessible", "require", "reuse",
    "size", "creator", "writer",
  ]

  /// The fields that an earlier version has as well, because they are made from its value.
  static let ofVersions = ["value", "uri"]

  /// The names of the built-in fields in one sentence, for help.
  static let names = all.dropLast().joined(separator: ", ") + " and \(all[all.count - 1])"

  /// The text of a field; nil if the item has no field of that name.
  static func text(_ field: String, of item: Wire.Item) -> String? {
    if let key = Attributes.key(ofField: field) { return item.attributes[key] }
    return switch field {
    case "name": item.name
    case "kind": item.kind
    case "version": String(item.version)
    case "created": LocalTime.text(item.created)
    case "modified": LocalTime.text(item.modified)
    case "expires": item.expires.map { LocalTime.text($0) } ?? "never"
    case "accessible": item.accessible
    case "require": item.require
    case "reuse": Seconds.format(Int64(item.reuse))
    case "size": String(item.size)
    case "creator": item.creator
    case "writer": item.writer
    default: item.attributes[field]
    }
  }

  /// The text of a field.
  ///
  /// - Throws: ``Failure`` that lists the item's fields, if it has none of that name.
  static func known(_ field: String, of item: Wire.Item) throws(Failure) -> String {
    if let text = text(field, of: item) { return text }
    let known = item.attributes.keys.sorted()
    let text = known.joined(separator: ", ")
    let attributes = text.isEmpty ? "no attributes" : "the attributes \(Printable.text(text))"
    let fields = all.filter { $0 != "uri" || ItemURI.isMade(of: ItemKind(rawValue: item.kind)) }
    let what = "it has \(fields.joined(separator: ", ")), and \(attributes)"
    let isAttribute = Attributes.key(ofField: field) != nil
    let names = isAttribute ? known.map(Attributes.field(ofKey:)) : fields + known
    let near = Nearest.names(to: field, among: names, beginnings: true)
    throw Failure(
      .missing, "\(Printable.quoted(item.name)) has no field \(Printable.quoted(field))", Suggestion.text(near) ?? what)
  }
}

internal import VaultModel
internal import VaultWire

/// The fields that `vault get --field` can print: those of every item by their names, and attributes.
///
/// `attr:NAME` is the attribute of that name, whatever fields there are. Any other name is that of a field, or else of an
/// attribute.
enum ItemField {
  /// The built-in fields.
  static let all = [
    "value", "uri", "name", "kind", "version", "created", "modified", "expires", "accessible", "require", "reuse",
    "size", "creator", "writer",
  ]

  /// The same in words, for help.
  static let names = all.dropLast().joined(separator: ", ") + " and \(all[all.count - 1])"

  /// The text of a field; nil when the item has none of that name.
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

  /// The text of a field; throws ``Failure`` with those that there are when the item has none of that name.
  static func known(_ field: String, of item: Wire.Item) throws(Failure) -> String {
    if let text = text(field, of: item) { return text }
    let known = item.attributes.keys.sorted()
    let text = known.joined(separator: ", ")
    let attributes = text.isEmpty ? "no attributes" : "the attributes \(Printable.text(text))"
    let what = "it has \(all.joined(separator: ", ")), and \(attributes)"
    let isAttribute = Attributes.key(ofField: field) != nil
    let names = isAttribute ? known.map(Attributes.field(ofKey:)) : all + known
    let near = Nearest.names(to: field, among: names, beginnings: true)
    throw Failure(
      .missing, "\(Printable.quoted(item.name)) has no field \(Printable.quoted(field))", Suggestion.text(near) ?? what)
  }
}

internal import VaultModel

/// A value, or another field, of an item that a variable or a template asks for.
struct ItemReference: Hashable {
  let name: ItemName
  /// One that `vault get --field` can print; nil for the value.
  let field: String?

  init(_ name: ItemName, field: String? = nil) {
    self.name = name
    self.field = field == "value" ? nil : field
  }

  /// Reads `ITEM` or `ITEM#FIELD`. The field stands behind the last `#`, so an item whose own name has one is written with
  /// `#value` behind it.
  init(parsing text: String) throws(Fault) {
    let mark = text.utf8.lastIndex(of: UInt8(ascii: "#"))
    let field = mark.map { String(text[text.utf8.index(after: $0)...]) }
    if field == "" { throw Fault(reason: "no field stands behind the #") }
    do throws(NameError) {
      self.init(try ItemName(String(text[..<(mark ?? text.endIndex)])), field: field)
    } catch {
      throw Fault(reason: error.reason)
    }
  }

  /// The rule that a text breaks which is no reference. It quotes nothing of it.
  struct Fault: Error, Equatable {
    let reason: String
  }

  /// True when a secret is in it: the value, or a URI that holds it. The other fields are what may be listed.
  var isSecret: Bool { field == nil || field == "uri" }

  /// The same in the spelling of ``init(parsing:)``, but for a name with a `#`.
  var label: String { field.map { "\(name.text)#\($0)" } ?? name.text }

  /// The same for a person.
  var text: String {
    let name = Printable.quoted(name.text)
    return field.map { "the field \(Printable.quoted($0)) of \(name)" } ?? name
  }
}

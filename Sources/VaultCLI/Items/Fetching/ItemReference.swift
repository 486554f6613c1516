internal import VaultModel

/// A reference from a variable or a template to an item's value or to another field of the item.
struct ItemReference: Hashable {
  let name: ItemName
  /// A field that `vault get --field` can print; nil for the value.
  let field: String?

  init(_ name: ItemName, field: String? = nil) {
    self.name = name
    self.field = field == "value" ? nil : field
  }

  /// Reads `ITEM` or `ITEM#FIELD`. The field follows the last `#`, so an item with a `#` in its name is written with
  /// `#value` behind the name.
  init(parsing text: String) throws(Fault) {
    let mark = text.utf8.lastIndex(of: UInt8(ascii: "#"))
    let field = mark.map { String(text[text.utf8.index(after: $0)...]) }
    if field == "" { throw Fault(reason: "no field is named after the #") }
    do throws(NameError) {
      self.init(try ItemName(String(text[..<(mark ?? text.endIndex)])), field: field)
    } catch {
      throw Fault(reason: error.reason)
    }
  }

  /// The rule that an invalid reference breaks. The reason quotes nothing of the text.
  struct Fault: Error, Equatable {
    let reason: String
  }

  /// True if the content is secret: the value, or a URI that holds it. All other fields may be listed.
  var isSecret: Bool { field == nil || field == "uri" }

  /// The reference in the spelling of ``init(parsing:)``, except for a name with a `#`.
  var label: String { field.map { "\(name.text)#\($0)" } ?? name.text }

  /// The reference in words for a person.
  var text: String {
    let name = Printable.quoted(name.text)
    return field.map { "the field \(Printable.quoted($0)) of \(name)" } ?? name
  }
}

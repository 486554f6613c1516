internal import VaultWire

/// A field that a person can edit (`EditableField`): its value as a text, the type of the value, and perhaps a label.
struct CXFField {
  let value: JSONValue
  private let type: String
  let label: String
  /// The members other than these, such as extensions.
  let others: [JSONValue.Member]

  /// Takes an editable field; a value by itself, as drafts of the format have it, is one without a type.
  init(_ json: JSONValue) {
    guard json.isObject, let value = json["value"] else {
      (value, type, label, others) = (json.isObject ? .null : json, "", "", json.isObject ? json.members : [])
      return
    }
    self.value = value
    type = json["fieldType"]?.string ?? ""
    // The label is cut at once, because each further member has it in its name.
    label = (json["label"]?.string ?? "").cut(ImportedField.longestName)
    // The id is no datum of a person's.
    others = json.members.filter { !["value", "fieldType", "label", "id"].contains($0.name) }
  }

  /// The role of the value where the type alone decides about it.
  var role: ImportedField.Role {
    switch type {
    case "string", "boolean", "date", "year-month", "subdivision-code", "country-code", "wifi-network-security-type",
      "email", "number":
      .text
    default: .secret
    }
  }

  /// The value as a text; nil for a value that is none.
  var text: String? {
    switch value {
    case .string(let text), .number(let text): text
    case .bool(let flag): flag ? "true" : "false"
    case .object, .array, .null: nil
    }
  }
}

internal import VaultModel

/// A field of a line of `vault set --batch`.
enum BatchField: String, CaseIterable {
  case name
  case value
  case data
  case generate
  case kind
  case use
  case attributes
  case accessible
  case require
  case reuse
  case expires
  case update
  case neverRead = "never_read"

  /// The styles of generated values that a line can have. A key that takes long to make must be stored by
  /// itself.
  static let styles: [GeneratedStyle] = GeneratedStyle.allCases.filter { !$0.takesLong }

  /// The only words that the field accepts; nil if it accepts other values.
  var words: [String]? {
    switch self {
    case .kind: ItemKind.allCases.map(\.rawValue)
    case .use: KeyUse.allCases.map(\.name)
    case .accessible: AccessClass.allCases.map(\.name)
    case .require: Requirement.allCases.map(\.name)
    case .name, .value, .data, .generate, .attributes, .reuse, .expires, .update, .neverRead: nil
    }
  }

  /// The values that the field accepts, in words.
  var allowed: String {
    switch self {
    case .name: "the item's name"
    case .value: "text"
    case .data: "bytes in base64"
    case .generate:
      "one of \(Self.styles.map(\.rawValue).joined(separator: ", ")), or an object with one of them as style, "
        + "and length or symbols"
    case .kind, .use, .accessible, .require: "one of \((words ?? []).joined(separator: ", "))"
    case .attributes: "an object of texts"
    case .reuse: "a duration such as 15m, or seconds as a number, up to a day"
    case .expires: "a duration such as 30d, a date such as 2030-01-31, Unix time as a number, or never"
    case .update, .neverRead: "true or false, without quotes"
    }
  }
}

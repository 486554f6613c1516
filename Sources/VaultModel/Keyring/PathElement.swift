internal import VaultBytes

/// An element of a D-Bus object path that stands for any text. Such an element has only ASCII letters, digits and
/// underscores, so every other byte is written as `_` and its two hexadecimal digits, as sd_bus_path_encode(3) writes
/// it: `iot/key` becomes `iot_2fkey`.
public enum PathElement {
  /// Returns the element for a text.
  public static func encode(_ text: String) -> String {
    if text.isEmpty { return "_" }
    var element = ""
    for (index, byte) in text.utf8.enumerated() {
      if isLetter(byte) || index > 0 && isDigit(byte) {
        element.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        element += "_" + [byte].hex
      }
    }
    return element
  }

  /// Returns the text that an element stands for; nil if ``encode(_:)`` never returns the element.
  public static func decode(_ element: String) -> String? {
    if element == "_" { return "" }
    var bytes: [UInt8] = []
    var rest = element.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "_") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let escaped = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
      bytes.append(escaped)
      rest = rest.dropFirst(2)
    }
    // Each text has one element, so that no item has two paths.
    guard let text = String(validating: bytes, as: UTF8.self), encode(text) == element else { return nil }
    return text
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

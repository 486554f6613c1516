internal import VaultBytes
internal import VaultWire

/// The settings of an `.npmrc`, in the grammar of npm's package `ini` (lib/ini.js): `key = value` lines, comments after
/// `;` and `#`, values between quotes as JSON, and sections in brackets, whose keys npm does not read.
struct NpmrcFile {
  struct Setting {
    let key: String
    let value: String
  }

  private(set) var settings: [Setting] = []
  /// The bytes of all comments.
  private(set) var comments = 0

  init(_ lines: TextLines) throws(ImportFailure) {
    var section = ""
    for line in lines {
      let content = line.trimmed
      guard let first = content.first else { continue }
      if first == UInt8(ascii: ";") || first == UInt8(ascii: "#") {
        comments += content.count
        continue
      }
      guard let text = String(validating: content, as: UTF8.self) else {
        throw ImportFailure(.damaged, "line \(line.number): it is not UTF-8")
      }
      if first == UInt8(ascii: "["), content.last == UInt8(ascii: "]") {
        section = "\(text) "
      } else if let (key, value) = content.divided(at: UInt8(ascii: "=")) {
        settings.append(Setting(key: section + Self.value(key.trimmed), value: Self.value(value.trimmed)))
      } else {
        settings.append(Setting(key: section + Self.value(content), value: "true"))
      }
    }
  }

  /// The value of a text without blanks around it.
  private static func value(_ text: ArraySlice<UInt8>) -> String {
    guard let quote = text.first, let last = text.last else { return "" }
    if text.count > 1, quote == last, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
      let inner = quote == UInt8(ascii: "'") ? text.dropFirst().dropLast() : text
      var reader = JSONReader(Array(inner))
      if let value = try? reader.value(), (try? reader.finish()) != nil, let string = value.string { return string }
      return inner.text
    }
    var (value, isEscaped): ([UInt8], Bool) = ([], false)
    for byte in text {
      let isMark = byte == UInt8(ascii: ";") || byte == UInt8(ascii: "#")
      if isEscaped {
        if !isMark, byte != UInt8(ascii: "\\") { value.append(UInt8(ascii: "\\")) }
        value.append(byte)
        isEscaped = false
      } else if isMark {
        break
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else {
        value.append(byte)
      }
    }
    if isEscaped { value.append(UInt8(ascii: "\\")) }
    return value[...].trimmed.text
  }
}

extension NpmrcFile.Setting {
  /// The registry to which the setting belongs, without slashes at its end, and the key of the setting; nil for a
  /// setting of npm as a whole. A key such as `//registry.npmjs.org/:_authToken` has both.
  var registry: (address: String, key: String)? {
    let bytes = Array(key.utf8)[...]
    guard bytes.starts(with: "//".utf8), let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { return nil }
    let address = bytes[2..<max(2, colon)]
    let slash = UInt8(ascii: "/")
    guard let end = address.lastIndex(where: { $0 != slash }) else { return nil }
    return (address[...end].text, bytes[(colon + 1)...].text)
  }

  /// True if npm takes the value, or a part of it, from the environment, as in `${NPM_TOKEN}`.
  var isFromEnvironment: Bool { value.contains("${") }
}

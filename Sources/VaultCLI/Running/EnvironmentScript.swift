internal import ArgumentParser
internal import VaultModel
internal import VaultWire

/// Variables as a text that a shell evaluates, or as JSON.
enum EnvironmentScript {
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case sh
    case fish
  }

  /// A line for each variable. Nothing in a value means anything to the shell: it stands between single quotes.
  static func text(
    _ variables: borrowing Variables, _ fetched: borrowing FetchedItems, for shell: Shell
  ) -> SecretBuffer {
    var text = SecretBuffer(capacity: 4096)
    for entry in variables.entries {
      text.append(utf8: shell == .sh ? "export \(entry.name)=" : "set -gx \(entry.name) ")
      variables.withValue(of: entry, fetched) { value in
        switch shell {
        case .sh: ShellWord.append(value, to: &text)
        case .fish: appendFish(value, to: &text)
        }
      }
      text.append(UInt8(ascii: "\n"))
    }
    return text
  }

  /// Between single quotes fish takes a backslash for an escape where another or a quote follows.
  private static func appendFish(_ value: RawSpan, to text: inout SecretBuffer) {
    let bytes = Span<UInt8>(_bytes: value)
    text.append(UInt8(ascii: "'"))
    for index in bytes.indices {
      if bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
      text.append(bytes[index])
    }
    text.append(UInt8(ascii: "'"))
  }

  /// One object with a member for each variable.
  static func json(
    _ variables: borrowing Variables, _ fetched: borrowing FetchedItems
  ) throws(Failure) -> SecretBuffer {
    var writer = JSONWriter(capacity: 4096)
    writer.beginObject()
    for entry in variables.entries {
      writer.key(entry.name)
      try variables.withValue(of: entry, fetched) { value throws(Failure) in
        guard UTF8Text.isValid(value) else {
          throw Failure(
            .invalid, "the value of \(entry.name) is not UTF-8, so it has no JSON form",
            "leave --json out, or \(Hint.vault("get --json")) gives it in base64")
        }
        writer.secret(value)
      }
    }
    writer.endObject()
    return writer.take()
  }
}

internal import ArgumentParser
internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// Variables as text for a shell to evaluate, or as JSON.
enum EnvironmentScript {
  enum Shell: String, ExpressibleByArgument, CaseIterable {
    case sh
    case fish

    /// The shells that read what ``sh`` reads.
    private static let likeSh = ["bash", "zsh", "dash", "ksh", "ash"]

    static var allValueStrings: [String] { [Self.sh.rawValue] + likeSh + [Self.fish.rawValue] }

    init?(argument: String) { self.init(rawValue: Self.likeSh.contains(argument) ? Self.sh.rawValue : argument) }
  }

  /// Returns one line per variable. The value stands between single quotes, so that the shell interprets nothing in it.
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

  /// Appends a value for fish. Between single quotes, fish takes a backslash for an escape if a quote or another
  /// backslash follows.
  private static func appendFish(_ value: RawSpan, to text: inout SecretBuffer) {
    let bytes = Span<UInt8>(_bytes: value)
    text.append(UInt8(ascii: "'"))
    for index in bytes.indices {
      if bytes[index] == UInt8(ascii: "'") || bytes[index] == UInt8(ascii: "\\") { text.append(UInt8(ascii: "\\")) }
      text.append(bytes[index])
    }
    text.append(UInt8(ascii: "'"))
  }

  /// Returns one object with a member per variable.
  static func json(
    _ variables: borrowing Variables, _ fetched: borrowing FetchedItems
  ) throws(Failure) -> SecretBuffer {
    var object = JSONBuilder(capacity: 4096)
    for entry in variables.entries {
      try variables.withValue(of: entry, fetched) { value throws(Failure) in
        guard UTF8Text.isValid(value) else {
          throw Failure(
            .invalid, "the value of \(entry.name) is not UTF-8, so it has no JSON form",
            "leave --json out, or \(Hint.vault("get --json")) gives it in base64")
        }
        object.add(entry.name, secret: value)
      }
    }
    return object.take()
  }
}

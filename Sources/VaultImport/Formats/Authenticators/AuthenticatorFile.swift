internal import VaultWire

/// A file that an authenticator has written: JSON as a whole in memory, encrypted or not.
enum AuthenticatorFile {
  /// The most bytes of a file. Only pictures make one larger than some hundred KiB.
  static let longest = 64 << 20
  /// The most bytes in which a file is recognized.
  private static let examined = 1 << 20
  /// The number of passwords that are tried.
  private static let tries = 3

  /// The only file of a source.
  static func only(_ source: Source) throws(ImportFailure) -> Source.File {
    let file = try source.onlyFile()
    guard file.bytes.count <= longest else {
      throw ImportFailure(.tooLarge, "an export of an authenticator has at most \(longest >> 20) MiB")
    }
    return file
  }

  /// The JSON value that a text is.
  static func value(_ text: [UInt8]) throws(ImportFailure) -> JSONValue {
    var reader = JSONReader(text)
    let value = try reader.value(within: JSONReader.Room(values: 1 << 20, bytes: longest))
    try reader.finish()
    return value
  }

  /// The names of the members of the object with which the only file of a source begins; of an array, those of its
  /// first element.
  static func names(_ source: Source) -> (members: Set<String>, isArray: Bool) {
    guard let file = source.files.first, source.files.count == 1 else { return ([], false) }
    // The beginning may end anywhere; what was read until then remains.
    var reader = JSONReader(Array(file.bytes.prefix(examined)))
    var names: Set<String> = []
    func take(_ name: String) { if names.count < 64 { names.insert(name) } }
    var place = reader
    guard case .beginArray? = try? reader.next() else {
      try? place.object { name, _ throws(ImportFailure) in take(name) }
      return (names, false)
    }
    try? place.array { reader throws(ImportFailure) in
      guard names.isEmpty else { return }
      try reader.object { name, _ throws(ImportFailure) in take(name) }
    }
    return (names, true)
  }

  /// Asks for the password of a file until `open` returns its text.
  static func open(
    _ file: Source.File, of source: Source, _ open: (_ password: [UInt8]) throws(ImportFailure) -> [UInt8]?
  ) throws(ImportFailure) -> [UInt8] {
    for attempt in 0..<tries {
      guard let password = try source.secret(.password, of: file, isAgain: attempt > 0) else {
        if attempt > 0 { break }
        throw ImportFailure(.noSecret, "the export has a password")
      }
      // No authenticator takes an empty password.
      guard !password.isEmpty, let text = try open(password) else { continue }
      return text
    }
    throw ImportFailure(.wrongSecret, "the password is wrong")
  }
}

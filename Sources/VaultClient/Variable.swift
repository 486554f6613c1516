internal import Glibc

/// Variables of the environment whose values name files.
enum Variable {
  /// This process's own value, copied at once; nothing in it changes its environment.
  static func own(_ name: String) -> [UInt8]? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe UnsafeRawBufferPointer(start: value, count: strlen(value)).map { $0 }
  }

  /// The value that `environment` gives, as text.
  ///
  /// Throws ``ClientError/notUTF8(variable:)`` for bytes that are none: with U+FFFD in their place they would name another
  /// file.
  static func text(_ name: String, _ environment: (String) -> [UInt8]?) throws(ClientError) -> String? {
    guard let bytes = environment(name) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8(variable: name) }
    return text
  }
}

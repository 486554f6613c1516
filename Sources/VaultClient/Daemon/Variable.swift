internal import Glibc

/// Environment variables whose values name files.
enum Variable {
  /// A copy of this process's own value. Nothing in the process changes its environment.
  static func own(_ name: String) -> [UInt8]? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe UnsafeRawBufferPointer(start: value, count: strlen(value)).map { $0 }
  }

  /// Returns the value from `environment` as text.
  ///
  /// - Throws: ``ClientError/notUTF8(variable:)`` for bytes that are not UTF-8. With U+FFFD in their place they would
  ///   name another file.
  static func text(_ name: String, _ environment: (String) -> [UInt8]?) throws(ClientError) -> String? {
    guard let bytes = environment(name) else { return nil }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notUTF8(variable: name) }
    return text
  }
}

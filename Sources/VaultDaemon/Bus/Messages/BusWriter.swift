internal import CSystemd

/// The values of a message that is being made, written from the first to the last.
///
/// A value that cannot be written (a text with a NUL, an invalid object path, a wrong type) makes the whole message
/// unusable, and ``failure`` then has the error.
@safe final class BusWriter {
  // sd-bus counts references; this object owns one until `deinit`.
  let message: OpaquePointer
  /// The first error; 0 when there was none.
  private(set) var failure: Int32 = 0

  init(_ message: OpaquePointer) {
    unsafe self.message = unsafe sd_bus_message_ref(message)
  }

  deinit { unsafe sd_bus_message_unref(message) }

  func string(_ text: String) { write(text, "s") }

  func path(_ path: String) { write(path, "o") }

  func flag(_ flag: Bool) {
    var value: Int32 = flag ? 1 : 0
    check(unsafe sd_bus_message_append_basic(message, Self.type("b"), &value))
  }

  func unsigned(_ number: UInt32) {
    var value = number
    check(unsafe sd_bus_message_append_basic(message, Self.type("u"), &value))
  }

  /// Writes a number of 64 bits.
  func long(_ number: UInt64) {
    var value = number
    check(unsafe sd_bus_message_append_basic(message, Self.type("t"), &value))
  }

  /// Writes an array of bytes.
  func bytes(_ bytes: RawSpan) {
    // The bytes are valid for the call, which copies them.
    let result = unsafe bytes.withUnsafeBytes { bytes in
      unsafe sd_bus_message_append_array(message, Self.type("y"), bytes.baseAddress, bytes.count)
    }
    check(result)
  }

  func strings(_ texts: [String]) {
    array(of: "s") { for text in texts { string(text) } }
  }

  func paths(_ paths: [String]) {
    array(of: "o") { for path in paths { self.path(path) } }
  }

  /// Writes a dictionary of texts. The keys must differ.
  func pairs(_ pairs: some Sequence<(key: String, value: String)>) {
    array(of: "{ss}") {
      for (key, value) in pairs {
        entry(of: "ss") {
          string(key)
          string(value)
        }
      }
    }
  }

  /// Begins an array, which ``closeArray()`` ends.
  func openArray(of type: String) { check(unsafe sd_bus_message_open_container(message, Self.type("a"), type)) }

  func closeArray() { if failure == 0 { check(unsafe sd_bus_message_close_container(message)) } }

  /// Writes an array, whose elements of `type` the body writes.
  func array<E: Error>(of type: String, _ body: () throws(E) -> Void) throws(E) { try contained("a", type, body) }

  func structure<E: Error>(of types: String, _ body: () throws(E) -> Void) throws(E) {
    try contained("r", types, body)
  }

  func entry<E: Error>(of types: String, _ body: () throws(E) -> Void) throws(E) { try contained("e", types, body) }

  func variant<E: Error>(of type: String, _ body: () throws(E) -> Void) throws(E) { try contained("v", type, body) }

  private func contained<E: Error>(
    _ kind: Unicode.Scalar, _ types: String, _ body: () throws(E) -> Void
  ) throws(E) {
    check(unsafe sd_bus_message_open_container(message, Self.type(kind), types))
    guard failure == 0 else { return }
    try body()
    if failure == 0 { check(unsafe sd_bus_message_close_container(message)) }
  }

  private func write(_ text: String, _ kind: Unicode.Scalar) {
    // A C string would end at the NUL.
    guard !text.utf8.contains(0) else { return check(-22) }
    check(unsafe text.withCString { unsafe sd_bus_message_append_basic(message, Self.type(kind), $0) })
  }

  private func check(_ result: Int32) { if failure == 0, result < 0 { failure = result } }

  private static func type(_ kind: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: kind.value) }
}

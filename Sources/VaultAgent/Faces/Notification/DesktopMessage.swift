internal import CSystemd
internal import VaultProcess

/// A message of the session bus, which is written or read from its first value to its last.
@safe final class DesktopMessage {
  // This object owns one reference until `deinit`.
  private let message: OpaquePointer

  /// - Parameter message: a message of which one reference is taken over.
  init(owning message: OpaquePointer) { unsafe self.message = message }

  deinit { unsafe sd_bus_message_unref(message) }

  /// Lends the pointer, which must not leave the closure.
  func withPointer<R>(_ body: (OpaquePointer) -> R) -> R { unsafe body(message) }

  /// The unique name of the sender. The bus sets it, so nobody can forge it.
  var sender: String? { unsafe Self.copy(sd_bus_message_get_sender(message)) }
  /// The name of the error, if this message is one.
  var error: String? { unsafe sd_bus_message_get_error(message).flatMap { unsafe Self.copy($0.pointee.name) } }
  /// The number of the call that this message answers.
  var repliesTo: UInt64? {
    var cookie: UInt64 = 0
    return unsafe sd_bus_message_get_reply_cookie(message, &cookie) >= 0 ? cookie : nil
  }

  func isSignal(_ interface: String, _ member: String) -> Bool {
    unsafe sd_bus_message_is_signal(message, interface, member) > 0
  }

  // MARK: Reading

  /// Reads the next value as a string; nil when it is not one.
  func string() -> String? {
    var value: UnsafePointer<CChar>?
    return unsafe sd_bus_message_read_basic(message, Self.type("s"), &value) > 0 ? Self.copy(value) : nil
  }

  /// Reads the next value as an unsigned number; nil when it is not one.
  func unsigned() -> UInt32? {
    var value: UInt32 = 0
    return unsafe sd_bus_message_read_basic(message, Self.type("u"), &value) > 0 ? value : nil
  }

  /// Reads the next value as a list of strings; nil when it is not one.
  func strings() -> [String]? {
    guard unsafe sd_bus_message_enter_container(message, Self.type("a"), "s") > 0 else { return nil }
    var list: [String] = []
    while let text = string() { list.append(text) }
    return list
  }

  // MARK: Writing

  /// Appends a string, which sd-bus copies.
  func append(_ text: String) throws(FaceError) {
    try check(unsafe sd_bus_message_append_basic(message, Self.type("s"), text))
  }

  func append(unsigned value: UInt32) throws(FaceError) {
    var value = value
    try check(unsafe sd_bus_message_append_basic(message, Self.type("u"), &value))
  }

  func append(signed value: Int32) throws(FaceError) {
    var value = value
    try check(unsafe sd_bus_message_append_basic(message, Self.type("i"), &value))
  }

  func append(list: [String]) throws(FaceError) {
    try open("a", "s")
    for text in list { try append(text) }
    try close()
  }

  /// Appends a dictionary (`a{sv}`) with one byte in it.
  func append(_ key: String, byte value: UInt8) throws(FaceError) {
    try open("a", "{sv}")
    try open("e", "sv")
    try append(key)
    try open("v", "y")
    var value = value
    try check(unsafe sd_bus_message_append_basic(message, Self.type("y"), &value))
    for _ in 0..<3 { try close() }
  }

  private func open(_ kind: Unicode.Scalar, _ contents: String) throws(FaceError) {
    try check(unsafe sd_bus_message_open_container(message, Self.type(kind), contents))
  }

  private func close() throws(FaceError) { try check(unsafe sd_bus_message_close_container(message)) }

  private func check(_ result: Int32) throws(FaceError) {
    if result < 0 { throw .unavailable("a message cannot be written (\(SystemText.of(-result)))") }
  }

  private static func type(_ kind: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: kind.value) }

  /// Copies a text, because the original lives only as long as the message.
  private static func copy(_ text: UnsafePointer<CChar>?) -> String? {
    unsafe text.map { unsafe String(cString: $0) }
  }
}

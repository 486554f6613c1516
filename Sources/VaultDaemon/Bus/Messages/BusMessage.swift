internal import CSystemd
internal import Glibc
internal import VaultCore
internal import VaultService

/// An argument of a call.
enum BusValue {
  case string(String)
  case flag(Bool)
  case unsigned(UInt32)
}

/// A message from a bus, read from its first value to its last.
@safe final class BusMessage {
  // sd-bus counts references; this object owns one until `deinit`.
  let message: OpaquePointer

  init(_ message: OpaquePointer) {
    unsafe self.message = unsafe sd_bus_message_ref(message)
  }

  deinit { unsafe sd_bus_message_unref(message) }

  /// The unique name of the sender. The bus sets it, so nobody can forge it.
  var sender: String? { unsafe Self.copy(sd_bus_message_get_sender(message)) }
  /// True if the bus itself sent this message, or sd-bus made it for this program alone.
  var isOfDriver: Bool { sender.map { $0 == BusMethod.Object.driver.destination } ?? true }
  /// The object that a signal comes from, or that a call is for.
  var path: String? { unsafe Self.copy(sd_bus_message_get_path(message)) }
  var interface: String? { unsafe Self.copy(sd_bus_message_get_interface(message)) }
  var member: String? { unsafe Self.copy(sd_bus_message_get_member(message)) }
  /// The types of all values.
  var signature: String { unsafe Self.copy(sd_bus_message_get_signature(message, 1)) ?? "" }
  /// The error, if this message is one.
  var error: BusError? {
    guard let error = unsafe sd_bus_message_get_error(message) else { return nil }
    return unsafe BusError(name: Self.copy(error.pointee.name) ?? "", text: Self.copy(error.pointee.message) ?? "")
  }

  func string() throws(BusError) -> String { try text("s") }

  func objectPath() throws(BusError) -> String { try text("o") }

  func flag() throws(BusError) -> Bool {
    var value: Int32 = 0
    try check(unsafe sd_bus_message_read_basic(message, Self.type("b"), &value))
    return value != 0
  }

  func unsigned() throws(BusError) -> UInt32 {
    var value: UInt32 = 0
    try check(unsafe sd_bus_message_read_basic(message, Self.type("u"), &value))
    return value
  }

  /// Reads a number of 64 bits.
  func long() throws(BusError) -> UInt64 {
    var value: UInt64 = 0
    try check(unsafe sd_bus_message_read_basic(message, Self.type("t"), &value))
    return value
  }

  /// Lends the bytes of an array of bytes, which must not leave the closure.
  func withBytes<R: ~Copyable>(_ body: (RawSpan) throws(BusError) -> R) throws(BusError) -> R {
    var (start, count): (UnsafeRawPointer?, Int) = (nil, 0)
    // The result is 0 for an empty array, too.
    guard unsafe sd_bus_message_read_array(message, Self.type("y"), &start, &count) >= 0 else { throw .malformed }
    // The bytes are a part of the message, which lives as long as this object and is not changed.
    let bytes = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    return try body(bytes)
  }

  /// Reads an array of bytes into memory of its own.
  func bytes() throws(BusError) -> SecureBytes {
    try withBytes { bytes throws(BusError) in SecureBytes(copying: bytes) }
  }

  /// Reads a descriptor, which belongs to the message. On a bus it is the placeholder of a file, see ``GivenFiles``.
  func descriptor() throws(BusError) -> Int32 {
    var value: Int32 = -1
    try check(unsafe sd_bus_message_read_basic(message, Self.type("h"), &value))
    return value
  }

  func strings() throws(BusError) -> [String] { try array(of: "s", string) }

  func objectPaths() throws(BusError) -> [String] { try array(of: "o", objectPath) }

  /// Reads a dictionary of texts, in the order in which the sender wrote it. The same key may come twice.
  ///
  /// - Parameter most: the most entries; the error beyond it is ``BusError/tooMuch(_:)``, and no more is read.
  func pairs(most: Int) throws(BusError) -> [(key: String, value: String)] {
    var count = 0
    return try array(of: "{ss}") { () throws(BusError) in
      count += 1
      if count > most { throw .tooMuch("there are more than \(most) entries") }
      return try entry(of: "ss") { () throws(BusError) in (key: try string(), value: try string()) }
    }
  }

  /// Reads each element of an array of `type`.
  func array<T>(of type: String, _ element: () throws(BusError) -> T) throws(BusError) -> [T] {
    try enter("a", type)
    var elements: [T] = []
    while unsafe sd_bus_message_at_end(message, 0) == 0 { elements.append(try element()) }
    try leave()
    return elements
  }

  func structure<T: ~Copyable>(of types: String, _ body: () throws(BusError) -> T) throws(BusError) -> T {
    try contained("r", types, body)
  }

  func entry<T: ~Copyable>(of types: String, _ body: () throws(BusError) -> T) throws(BusError) -> T {
    try contained("e", types, body)
  }

  func variant<T: ~Copyable>(of type: String, _ body: () throws(BusError) -> T) throws(BusError) -> T {
    try contained("v", type, body)
  }

  /// Goes back to the first value.
  func rewind() throws(BusError) {
    guard unsafe sd_bus_message_rewind(message, 1) >= 0 else { throw .malformed }
  }

  /// Enters a variant, whose value is read next; false when its value has another type.
  func enterVariant(of type: String) -> Bool {
    unsafe sd_bus_message_enter_container(message, Self.type("v"), type) > 0
  }

  private func contained<T: ~Copyable>(
    _ kind: Unicode.Scalar, _ types: String, _ body: () throws(BusError) -> T
  ) throws(BusError) -> T {
    try enter(kind, types)
    let value = try body()
    try leave()
    return value
  }

  private func text(_ kind: Unicode.Scalar) throws(BusError) -> String {
    var value: UnsafePointer<CChar>?
    try check(unsafe sd_bus_message_read_basic(message, Self.type(kind), &value))
    guard let text = unsafe Self.copy(value) else { throw .malformed }
    return text
  }

  private func enter(_ kind: Unicode.Scalar, _ contents: String) throws(BusError) {
    try check(unsafe sd_bus_message_enter_container(message, Self.type(kind), contents))
  }

  private func leave() throws(BusError) { try check(unsafe sd_bus_message_exit_container(message)) }

  /// Throws for an error (a negative result), and for 0, which means that there is nothing more to read.
  private func check(_ result: Int32) throws(BusError) { if result <= 0 { throw .malformed } }

  private static func type(_ kind: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: kind.value) }

  /// Copies a text, because the original lives only as long as the message.
  private static func copy(_ text: UnsafePointer<CChar>?) -> String? {
    unsafe text.map { unsafe String(cString: $0) }
  }
}

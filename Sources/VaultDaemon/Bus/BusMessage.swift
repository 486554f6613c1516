internal import CSystemd
internal import Glibc
internal import VaultService

/// The reason why a call on a bus failed.
struct BusError: Error, Equatable, CustomStringConvertible {
  /// The error's D-Bus name.
  var name: String
  var text: String

  /// The bus is not there, or went away before the answer came.
  static let disconnected = BusError(name: "org.freedesktop.DBus.Error.Disconnected", text: "there is no connection")
  /// The reply does not have the expected type.
  static let malformed = BusError(name: "org.freedesktop.DBus.Error.InvalidArgs", text: "the message has another type")

  /// True when nobody owns the called name, and no service could be started for it.
  var isNoService: Bool {
    ["ServiceUnknown", "NameHasNoOwner", "Spawn.ServiceNotFound"].contains {
      name == "org.freedesktop.DBus.Error." + $0
    }
  }

  var description: String { text.isEmpty ? name : text }
}

/// An argument of a call.
enum BusValue {
  case string(String)
  case flag(Bool)
}

/// A message from a bus, read from its first value to its last.
@safe final class BusMessage {
  // sd-bus counts references; this object owns one until `deinit`.
  private let message: OpaquePointer

  init(_ message: OpaquePointer) {
    unsafe self.message = unsafe sd_bus_message_ref(message)
  }

  deinit { unsafe sd_bus_message_unref(message) }

  /// The unique name of the sender. The bus sets it, so nobody can forge it.
  var sender: String? { unsafe Self.copy(sd_bus_message_get_sender(message)) }
  /// The object that a signal comes from.
  var path: String? { unsafe Self.copy(sd_bus_message_get_path(message)) }
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

  /// Reads a descriptor, which the caller must close.
  func descriptor() throws(BusError) -> Int32 {
    var value: Int32 = -1
    try check(unsafe sd_bus_message_read_basic(message, Self.type("h"), &value))
    // The message keeps its own descriptor.
    let copy = fcntl(value, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw BusError(name: "", text: "\(SystemError(call: "fcntl"))") }
    return copy
  }

  func strings() throws(BusError) -> [String] { try array(of: "s", string) }

  func objectPaths() throws(BusError) -> [String] { try array(of: "o", objectPath) }

  /// Reads each element of an array of `type`.
  func array<T>(of type: String, _ element: () throws(BusError) -> T) throws(BusError) -> [T] {
    try enter("a", type)
    var elements: [T] = []
    while unsafe sd_bus_message_at_end(message, 0) == 0 { elements.append(try element()) }
    try leave()
    return elements
  }

  func structure<T>(of types: String, _ body: () throws(BusError) -> T) throws(BusError) -> T {
    try contained("r", types, body)
  }

  func entry<T>(of types: String, _ body: () throws(BusError) -> T) throws(BusError) -> T {
    try contained("e", types, body)
  }

  func variant<T>(of type: String, _ body: () throws(BusError) -> T) throws(BusError) -> T {
    try contained("v", type, body)
  }

  /// Skips values of `types`.
  func skip(_ types: String) throws(BusError) { try check(unsafe sd_bus_message_skip(message, types)) }

  private func contained<T>(
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

internal import CSystemd
internal import Glibc

// Copies without descriptors, and other walks over values of any type.
extension BusMessage {
  /// The bytes that are counted for each value in addition to its own, for the cost of reading it.
  private static let cost = 16

  /// Returns a copy of this call, and the approximate number of bytes in its values. No value may have been read yet.
  ///
  /// A message keeps the descriptors that came with it open for as long as it lives, even if none of its values names
  /// them, and sd-bus does not tell whether there are any. The copy has no descriptors, and is answered in place of the
  /// call.
  ///
  /// A bus passes on messages of 128 MiB. sd-bus does not tell the size of a message, so the bytes of its values are
  /// counted, up to the limit.
  ///
  /// - Parameter withValues: false for a copy without the values.
  /// - Throws: ``BusError/tooMuch(_:)`` if there are more than `most` bytes; ``BusError/malformed`` if a value is a
  ///   descriptor.
  func detached(atMost most: Int, withValues: Bool = true) throws(BusError) -> (copy: BusMessage, size: Int) {
    guard let copy = unsafe BusMessage(copyingHeaderOf: message) else { throw .failed }
    var size = 0
    if withValues { try unsafe copyValues(to: copy.message, &size, most) }
    var number: UInt64 = 0
    guard unsafe sd_bus_message_get_cookie(message, &number) >= 0,
      unsafe sd_bus_message_seal(copy.message, number, 0) >= 0
    else { throw .failed }
    try copy.rewind()
    return (copy, size)
  }

  /// Returns the approximate number of bytes in the values of this call, and leaves the call as it is. No value may
  /// have been read yet.
  ///
  /// - Throws: ``BusError/tooMuch(_:)`` if there are more than `most` bytes.
  func weigh(atMost most: Int) throws(BusError) -> Int {
    var size = 0
    try unsafe copyValues(to: nil, &size, most)
    try rewind()
    return size
  }

  /// Passes over the next value. sd_bus_message_skip(3) takes a step for each byte of an array, which is tens of
  /// milliseconds for a long secret.
  func skip() throws(BusError) {
    var size = 0
    guard try unsafe copyValue(to: nil, &size, .max) else { throw .malformed }
  }

  private convenience init?(copyingHeaderOf message: OpaquePointer) {
    var made: OpaquePointer?
    let result = unsafe sd_bus_message_new_method_call(
      sd_bus_message_get_bus(message), &made, sd_bus_message_get_destination(message),
      sd_bus_message_get_path(message), sd_bus_message_get_interface(message), sd_bus_message_get_member(message))
    guard result >= 0, let copy = unsafe made else { return nil }
    unsafe self.init(copy)
    unsafe sd_bus_message_unref(copy)
    // Any caller may have put a secret into any call.
    unsafe sd_bus_message_sensitive(copy)
    guard unsafe sd_bus_message_set_sender(copy, sd_bus_message_get_sender(message)) >= 0,
      unsafe sd_bus_message_set_expect_reply(copy, sd_bus_message_get_expect_reply(message)) >= 0
    else { return nil }
  }

  /// Copies the values up to the end of the container that is being read, or only counts them if `copy` is nil.
  private func copyValues(to copy: OpaquePointer?, _ size: inout Int, _ most: Int) throws(BusError) {
    while try unsafe copyValue(to: copy, &size, most) {}
  }

  /// Copies the next value, or only counts it; false at the end of the container.
  private func copyValue(to copy: OpaquePointer?, _ size: inout Int, _ most: Int) throws(BusError) -> Bool {
    var (kind, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
    let result = unsafe sd_bus_message_peek_type(message, &kind, &contents)
    guard result >= 0 else { throw .malformed }
    if result == 0 { return false }
    size += Self.cost
    var written: Int32 = 0
    switch UInt8(bitPattern: kind) {
    case UInt8(ascii: "a") where unsafe contents.map({ unsafe strcmp($0, "y") == 0 }) == true:
      let byte = CChar(UInt8(ascii: "y"))
      var (start, count): (UnsafeRawPointer?, Int) = (nil, 0)
      // The result is 0 for an empty array, too.
      guard unsafe sd_bus_message_read_array(message, byte, &start, &count) >= 0 else { throw .malformed }
      size += count
      if let copy = unsafe copy, size <= most {
        written = unsafe sd_bus_message_append_array(copy, byte, start, count)
      }
    case UInt8(ascii: "a"), UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "v"):
      guard unsafe sd_bus_message_enter_container(message, kind, contents) > 0 else { throw .malformed }
      if let copy = unsafe copy, unsafe sd_bus_message_open_container(copy, kind, contents) < 0 { throw .malformed }
      try unsafe copyValues(to: copy, &size, most)
      guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw .malformed }
      if let copy = unsafe copy { written = unsafe sd_bus_message_close_container(copy) }
    case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
      var text: UnsafePointer<CChar>?
      guard unsafe sd_bus_message_read_basic(message, kind, &text) > 0, let text = unsafe text else {
        throw .malformed
      }
      size += unsafe strlen(text)
      if let copy = unsafe copy, size <= most { written = unsafe sd_bus_message_append_basic(copy, kind, text) }
    case UInt8(ascii: "h") where unsafe copy != nil: throw .malformed
    default:
      // The longest basic value has 8 bytes.
      var value: UInt64 = 0
      guard unsafe sd_bus_message_read_basic(message, kind, &value) > 0 else { throw .malformed }
      if let copy = unsafe copy { written = unsafe sd_bus_message_append_basic(copy, kind, &value) }
    }
    if size > most { throw .tooMuch("the call has more than \(most) bytes") }
    guard written >= 0 else { throw .failed }
    return true
  }
}

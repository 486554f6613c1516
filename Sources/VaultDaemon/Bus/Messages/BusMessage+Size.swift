internal import CSystemd
internal import Glibc

extension BusMessage {
  /// The bytes that each value counts beside its own: what it costs to read it.
  private static let cost = 16

  /// Returns about how many bytes the values of a message have that nobody has begun to read.
  ///
  /// A bus passes on messages of 128 MiB. sd-bus does not tell their sizes, so the values are counted, which ends at
  /// the limit.
  ///
  /// - Throws: ``BusError/tooMuch(_:)`` if there are more than `most`.
  func size(atMost most: Int) throws(BusError) -> Int {
    var size = 0
    try count(&size, most)
    try rewind()
    return size
  }

  /// Counts the values up to the end of the container that is being read.
  private func count(_ size: inout Int, _ most: Int) throws(BusError) {
    while true {
      var (kind, contents): (CChar, UnsafePointer<CChar>?) = (0, nil)
      let result = unsafe sd_bus_message_peek_type(message, &kind, &contents)
      guard result >= 0 else { throw .malformed }
      if result == 0 { return }
      size += Self.cost
      switch UInt8(bitPattern: kind) {
      case UInt8(ascii: "a") where unsafe contents.map({ unsafe strcmp($0, "y") == 0 }) == true:
        try withBytes { size += $0.byteCount }
      case UInt8(ascii: "a"), UInt8(ascii: "r"), UInt8(ascii: "e"), UInt8(ascii: "v"):
        guard unsafe sd_bus_message_enter_container(message, kind, contents) > 0 else { throw .malformed }
        try count(&size, most)
        guard unsafe sd_bus_message_exit_container(message) >= 0 else { throw .malformed }
      case UInt8(ascii: "s"), UInt8(ascii: "o"), UInt8(ascii: "g"):
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, kind, &text) > 0, let text = unsafe text else {
          throw .malformed
        }
        size += unsafe strlen(text)
      default:
        // The longest basic value has 8 bytes. A descriptor stays the message's.
        var value: UInt64 = 0
        guard unsafe sd_bus_message_read_basic(message, kind, &value) > 0 else { throw .malformed }
      }
      if size > most { throw .tooMuch("the call has more than \(most) bytes") }
    }
  }
}

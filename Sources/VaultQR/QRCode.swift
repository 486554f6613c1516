internal import CQREncode

/// A QR code (ISO/IEC 18004): a square of dark and light modules, made by libqrencode.
@safe struct QRCode: ~Copyable {
  private let code: UnsafeMutablePointer<QRcode>
  /// The modules on each side, without the quiet zone.
  let size: Int

  /// Encodes bytes, with the least correction of errors there is: a screen has no scratches. Nil when there are none, or
  /// more than a code can hold, which is 2953.
  init?(_ text: RawSpan) {
    let made = unsafe text.withUnsafeBytes { bytes in
      // It only reads them, for the call.
      unsafe QRcode_encodeData(
        Int32(bytes.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), 0, QR_ECLEVEL_L)
    }
    guard let made = unsafe made else { return nil }
    unsafe code = made
    size = Int(unsafe made.pointee.width)
  }

  deinit { unsafe QRcode_free(code) }

  /// True when the module there is dark; around the square all are light.
  func isDark(_ column: Int, _ row: Int) -> Bool {
    guard (0..<size).contains(column), (0..<size).contains(row) else { return false }
    // There is a byte for each module, row by row; the lowest bit is its colour.
    return unsafe code.pointee.data[row * size + column] & 1 == 1
  }
}

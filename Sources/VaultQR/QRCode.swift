internal import CQREncode

/// A QR code (ISO/IEC 18004): a square of dark and light modules, made by libqrencode.
@safe struct QRCode: ~Copyable {
  private let code: UnsafeMutablePointer<QRcode>
  /// The number of modules on each side, without the quiet zone.
  let size: Int

  /// Encodes bytes with the lowest level of error correction, because a screen has no scratches. Nil when there are no
  /// bytes, or more than the 2953 that a code can hold.
  init?(_ text: RawSpan) {
    let made = unsafe text.withUnsafeBytes { bytes in
      // libqrencode only reads the bytes, and only during the call.
      unsafe QRcode_encodeData(
        Int32(bytes.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), 0, QR_ECLEVEL_L)
    }
    guard let made = unsafe made else { return nil }
    unsafe code = made
    size = Int(unsafe made.pointee.width)
  }

  deinit { unsafe QRcode_free(code) }

  /// Returns true when the module at this place is dark. Modules outside the square are light.
  func isDark(_ column: Int, _ row: Int) -> Bool {
    guard (0..<size).contains(column), (0..<size).contains(row) else { return false }
    // The data holds one byte for each module, row by row; the lowest bit is the color.
    return unsafe code.pointee.data[row * size + column] & 1 == 1
  }
}

import VaultCore
import VaultModel

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzBackup(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseBackup(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads the beginning of a backup as an attacker with the file might write it. Decoding must end in an error, or in a
/// header that encodes to the very same bytes and whose numbers fit together; anything else traps. Returns true for a
/// header.
func exerciseBackup(_ input: RawSpan) -> Bool {
  if let prefix = try? BackupPrefix(input) {
    precondition(prefix.headerCount <= BackupPrefix.maximumHeader, "a header beyond the limit")
    for (index, byte) in prefix.bytes.enumerated() {
      // Every bit pattern is a UInt8, and a prefix is at most as long as the bytes from which it was read.
      precondition(unsafe input.unsafeLoad(fromByteOffset: index, as: UInt8.self) == byte, "a prefix has two encodings")
    }
  }
  guard let header = try? BackupHeader(decoding: input) else { return false }
  let encoded = header.encoded()
  precondition(encoded.count == input.byteCount, "a header has two encodings")
  for (index, byte) in encoded.enumerated() {
    // Every bit pattern is a UInt8, and the two have the same length.
    precondition(unsafe input.unsafeLoad(fromByteOffset: index, as: UInt8.self) == byte, "a header has two encodings")
  }
  precondition(header.streamCount != nil && header.pieceSize(header.pieces - 1) > 0, "a header's pieces do not fit")
  return true
}

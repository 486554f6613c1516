import VaultCore

/// Records as an attacker with the database might write them: decoding ends in an error or in a record that encodes to
/// the very same bytes. Anything else traps.
@c(LLVMFuzzerTestOneInput)
func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer's buffer lives for the call.
  let input = unsafe RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count))
  if let head = try? HeadRecord(decoding: input) {
    head.encoded().withBytes { expectSame($0, input) }
  }
  if let slot = try? SlotRecord(decoding: input) {
    expectSame(unsafe slot.encoded().span.bytes, input)
  }
  return 0
}

private func expectSame(_ encoded: RawSpan, _ input: RawSpan) {
  precondition(encoded.byteCount == input.byteCount, "a record has two encodings")
  for index in 0..<input.byteCount {
    // Every bit pattern is a UInt8, and the index is checked.
    let (one, other) = unsafe (
      encoded.unsafeLoad(fromByteOffset: index, as: UInt8.self), input.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    )
    precondition(one == other, "a record has two encodings")
  }
}

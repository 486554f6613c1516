import VaultCore

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzRecord(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseRecord(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// The kinds of records that bytes can represent.
enum KindOfRecord { case head, slot, hashes, auditChain, auditBlock, deposit, box }

/// Reads a record as an attacker with the database might write it. Decoding must end in an error, in a record that
/// encodes to the very same bytes or, for a class record without its key, in numbers that a vault can have; anything
/// else traps.
func exerciseRecord(_ input: RawSpan) -> KindOfRecord? {
  if let head = try? HeadRecord(decoding: input) {
    head.encoded().withBytes { expectSame($0, input) }
    return .head
  }
  if let slot = try? SlotRecord(decoding: input) {
    expectSame(unsafe slot.encoded().span.bytes, input)
    return .slot
  }
  if let facts = try? ClassRecord.facts(in: input) {
    precondition(facts.items >= 0 && facts.nextRow > 0 && facts.nextSlot > 0, "numbers that no vault comes to")
    return .hashes
  }
  if let chain = try? AuditChain(decoding: input) {
    expectSame(unsafe chain.encoded.span.bytes, input)
    return .auditChain
  }
  if let read = try? AuditBlock.read(input, { number, _ in precondition(number > 0, "a number that no entry has") }) {
    precondition(read.first > 0 && read.count >= 0, "numbers that no log comes to")
    return .auditBlock
  }
  if let deposit = try? DepositRecord(decoding: input) {
    expectSame(deposit, input)
    return .deposit
  }
  if let box = try? DepositBox(decoding: input) {
    let scratch = Scratch()
    DepositBox.encode(box.stamp, box.item, valueCount: box.value.count, into: scratch) { out in
      copy(input.extracting(box.value), into: &out)
    }
    scratch.withBytes { expectSame($0, input) }
    return .box
  }
  return nil
}

private func expectSame(_ deposit: DepositRecord, _ input: RawSpan) {
  let scratch = Scratch()
  switch deposit.content {
  case .item(let item, let base, let value):
    DepositRecord.encode(
      deposit.stamp, deposit.depositor, item, base: base, value: input.extracting(value), into: scratch)
  case .box(let range):
    let box = input.extracting(range)
    DepositRecord.encode(
      deposit.stamp, deposit.depositor, box: unsafe box.withUnsafeBytes { unsafe [UInt8]($0) }, into: scratch)
  }
  scratch.withBytes { expectSame($0, input) }
}

private func copy(_ bytes: RawSpan, into out: inout MutableRawSpan) {
  for index in 0..<bytes.byteCount {
    // Every bit pattern is a UInt8, and the index is checked.
    out.storeBytes(
      of: unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self), toByteOffset: index, as: UInt8.self)
  }
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

import Testing
import VaultBytes

@Suite("Scratch memory") struct ScratchBytesTests {
  @Test("what was added is what is lent", arguments: [0, 1, 4095, 4096, 4097, 10_000]) func appends(count: Int) {
    var scratch = ScratchBytes(capacity: count)
    for place in 0..<count { scratch.append(UInt8(truncatingIfNeeded: place)) }
    let bytes = scratch.withBytes { $0.array }
    #expect(bytes == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    let added = scratch.count
    #expect(added == count)
  }

  @Test("only what was added is lent") func part() {
    var scratch = ScratchBytes(capacity: 100)
    let none = scratch.withBytes { $0.byteCount }
    #expect(none == 0)
    scratch.append(7)
    let bytes = scratch.withBytes { $0.array }
    #expect(bytes == [7])
  }
}

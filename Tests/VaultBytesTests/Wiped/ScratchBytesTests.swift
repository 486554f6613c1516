import Foundation
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

  @Test("the memory is in no core dump") func flags() throws {
    var scratch = ScratchBytes(capacity: 10_000)
    scratch.append(7)
    let address = scratch.withBytes { unsafe $0.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    #expect(try Self.flags(of: address).contains("dd"))
    // The memory lives until here.
    let count = scratch.count
    #expect(count == 1)
  }

  /// Returns the flags of the mapping that holds an address (proc_pid_smaps(5)).
  private static func flags(of address: UInt) throws -> [Substring] {
    var isHolder = false
    for line in try String(contentsOfFile: "/proc/self/smaps", encoding: .utf8).split(separator: "\n") {
      let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
      if bounds.count == 2 { isHolder = (bounds[0]..<bounds[1]).contains(address) }
      if isHolder, line.hasPrefix("VmFlags:") { return line.split(separator: " ") }
    }
    throw Missing()
  }
}

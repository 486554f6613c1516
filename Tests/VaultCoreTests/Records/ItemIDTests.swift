import Testing
import VaultCore
import VaultModel

@Suite struct ItemIDTests {
  @Test("An identity is 16 bytes that come back as they were, and nothing else is one") func bytes() throws {
    let bytes = [UInt8](0..<16)
    let id = try #require(bytes.lend { ItemID($0) })
    #expect(id.withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } == bytes)
    for count in [0, 1, 8, 15, 17, 32] {
      #expect([UInt8](repeating: 1, count: count).lend { ItemID($0) } == nil, "\(count) bytes")
    }
  }

  @Test("Every flipped bit is another identity") func flipped() {
    let bytes = [UInt8](repeating: 0x5A, count: 16)
    for bit in 0..<128 {
      #expect(bytes.flipping(bit: bit).lend { ItemID($0) } != ItemID(filledWith: 0x5A), "bit \(bit)")
    }
  }

  @Test("No two that are drawn are the same, nor is half of them") func random() {
    let drawn = (0..<1000).map { _ in ItemID.random().withBytes { unsafe $0.withUnsafeBytes { unsafe [UInt8]($0) } } }
    for half in [0..<8, 8..<16] { #expect(Set(drawn.map { Array($0[half]) }).count == drawn.count) }
  }
}

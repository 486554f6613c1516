import Testing
import VaultBytes
import VaultCore

@Suite struct SecureBytesTests {
  private struct Stop: Error {}

  @Test("New memory is zero, is filled in place, and is copied only on demand") func filling() {
    #expect(SecureBytes(count: 5).array == [0, 0, 0, 0, 0])
    var bytes = SecureBytes(count: 2) { $0.storeBytes(of: 7, toByteOffset: 1, as: UInt8.self) }
    #expect(bytes.array == [0, 7])
    bytes.withMutableBytes { $0.storeBytes(of: 9, toByteOffset: 0, as: UInt8.self) }
    #expect(bytes.array == [9, 7])
    #expect(bytes.count == 2)
  }

  @Test("No bytes at all are as good as any") func empty() {
    let none = SecureBytes(count: 0)
    #expect(none.array == [])
    #expect(none.isEqual(to: SecureBytes([])) == true)
    #expect(none.isEqual(to: SecureBytes([0])) == false)
  }

  @Test("An error while filling comes out") func throwing() {
    #expect(throws: Stop.self) {
      _ = try SecureBytes(count: 1) { (_: inout MutableRawSpan) throws(Stop) in throw Stop() }
    }
  }

  @Test("A scratch that is filled anew holds nothing of what was in it") func scratch() {
    let scratch = Scratch()
    scratch.fill(count: 100) { for place in 0..<100 { $0.storeBytes(of: 7, toByteOffset: place, as: UInt8.self) } }
    scratch.fill(count: 1) { $0.storeBytes(of: 7, toByteOffset: 0, as: UInt8.self) }
    let rest = scratch.fill(count: 100) { SecureBytes(copying: $0.bytes).array }
    #expect(rest == [UInt8](repeating: 0, count: 100))
  }

  @Test("Comparison sees every byte and the length") func comparison() {
    let bytes = SecureBytes([1, 2, 3])
    #expect(bytes.isEqual(to: SecureBytes([1, 2, 3])) == true)
    for bit in 0..<24 { #expect(bytes.isEqual(to: SecureBytes([1, 2, 3].flipping(bit: bit))) == false) }
    #expect(bytes.isEqual(to: SecureBytes([1, 2])) == false)
    #expect(bytes.isEqual(to: SecureBytes([1, 2, 3, 0])) == false)
  }
}

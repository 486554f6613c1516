import Testing

@testable import VaultBytes

@Suite struct SecretBufferTests {
  @Test("What is appended is what is there, across every growth")
  func appends() {
    var buffer = SecretBuffer()
    var expected: [UInt8] = []
    for index in 0..<1000 {
      buffer.append(UInt8(index & 255))
      expected.append(UInt8(index & 255))
      if index % 100 == 0 {
        buffer.append("literal" as StaticString)
        buffer.append(utf8: "é")
        expected += Array("literalé".utf8)
      }
    }
    #expect(buffer.array == expected)
    #expect(buffer.count == expected.count)
  }

  @Test("Appending byte by byte moves fewer than twice the bytes")
  func growsByDoubling() {
    var buffer = SecretBuffer()
    for _ in 0..<100_000 { buffer.append(1) }
    #expect(buffer.movedCount < 200_000)
    #expect(buffer.movedCount > 0)
  }

  @Test("Room that was reserved is not moved out of")
  func reserves() {
    var buffer = SecretBuffer(capacity: 10)
    buffer.append(1)
    buffer.reserve(5000)
    let moved = buffer.movedCount
    for _ in 0..<5000 { buffer.append(2) }
    #expect(buffer.movedCount == moved)
  }

  @Test("What is cut off is overwritten in the memory it stood in")
  func wipesOnTruncate() {
    var buffer = SecretBuffer(Array(repeating: 0xAA, count: 64))
    buffer.truncate(to: 10)
    #expect(buffer.count == 10)
    // The memory behind the end still belongs to the buffer.
    let rest = buffer.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe Array(UnsafeRawBufferPointer(start: bytes.baseAddress?.advanced(by: 10), count: 54))
      }
    }
    #expect(rest == Array(repeating: 0, count: 54))
    buffer.removeAll()
    #expect(buffer.count == 0)
  }

  @Test("Removing from the front keeps the rest and wipes what it leaves")
  func removesFirst() {
    var buffer = SecretBuffer(Array(0..<100))
    buffer.removeFirst(90)
    #expect(buffer.array == Array(90..<100))
    let rest = buffer.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        unsafe Array(UnsafeRawBufferPointer(start: bytes.baseAddress?.advanced(by: 10), count: 90))
      }
    }
    #expect(rest == Array(repeating: 0, count: 90))
    buffer.removeFirst(10)
    #expect(buffer.array == [])
  }

  @Test("Bytes are filled and changed in place")
  func fillsInPlace() {
    var buffer = SecretBuffer([1])
    let value = buffer.append(count: 3) { bytes in
      bytes.storeBytes(of: 9, toByteOffset: 1, as: UInt8.self)
      return 7
    }
    #expect(value == 7)
    #expect(buffer.array == [1, 0, 9, 0])
    buffer.withMutableBytes { $0.storeBytes(of: 5, toByteOffset: 0, as: UInt8.self) }
    buffer.wipe(2..<3)
    #expect(buffer.array == [5, 0, 0, 0])
  }

  @Test("An empty buffer can be lent and emptied")
  func handlesEmptiness() {
    var buffer = SecretBuffer()
    buffer.removeAll()
    buffer.removeFirst(0)
    buffer.append(count: 0) { _ in }
    buffer.wipe(0..<0)
    let count = buffer.withBytes { $0.byteCount } + buffer.withMutableBytes { $0.byteCount }
    #expect(count == 0)
    #expect(buffer.array == [])
  }
}

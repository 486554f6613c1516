import Testing
import VaultCore

@testable import VaultDaemon

@Suite("What an ssh client has sent") struct FrameBufferTests {
  @Test("comes out in its order, however it came and is taken", arguments: [1, 7, 100, 4080, 5000])
  func order(size: Int) throws {
    var buffer = FrameBuffer()
    var (sent, taken) = (0, 0)
    // More bytes go in than come out, until the buffer is much larger than at the beginning; then all bytes come out.
    for round in 0..<60 {
      let bytes = (0..<size + round).map { UInt8(truncatingIfNeeded: sent + $0) }
      buffer.append(unsafe bytes.span.bytes)  // Bytes have no padding.
      sent += bytes.count
      let dropped = round % 3 == 2 ? buffer.count : min(buffer.count, size / 2 + 1)
      let isInOrder = buffer.withBytes { held in
        // Every bit pattern is a UInt8.
        (0..<dropped).allSatisfy { place in
          unsafe held.unsafeLoad(fromByteOffset: place, as: UInt8.self) == UInt8(truncatingIfNeeded: taken + place)
        }
      }
      #expect(isInOrder)
      buffer.removeFirst(dropped)
      taken += dropped
      #expect(buffer.count == sent - taken)
    }
  }
}

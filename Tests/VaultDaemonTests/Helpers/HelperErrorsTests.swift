import CLinux
import Glibc
import Testing

@testable import VaultDaemon

@Suite("The errors of a helper program") struct HelperErrorsTests {
  private static func pipe() throws -> (reads: Int32, writes: Int32) {
    var ends: [Int32] = [-1, -1]
    try #require(unsafe pipe2(&ends, O_CLOEXEC | O_NONBLOCK) == 0)
    return (ends[0], ends[1])
  }

  @Test("a helper can write on when it has written more than is copied") func more() throws {
    let pipe = try Self.pipe()
    defer { Glibc.close(pipe.writes) }
    let errors = HelperErrors(pipe.reads, of: "helper", most: 16)
    defer { errors.close() }
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 4096)
    for _ in 0..<40 {
      #expect(unsafe write(pipe.writes, line, line.count) == line.count)
      #expect(errors.handOn())
    }
  }

  @Test("they have ended when the helper has closed them") func ended() throws {
    let pipe = try Self.pipe()
    let errors = HelperErrors(pipe.reads, of: "helper")
    defer { errors.close() }
    Glibc.close(pipe.writes)
    #expect(!errors.handOn())
  }
}

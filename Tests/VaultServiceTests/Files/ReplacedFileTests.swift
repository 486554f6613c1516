import Foundation
import Glibc
import Testing
import VaultCore
import VaultTesting

@testable import VaultService

@Suite("Small files that are written whole") struct ReplacedFileTests {
  @Test("one that cannot take its path leaves nothing beside it") func noRest() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let path = sandbox.root + "/taken"
    try FileManager.default.createDirectory(atPath: path + "/inside", withIntermediateDirectories: true)
    let error = #expect(throws: SystemError.self) { try TextFile.replace(path, with: "text") }
    #expect(error?.call == "rename \(path)" && error?.code == EISDIR)
    #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    try TextFile.replace(sandbox.root + "/free", with: "text")
    #expect(TextFile.read(sandbox.root + "/free", limit: 10) == "text")
  }

  @Test("a write that took only a part is told with the reason for which the rest was not taken") func partial() throws
  {
    var ends: [Int32] = [0, 0]
    try #require(unsafe pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
    // More than the pipe holds.
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    errno = ENOENT
    let error = #expect(throws: SystemError.self) {
      try ReplacedFile.write(unsafe bytes.span.bytes, to: ends[1], "the pipe")
    }
    #expect(error == SystemError(call: "write the pipe", code: EAGAIN))
  }

  @Test("a key's file that has become shorter is one of another size, and no error of an earlier call") func shorter()
    throws
  {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try TextFile.replace(sandbox.root + "/key", with: "sixteen bytes...")
    func content(_ flags: Int32) -> String {
      let file = unsafe open(sandbox.root + "/key", flags)
      defer { close(file) }
      errno = ENOENT
      switch KeyFile.Content(of: file, 32, if: 32...32) {
      case .bytes: return "bytes"
      case .otherSize: return "other size"
      case .failed(let code): return "error \(code)"
      }
    }
    #expect(content(O_RDONLY) == "other size")
    #expect(content(O_WRONLY) == "error \(EBADF)")
  }
}

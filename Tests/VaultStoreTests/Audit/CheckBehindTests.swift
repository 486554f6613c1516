import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// A check that begins over a log that crashes have made long.
@Suite("Changes beside a check of a long log") struct CheckBehindTests {
  /// Makes a store that crashed while a check held its log, which has at least `size` bytes.
  private static func crashed(log size: Int) throws -> Fixture {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    keychain.database.connection.holdMainFile()
    var count = 0
    while try keychain.database.connection.logSize() < size {
      try keychain.put("written", String(repeating: "\(count % 10)", count: 900_000), update: true)
      count += 1
    }
    return try Fixture(copying: fixture)
  }

  @Test("each looks at a part of the log, so that none takes long, and together they come to its end")
  func parts() throws {
    let fixture = try Self.crashed(log: 48 << 20)
    let keychain = try fixture.unlocked()
    let connection = keychain.database.connection
    let frames = connection.committed.frames
    keychain.beginVerification()
    #expect(try keychain.continueVerification(records: 1) == nil)
    var changes = 0
    while !connection.foldsLog, changes < 100 {
      try keychain.put("meanwhile \(changes)")
      changes += 1
    }
    #expect(frames / FileShape.mostAtOnce...frames / FileShape.mostAtOnce + 2 ~= changes)
    while try keychain.continueVerification(records: 1000) == nil {}
    #expect(keychain.isVerified)
  }
}

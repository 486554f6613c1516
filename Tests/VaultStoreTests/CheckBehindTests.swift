import Foundation
import Testing
import VaultCore
import VaultModel

@testable import VaultStore

/// A check that begins over a log which crashes have made long.
@Suite("A change beside a check of a long log") struct CheckBehindTests {
  /// What a crash leaves while a check holds the log: one of `size` bytes.
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

  @Test("it is told to wait while it would have to look at all of the log, and the check then goes on to its end")
  func waits() throws {
    let fixture = try Self.crashed(log: 48 << 20)
    let keychain = try fixture.unlocked()
    #expect(!keychain.isCheckBehind)
    keychain.beginVerification()
    var steps = 0
    #expect(try keychain.continueVerification(records: 1) == nil)
    while keychain.isCheckBehind {
      try #require(try keychain.continueVerification(records: 1000) == nil)
      steps += 1
    }
    // Not at once, and before the end.
    #expect(steps > 10)
    try keychain.put("meanwhile")
    while try keychain.continueVerification(records: 1000) == nil {}
    #expect(keychain.isVerified)
    #expect(try keychain.text("meanwhile").isEmpty == false)
  }

  @Test("it goes on at once beside a short one") func short() throws {
    let fixture = try Self.crashed(log: 4 << 20)
    let keychain = try fixture.unlocked()
    keychain.beginVerification()
    #expect(try keychain.continueVerification(records: 1) == nil)
    #expect(!keychain.isCheckBehind)
  }
}

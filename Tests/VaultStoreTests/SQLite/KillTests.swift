import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

/// A writer that is killed at random moments, repeatedly, on the same store.
@Suite struct KillTests {
  /// Runs the writer, kills it `delay` microseconds after its first change, and returns the last acknowledged change.
  private func kill(_ directory: String, after delay: UInt32, _ arguments: [String] = []) throws -> Int {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("store-writer")
    process.arguments = [directory] + arguments
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = Data()
    if delay > 0 {
      text = output.fileHandleForReading.availableData
      // The delay makes the moment random; it waits for nothing.
      usleep(delay)
    }
    Foundation.kill(process.processIdentifier, SIGKILL)
    text += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // A line cut off in the middle counts as not acknowledged.
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    return lines.last.flatMap { Int($0) } ?? 0
  }

  @Test("200 kills at random moments lose nothing that was acknowledged, and halve nothing")
  func killed() throws {
    let fixture = try Fixture(key: [UInt8](repeating: 5, count: 32))
    var acknowledged = 0
    for round in 0..<200 {
      let last = try kill(fixture.directory, after: round % 10 == 0 ? 0 : UInt32.random(in: 1..<20_000))
      acknowledged = max(acknowledged, last)
      let keychain = try fixture.unlocked()
      guard acknowledged > 0 else { continue }
      let left = try #require(Int(keychain.text("left")))
      #expect(try keychain.text("right") == "\(left)")
      // The one change in progress may be there.
      #expect(left == acknowledged || left == acknowledged + 1)
      acknowledged = left
      if round % 20 == 19 { #expect(try keychain.verify().isOK) }
    }
    #expect(acknowledged > 200)
  }

  @Test("kills in the middle of one rekey after the other lose nothing that was acknowledged either")
  func killedWhileRekeying() throws {
    let fixture = try Fixture(key: [UInt8](repeating: 5, count: 32))
    do {
      let keychain = try fixture.unlocked()
      for index in 0..<10 { try keychain.put("item \(index)", "value \(index)") }
    }
    var acknowledged = 0
    var keys: Set<UInt8> = []
    var round: UInt32 = 0
    // A slow machine takes longer to finish a rekey, so the kills come later and later.
    while round < 40 || keys.count < 2 && round < 400 {
      round += 1
      let delay = round % 10 == 0 ? 0 : UInt32.random(in: 1..<(50_000 + round * round * 200))
      let last = try kill(fixture.directory, after: delay, ["rekey"])
      acknowledged = max(acknowledged, last)
      let keychain = try fixture.open()
      let key: UInt8 = (try? keychain.unlock(vaultKey: secret([UInt8](repeating: 5, count: 32)))) != nil ? 5 : 6
      if key == 6 { try keychain.unlock(vaultKey: secret([UInt8](repeating: 6, count: 32))) }
      keys.insert(key)
      for index in 0..<10 { #expect(try keychain.text("item \(index)") == "value \(index)") }
      guard acknowledged > 0 else { continue }
      let left = try #require(Int(keychain.text("left")))
      #expect(try keychain.text("right") == "\(left)")
      #expect(left == acknowledged || left == acknowledged + 1)
      acknowledged = left
      if round % 10 == 9 { #expect(try keychain.verify().isOK) }
    }
    #expect(keys == [5, 6], "no rekey came to its end")
  }
}

import Foundation
import Testing
import VaultCore
import VaultModel
import VaultStore

/// A writer is killed at random moments, over and over, on the same store.
@Suite struct KillTests {
  /// Runs the writer, kills it `delay` after its first acknowledgement, and tells the last change it acknowledged.
  private func kill(_ directory: String, after delay: UInt32) throws -> Int {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("store-writer")
    process.arguments = [directory]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    var text = Data()
    if delay > 0 {
      text = output.fileHandleForReading.availableData
      // The random moment; nothing waits for anything here.
      usleep(delay)
    }
    Foundation.kill(process.processIdentifier, SIGKILL)
    text += output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    // A line that was cut off was not acknowledged.
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
      // The one change that was on its way may be there.
      #expect(left == acknowledged || left == acknowledged + 1)
      acknowledged = left
      if round % 20 == 19 { #expect(try keychain.verify().isOK) }
    }
    #expect(acknowledged > 200)
  }
}

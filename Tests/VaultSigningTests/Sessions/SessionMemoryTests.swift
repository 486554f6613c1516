import Foundation
import Testing
import VaultBytes
import VaultCore
import VaultTesting

@testable import VaultSigning

@Suite("The memory of a program that opens a session", .enabled(if: MemorySearch.isPossible, MemorySearch.need))
struct SessionMemoryTests {
  // An exponent decides which of two places libgcrypt computes in last, and leaves a trace if that is ordinary memory.
  @Test("holds the session's key alone while the session is open, and nothing of it afterwards", arguments: 1...8)
  func stages(round: UInt8) throws {
    let exponent = RandomBytes.array(count: 31) + [round]
    let (secrets, sent, peerKey) = try secrets(exponent)
    let program = try StagedProgram("stack-proof")
    defer { program.end() }

    #expect(try program.next(peerKey + sent.parameters + sent.value + exponent) == "began")
    // The controls: the search finds a secret where the program must have it.
    #expect(try program.found(secrets) == ["exponent"])
    #expect(try program.next([0]) == "opened")
    #expect(try program.found(secrets) == ["session key"])
    #expect(try program.next([0]) == "read")
    #expect(try program.found(secrets) == ["secret", "session key"])
    #expect(try program.next([0]) == "handed over")
    #expect(try program.found(secrets) == ["session key"])
    #expect(try program.next([0]) == "closed")
    #expect(try program.found(secrets) == [])
  }

  /// All that must not stay, by name, a secret as the peer sends it, and the peer's public key.
  private func secrets(_ exponent: [UInt8]) throws -> ([String: [UInt8]], Travelling, peerKey: [UInt8]) {
    let peerKey = try SessionStand.agree([2]).publicKey
    let group = try SecondOakleyGroup()
    let peer = try peerKey.withSpan { (key: RawSpan) throws(SigningError) in try group.peer(key) }
    guard let peer else { throw SandboxError("no public key") }
    let number = try exponent.withSpan { (digits: RawSpan) throws(SigningError) in try Number(secret: digits) }
    let shared = try group.sharedSecret(with: peer, number)
    // The key that HKDF extracts (RFC 5869 section 2.2), from which it expands the session's.
    let extracted = try shared.withBytes { (shared: RawSpan) throws(SigningError) in
      try HMAC.withCode(of: shared, key: SecureBytes(count: 32), .sha256) { array($0) }
    }
    let secret = RandomBytes.array(count: 1020)
    let sent = try SessionStand.agree(peerKey, exponent: exponent).encode(secret)
    let secrets = [
      "exponent": exponent, "exponent in words": exponent.reversed(),
      "shared secret": shared.withBytes { array($0) },
      "shared secret in words": shared.withBytes { array($0).reversed() },
      "extracted key": extracted, "session key": try HKDF.derive(count: 16, from: shared).withBytes { array($0) },
      "secret": secret,
    ]
    return (secrets, sent, peerKey)
  }
}

/// A program that writes a line at each of its stages, and reads from standard input what brings it to the next.
private final class StagedProgram {
  private let process = Process()
  private let (input, output) = (Pipe(), Pipe())

  init(_ name: String) throws {
    process.executableURL = URL(filePath: Sandbox.path(of: name))
    process.arguments = ["session"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
  }

  /// Sends bytes and returns the line that the program then writes.
  func next(_ bytes: [UInt8]) throws -> String {
    try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    var line = ""
    while !line.hasSuffix("\n") {
      let more = output.fileHandleForReading.availableData
      guard !more.isEmpty else { return line }
      line += String(decoding: more, as: UTF8.self)
    }
    return String(line.dropLast())
  }

  /// The names of the secrets that lie in the program's memory or registers.
  func found(_ secrets: [String: [UInt8]]) throws -> [String] {
    try MemorySearch(pid: process.processIdentifier).find(secrets).keys.sorted()
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

import Foundation
import Testing
import VaultBytes

@testable import VaultCore

@Suite struct Argon2idTests {
  @Test("The key is the one Debian's argon2 command derives", arguments: [(19456, 2), (19456, 3), (20480, 2)])
  func sameAsCommand(kibibytes: Int, passes: Int) throws {
    let salt = "0123456789abcdef"
    let password = "correct horse battery staple"
    let key = try Argon2id.derive(
      SecureBytes(text: password), salt: Array(salt.utf8),
      parameters: .init(memory: kibibytes * 1024, passes: passes))
    let expected = try #require(
      try commandOutput(
        [salt, "-id", "-t", "\(passes)", "-k", "\(kibibytes)", "-p", "1", "-l", "32", "-r"], input: password))
    #expect(key.array == hex(expected.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  @Test("An empty password and one with a NUL in it are passwords like others") func unusualPasswords() throws {
    let salt = RandomBytes.array(count: 16)
    var keys: Set<[UInt8]> = []
    for password in [[], [0], [0x61], [0x61, 0], [0x61, 0, 0x62]] as [[UInt8]] {
      keys.insert(try Argon2id.derive(SecureBytes(password), salt: salt, parameters: .floor).array)
    }
    #expect(keys.count == 5)
  }

  @Test(
    "Parameters beyond the limits are refused before any memory is taken",
    arguments: [
      (0, 0), (0, 2), (19_921_408, 2), (19_922_945, 2), (1_073_742_848, 2), (.max, 2), (.min, 2), (-1024, 2),
      (19_922_944, 1), (19_922_944, 0), (19_922_944, -1), (19_922_944, 21), (19_922_944, .max), (19_922_944, .min),
    ] as [(Int, Int)])
  func limits(memory: Int, passes: Int) {
    let error = failure { () throws(CryptoError) in
      _ = try Argon2id.derive(
        SecureBytes(text: "x"), salt: [UInt8](repeating: 0, count: 16),
        parameters: .init(memory: memory, passes: passes))
    }
    #expect(error?.isLimits == true)
  }

  @Test("Floor, default and ceiling are themselves accepted") func bounds() throws {
    for parameters in [Argon2id.Parameters.floor, .default, .ceiling] { try parameters.validate() }
    #expect(Argon2id.Parameters.floor == .init(memory: 19 * 1024 * 1024, passes: 2))
    #expect(Argon2id.Parameters.ceiling == .init(memory: 1024 * 1024 * 1024, passes: 20))
  }

  @Test("A salt that has not 16 bytes is refused", arguments: [0, 8, 15, 17]) func salt(count: Int) {
    let error = failure { () throws(CryptoError) in
      _ = try Argon2id.derive(SecureBytes(text: "x"), salt: [UInt8](repeating: 0, count: count), parameters: .floor)
    }
    #expect(error?.isMalformed == true)
  }

  @Test("Calibration aims at the time that it is told") func target() {
    // For these targets no machine is too slow or too fast.
    #expect(Argon2id.Parameters.calibrated(target: 0) == .default)
    #expect(Argon2id.Parameters.calibrated(target: 1e9).passes == Argon2id.Parameters.ceiling.passes)
  }

  @Test("Parameters are raised in memory and in passes, each by itself") func raised() {
    typealias P = Argon2id.Parameters
    let (small, slow) = (P(memory: 64 << 20, passes: 6), P(memory: 19 << 20, passes: 20))
    #expect(small.raised(to: nil) == small && small.raised(to: small) == small && small.raised(to: .floor) == small)
    #expect(small.raised(to: slow) == P(memory: 64 << 20, passes: 20))
    #expect(slow.raised(to: small) == P(memory: 64 << 20, passes: 20))
    #expect(small.raised(to: .ceiling) == .ceiling)
  }

  @Test("Calibration scales memory first, then passes, and never leaves the limits") func calibration() throws {
    typealias P = Argon2id.Parameters
    func scaled(_ measured: Double, ram: Int = 16 << 30) -> P {
      P.scaled(measured: measured, target: 0.5, physicalMemory: ram)
    }
    #expect(scaled(1) == .default)
    #expect(scaled(0.5) == .default)
    #expect(scaled(0.25) == P(memory: 128 << 20, passes: 3))
    #expect(scaled(0.125) == P(memory: 256 << 20, passes: 3))
    #expect(scaled(0.0625) == P(memory: 256 << 20, passes: 6))
    #expect(scaled(0.0625, ram: 1 << 30) == P(memory: 128 << 20, passes: 12))
    #expect(scaled(0.125, ram: 256 << 20) == P(memory: 64 << 20, passes: 12))
    for measured in [0, -1, 1e-9, 0.001, 0.01, 0.1, 0.3, 10, .infinity, .nan] as [Double] {
      for ram in [-1, 0, 1 << 29, 1 << 40] {
        let parameters = scaled(measured, ram: ram)
        try parameters.validate()
        #expect(parameters.memory >= P.default.memory && parameters.passes >= P.default.passes)
      }
    }
  }
}

/// Returns the output of /usr/bin/argon2; records an issue if it is not installed.
private func commandOutput(_ arguments: [String], input: String) throws -> String? {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/argon2")
  process.arguments = arguments
  let stdin = Pipe()
  let stdout = Pipe()
  process.standardInput = stdin
  process.standardOutput = stdout
  guard FileManager.default.isExecutableFile(atPath: "/usr/bin/argon2") else {
    Issue.record("/usr/bin/argon2 is not installed; Debian's package argon2 has it")
    return nil
  }
  try process.run()
  stdin.fileHandleForWriting.write(Data(input.utf8))
  try stdin.fileHandleForWriting.close()
  let output = stdout.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  #expect(process.terminationStatus == 0)
  return String(decoding: output, as: UTF8.self)
}

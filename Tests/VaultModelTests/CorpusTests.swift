import Foundation
import Testing
import VaultModel

@Suite("The kept fuzz inputs")
struct CorpusTests {
  private static func files(_ folder: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(at: Fixture.corpus(folder), includingPropertiesForKeys: nil)
  }

  @Test("Every query is read, and found by what it says of itself, or refused at a place inside it")
  func queries() throws {
    let files = try Self.files("PredicateFuzz")
    #expect(files.count >= 20)
    var read = 0
    for file in files {
      let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
      for now in times where exercisePredicate(text, now: now) { read += 1 }
    }
    #expect(read >= 10 * times.count && read < files.count * times.count)
  }

  @Test("Every value is checked as every kind, and as the inside of keys and certificates, without a crash")
  func values() throws {
    let files = try Self.files("KindFuzz")
    #expect(files.count >= 20)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      exerciseKind(unsafe bytes.span.bytes)
    }
  }

  /// The kinds whose values have a form that no value of another of these kinds has.
  private static let formed: [ItemKind] = [.certificate, .tlsKey, .sshKey, .totp, .pairingCode]

  /// Returns the kept inputs whose names begin with the kind's first word: the whole values, or those that were cut
  /// short.
  private static func named(for kind: ItemKind, whole: Bool) throws -> [URL] {
    let prefix = kind.rawValue.split(separator: "-").first.map(String.init) ?? ""
    return try files("KindFuzz").filter {
      $0.lastPathComponent.hasPrefix(prefix) && $0.lastPathComponent.contains("cut") != whole
    }
  }

  @Test(
    "A kept value named for its kind is one",
    arguments: ItemKind.allCases.filter { ![.password, .deviceToken].contains($0) })
  func named(kind: ItemKind) throws {
    let files = try Self.named(for: kind, whole: true)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(throws: Never.self, "\(file.lastPathComponent)") { try kind.check(bytes, ["ssid": "home"]) }
    }
  }

  @Test("and none of another kind with a form of its own", arguments: formed)
  func other(kind: ItemKind) throws {
    // ssh(1) also reads the private keys of TLS.
    for other in Self.formed where other != kind && (kind, other) != (.sshKey, .tlsKey) {
      for file in try Self.named(for: other, whole: true) where !file.lastPathComponent.contains("with-certificate") {
        let bytes = [UInt8](try Data(contentsOf: file))
        #expect(throws: ValueError.self, "\(file.lastPathComponent)") { try kind.check(bytes, [:]) }
      }
    }
  }

  @Test("A kept value that is cut short is none") func cut() throws {
    let files = try Self.named(for: .tlsKey, whole: false)
    #expect(!files.isEmpty)
    for file in files {
      let bytes = [UInt8](try Data(contentsOf: file))
      #expect(throws: ValueError.self, "\(file.lastPathComponent)") { try ItemKind.tlsKey.check(bytes, [:]) }
    }
  }
}

import Testing
import VaultModel
import VaultTesting

@Suite("The kept fuzz inputs")
struct CorpusTests {
  @Test("Every query is read, and found by what it says of itself, or refused at a place inside it")
  func queries() throws {
    let inputs = try Repository.corpus(of: "PredicateFuzz")
    #expect(inputs.count >= 20)
    var read = 0
    for (_, bytes) in inputs {
      let text = String(decoding: bytes, as: UTF8.self)
      for now in times where exercisePredicate(text, now: now) { read += 1 }
    }
    #expect(read >= 10 * times.count && read < inputs.count * times.count)
  }

  @Test("Every value is checked as every kind, and as the inside of keys and certificates, without a crash")
  func values() throws {
    let inputs = try Repository.corpus(of: "KindFuzz")
    #expect(inputs.count >= 20)
    for (_, bytes) in inputs { exerciseKind(unsafe bytes.span.bytes) }
  }

  /// The kinds whose values have a form that no value of another of these kinds has.
  private static let formed: [ItemKind] = [.certificate, .tlsKey, .sshKey, .totp, .pairingCode]

  /// Returns the kept inputs whose names begin with the kind's first word: the whole values, or those that were cut
  /// short.
  private static func named(for kind: ItemKind, whole: Bool) throws -> [(name: String, bytes: [UInt8])] {
    let prefix = kind.rawValue.split(separator: "-").first.map(String.init) ?? ""
    return try Repository.corpus(of: "KindFuzz").filter { name, _ in
      name.hasPrefix(prefix) && name.contains("cut") != whole
    }
  }

  @Test(
    "A kept value named for its kind is one",
    arguments: ItemKind.allCases.filter { ![.password, .deviceToken].contains($0) })
  func named(kind: ItemKind) throws {
    let inputs = try Self.named(for: kind, whole: true)
    #expect(!inputs.isEmpty)
    for (name, bytes) in inputs {
      #expect(throws: Never.self, "\(name)") { try kind.check(bytes, ["ssid": "home"]) }
    }
  }

  @Test("and none of another kind with a form of its own", arguments: formed)
  func other(kind: ItemKind) throws {
    // ssh(1) also reads the private keys of TLS.
    for other in Self.formed where other != kind && (kind, other) != (.sshKey, .tlsKey) {
      for (name, bytes) in try Self.named(for: other, whole: true) where !name.contains("with-certificate") {
        #expect(throws: ValueError.self, "\(name)") { try kind.check(bytes, [:]) }
      }
    }
  }

  @Test("A kept value that is cut short is none") func cut() throws {
    let inputs = try Self.named(for: .tlsKey, whole: false)
    #expect(!inputs.isEmpty)
    for (name, bytes) in inputs {
      #expect(throws: ValueError.self, "\(name)") { try ItemKind.tlsKey.check(bytes, [:]) }
    }
  }
}

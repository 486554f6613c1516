import Foundation
import Testing
import VaultBytes
import VaultModel
import VaultTesting

@testable import VaultCore

@Suite("Records of deposits") struct DepositRecordTests {
  private static let vault = (try? VaultID([UInt8](1...16))) ?? .random()
  private static let value: [UInt8] = [1, 0, 255, 10]

  static func item(_ text: String = "iothome/token") throws -> DepositedItem {
    DepositedItem(
      name: try ItemName(text), accessible: .afterFirstUnlock, kind: .deviceToken,
      attributes: ["room": "hall", "a": ""])
  }

  static let depositor = Depositor(
    uid: 990, groups: [990, 7], unit: "iothome.service", executable: "/usr/bin/x", digest: nil, isAdministrator: false,
    author: "user:990,unit:iothome.service")

  private static let identity = ItemID(words: (3, 4))

  /// Makes a plaintext of each form, the same in every run, with the name under which it is kept for the fuzzers.
  static func samples() throws -> [(name: String, bytes: [UInt8])] {
    let stamp = DepositStamp(vault: vault, id: ItemID(words: (1, 2)), time: 1 << 33)
    var plain = try item()
    (plain.kind, plain.attributes) = (nil, nil)
    let admin = Depositor(uid: 0, groups: [], isAdministrator: true, author: "user:0")
    let scratch = Scratch()
    var samples: [(name: String, bytes: [UInt8])] = []
    func keep(_ name: String) {
      samples.append((name, scratch.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }))
    }
    try value.withSpan { bytes in
      let base = DepositRecord.Base(version: 3, item: identity)
      DepositRecord.encode(stamp, depositor, try item(), base: base, value: bytes, into: scratch)
      keep("deposit-item")
      let unnamed = DepositRecord.Base(version: 3, item: nil)
      DepositRecord.encode(stamp, depositor, try item(), base: unnamed, value: bytes, into: scratch)
      keep("deposit-item-unnamed")
      DepositRecord.encode(stamp, admin, plain, base: nil, value: RawSpan(), into: scratch)
      keep("deposit-plain")
    }
    DepositRecord.encode(stamp, admin, box: [1, 2, 3], into: scratch)
    keep("deposit-box")
    DepositBox.encode(stamp, try item(), valueCount: value.count, into: scratch) { fill(&$0) }
    keep("box")
    return samples
  }

  private static func fill(_ out: inout MutableRawSpan) {
    for (index, byte) in value.enumerated() { out.storeBytes(of: byte, toByteOffset: index, as: UInt8.self) }
  }

  private static func kind(_ bytes: [UInt8]) -> KindOfRecord? { bytes.withSpan { exerciseRecord($0) } }

  @Test("are read back as they were written") func round() throws {
    let samples = try Self.samples().map(\.bytes)
    #expect(samples.map(Self.kind) == [.deposit, .deposit, .deposit, .deposit, .box])
    for (index, identity) in [Self.identity, nil].enumerated() {
      let read = try samples[index].withSpan { (bytes: RawSpan) in try DepositRecord(decoding: bytes) }
      #expect(read.depositor == Self.depositor && read.stamp.vault == Self.vault && read.stamp.time == 1 << 33)
      guard case .item(let item, let base, let value) = read.content else { throw CryptoError.malformed("content") }
      #expect(try item == Self.item() && base == DepositRecord.Base(version: 3, item: identity))
      #expect(Array(samples[index][value]) == Self.value)
    }
  }

  @Test("are refused when they are cut or longer, and have one encoding each") func changed() throws {
    for (index, sample) in try Self.samples().map(\.bytes).enumerated() {
      // The box of a deposit has no length of its own: it reaches to the deposit's end.
      if index != 3 {
        for cut in sample.indices.map({ Array(sample.prefix($0)) }) + [sample + [0]] {
          #expect(![.deposit, .box].contains(Self.kind(cut)))
        }
      }
      // Each changed text is an error, or a record that encodes to the same bytes; anything else traps.
      for bit in 0..<sample.count * 8 {
        var flipped = sample
        flipped[bit / 8] ^= 1 << (bit % 8)
        _ = Self.kind(flipped)
      }
    }
  }

  @Test(
    "name an author that a version can have, whoever wrote them",
    arguments: ["", "x", "user:", String(repeating: "user:1,", count: 60) + "user:1"])
  func author(_ author: String) {
    let depositor = Depositor(uid: 1, groups: [], isAdministrator: true, author: author)
    let scratch = Scratch()
    DepositRecord.encode(DepositStamp(vault: Self.vault, time: 1), depositor, box: [1], into: scratch)
    #expect(throws: CryptoError.self) {
      try scratch.withBytes { (bytes: RawSpan) throws(CryptoError) in try DepositRecord(decoding: bytes) }
    }
  }

  @Test("have a MAC that is another for each place, key, depositor and content") func mac() throws {
    let key = SecureBytes(Array(0..<32))
    let other = SecureBytes(Array(1..<33))
    let (id, public1, public2) = (ItemID.random(), [UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
    func make(
      _ id: ItemID, _ vault: VaultID, _ accessible: AccessClass, _ publicKey: [UInt8], _ author: String,
      _ sealed: [UInt8], _ key: borrowing SecureBytes, row: Int64 = 1
    ) -> RecordMark {
      let tag = DepositorTag(of: author, key: key)
      return sealed.withSpan {
        DepositMAC.make(
          DepositMAC.place(id, vault, accessible), row: row, publicKey: publicKey, tag, sealed: $0, key: key)
      }
    }
    let macs = [
      make(id, Self.vault, .always, public1, "user:1", [1], key),
      make(.random(), Self.vault, .always, public1, "user:1", [1], key),
      make(id, .random(), .always, public1, "user:1", [1], key),
      make(id, Self.vault, .whenUnlocked, public1, "user:1", [1], key),
      make(id, Self.vault, .always, public2, "user:1", [1], key),
      make(id, Self.vault, .always, public1, "user:2", [1], key),
      make(id, Self.vault, .always, public1, "user:1", [1, 0], key),
      make(id, Self.vault, .always, public1, "user:1", [1], other),
      make(id, Self.vault, .always, public1, "user:1", [1], key, row: 2),
      make(id, Self.vault, .always, public1, "user:1", [1], key, row: 1 << 56),
    ]
    #expect(Set(macs.map(\.array)).count == macs.count)
    #expect(macs[0] == make(id, Self.vault, .always, public1, "user:1", [1], key))
  }

  @Test("that were sealed elsewhere open with the vault's secret key alone, and say which vault they are for")
  func box() throws {
    let secret = SealedBox.secretKey()
    let scratch = Scratch()
    let key = DepositKey(vault: Self.vault, publicKey: SealedBox.publicKey(of: secret))
    let sealed = try DepositBox.seal(
      try Self.item(), valueCount: Self.value.count, to: key, time: 77, scratch
    ) {
      Self.fill(&$0)
      return true
    }
    let box = try #require(sealed)
    let left = scratch.withBytes { $0.byteCount }
    #expect(left == 0)
    #expect(try DepositBox.vault(of: box) == Self.vault)
    try box.withSpan { bytes in
      let read = try DepositBox.open(bytes, publicKey: key.publicKey, secretKey: secret, into: scratch)
      #expect(read.item == (try Self.item()) && read.stamp.time == 77 && read.stamp.vault == Self.vault)
      #expect(read.value.count == Self.value.count)
      let other = SealedBox.secretKey()
      #expect(throws: CryptoError.authenticationFailed) {
        try DepositBox.open(bytes, publicKey: SealedBox.publicKey(of: other), secretKey: other, into: scratch)
      }
    }
    #expect(try DepositBox.box(of: DepositBox.text(of: box)) == box)
    let refused = try DepositBox.seal(try Self.item(), valueCount: 1, to: key, time: 77, scratch) { _ in false }
    #expect(refused == nil)
    for text in ["", "vault-deposit:", "vault-deposit:AAAA", "vault-key:AQ==", DepositBox.text(of: box) + "A"] {
      #expect(throws: CryptoError.self, "\(text)") { try DepositBox.box(of: text) }
    }
  }

  @Test("and the key that they are sealed to travels as text, with a fingerprint to compare") func key() throws {
    let key = DepositKey(vault: Self.vault, publicKey: [UInt8](repeating: 9, count: 32))
    #expect(try DepositKey(parsing: key.text) == key)
    let other = DepositKey(vault: .random(), publicKey: key.publicKey)
    #expect(key.fingerprint.count == 39 && key.fingerprint != other.fingerprint)
    for text in ["", "vault-key:", "vault-key:AAAA", key.text.dropLast() + "!", "x" + key.text, key.text + "\n"] {
      #expect(throws: CryptoError.self, "\(text)") { try DepositKey(parsing: String(text)) }
    }
  }

  /// Writes the samples to the fuzzers' corpus, if `WRITE_CORPUS` is set.
  @Test("are kept for the fuzzers", .enabled(if: ProcessInfo.processInfo.environment["WRITE_CORPUS"] != nil))
  func corpus() throws {
    let folder = Repository.root.appending(path: "Tests/Fuzz/Corpus/RecordFuzz")
    for (name, bytes) in try Self.samples() { try Data(bytes).write(to: folder.appending(path: name)) }
  }

  @Test(
    "are kept for the fuzzers under the names of their forms",
    .enabled(if: ProcessInfo.processInfo.environment["WRITE_CORPUS"] == nil, "they are being written"))
  func kept() throws {
    let kept = try Repository.corpus(of: "RecordFuzz")
    for (name, bytes) in try Self.samples() {
      #expect(kept.first { $0.name == name }?.bytes == bytes, "\(name): run this suite with WRITE_CORPUS=1")
    }
  }
}

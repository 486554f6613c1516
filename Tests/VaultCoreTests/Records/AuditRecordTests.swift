import Testing
import VaultBytes
import VaultModel

@testable import VaultCore

@Suite("Records of the audit log") struct AuditRecordTests {
  private static let position = AuditPosition(row: 4, entries: 9, bytes: 700, link: AuditChain.beginning)

  private static func other(_ number: Int64) -> AuditEntry.Subject { AuditEntry.Subject(first: number, second: -1) }

  private static func plaintext() -> [UInt8] {
    var block = AuditBlock()
    let caller = block.add(
      AuditEntry.Caller(door: "varlink", uid: 990, pid: 12, unit: "iothome.service", executable: "/usr/bin/x"))
    let other = block.add(AuditEntry.Caller(door: "varlink", uid: 0, pid: 0))
    block.add(.get, .ok, time: 100, caller: caller, item: "iothome/express.key", purpose: "to ask for trains")
    block.add(.find, .denied, time: 101, caller: other, detail: "kind=note")
    block.add(.lock, .ok, time: 102, caller: nil, item: "idle")
    block.add(.get, .ok, time: 160, caller: nil, repeats: AuditEntry.Repeats(of: 10, count: 4))
    block.add(.get, .denied, time: 160, caller: nil, item: "user:5", repeats: AuditEntry.Repeats(of: nil, count: 9))
    block.add(
      .get, .missing, time: 160, caller: other, item: "iothome/express.key", purpose: "to ask for trains",
      isCounted: true)
    for (number, subject) in [Self.other(1), Self.other(2), Self.other(1)].enumerated() {
      block.add(
        .use, .ok, time: 170, caller: number == 0 ? nil : caller, of: subject, item: number == 0 ? "" : "k/\(number)",
        id: number == 0 ? nil : ItemID(filledWith: 9))
    }
    #expect(block.count == 9)
    return block.withPlaintext(after: position) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
  }

  private static func read(_ bytes: [UInt8]) throws(CryptoError) -> [Int64: AuditEntry] {
    var found: [Int64: AuditEntry] = [:]
    _ = try bytes.withSpan { (span: RawSpan) throws(CryptoError) in try AuditBlock.read(span) { found[$0] = $1 } }
    return found
  }

  @Test("are read back as they were written, with their numbers") func round() throws {
    let found = try Self.read(Self.plaintext())
    #expect(found.keys.sorted() == Array(10...18))
    let caller = AuditEntry.Caller(
      door: "varlink", uid: 990, pid: 12, unit: "iothome.service", executable: "/usr/bin/x")
    #expect(
      found[10]
        == AuditEntry(
          time: 100, action: .get, outcome: .ok, caller: caller, item: "iothome/express.key",
          purpose: "to ask for trains"))
    #expect(found[11]?.caller == AuditEntry.Caller(door: "varlink", uid: 0, pid: 0) && found[11]?.detail == "kind=note")
    #expect(found[12]?.caller == nil && found[12]?.item == "idle")
    #expect(found[13]?.repeats == AuditEntry.Repeats(of: 10, count: 4))
    #expect(found[14]?.repeats == AuditEntry.Repeats(of: nil, count: 9))
    var again = AuditEntry(
      time: 160, action: .get, outcome: .missing, caller: AuditEntry.Caller(door: "varlink", uid: 0, pid: 0),
      item: "iothome/express.key", purpose: "to ask for trains")
    again.isCounted = true
    #expect(found[15] == again)
    #expect(found[10]?.subject == nil && (16...18).map { found[$0]?.subject?.first } == [1, 2, 1])
    #expect(found[16]?.caller == nil && found[17]?.caller == caller && found[18]?.item == "k/2")
    #expect((15...18).map { found[$0]?.id == ItemID(filledWith: 9) } == [false, false, true, true])
  }

  @Test("with a text longer than any that is written are malformed", arguments: [1024, 1025, 9000]) func long(size: Int)
    throws
  {
    let text = String(repeating: "x", count: size)
    let entry = AuditEntry(time: 5, action: .get, outcome: .ok)
    var entries = [entry, entry, entry, entry, entry, entry]
    (entries[0].item, entries[1].detail, entries[2].purpose) = (text, text, text)
    entries[3].caller = AuditEntry.Caller(door: text, uid: 0, pid: 0)
    entries[4].caller = AuditEntry.Caller(door: "varlink", uid: 0, pid: 0, unit: text)
    entries[5].caller = AuditEntry.Caller(door: "varlink", uid: 0, pid: 0, executable: text)
    for entry in entries {
      var block = AuditBlock()
      block.add(entry)
      let bytes = block.withPlaintext(after: Self.position) { bytes in
        unsafe bytes.withUnsafeBytes { unsafe Array($0) }
      }
      if size > 1024 {
        #expect(throws: CryptoError.self) { try Self.read(bytes) }
      } else {
        #expect(try Self.read(bytes)[10] == entry)
      }
    }
  }

  @Test("have each text once, and each time, however many entries say it") func once() throws {
    var block = AuditBlock()
    // Among 300 texts, some share a place in the table of known texts.
    let texts = (0..<300).map { "\($0 % 7)" + String(repeating: "x", count: $0 % 30) + "\($0)" }
    for text in texts { block.add(.get, .ok, time: 5, caller: nil, item: text, purpose: text) }
    // A text is not confused with another text of the same length and ending.
    for text in ["a12345678", "b12345678", "a12345678", "", "1"] {
      block.add(.set, .ok, time: 5, caller: nil, item: text, detail: texts[299])
    }
    let bytes = block.withPlaintext(after: Self.position) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    #expect(bytes.count < texts.reduce(0) { $0 + $1.utf8.count } + 305 * 9 + 100)
    let found = try Self.read(bytes)
    #expect(found.count == 305 && found.values.allSatisfy { $0.time == 5 })
    for (index, text) in texts.enumerated() {
      #expect(found[Int64(10 + index)]?.item == text && found[Int64(10 + index)]?.purpose == text)
    }
    #expect((310..<315).map { found[$0]?.item } == ["a12345678", "b12345678", "a12345678", nil, "1"])
    #expect((310..<315).allSatisfy { found[$0]?.detail == texts[299] })
    // The next record holds the text again, because no record refers to another.
    block.empty()
    block.add(.get, .ok, time: 5, caller: nil, item: texts[0])
    let next = block.withPlaintext(after: Self.position) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    #expect(try Self.read(next)[10]?.item == texts[0] && Self.read(next)[10]?.time == 5)
  }

  @Test("say which item had the name, in 17 bytes more, and in 3 where the record has that item already") func items()
    throws
  {
    let (one, other) = (ItemID(filledWith: 1), ItemID(filledWith: 2))
    var block = AuditBlock()
    var sizes: [Int] = []
    for (number, id) in [nil, one, nil, one, other, one].enumerated() {
      let before = block.size
      block.add(.get, .ok, time: 5, caller: nil, item: "a", id: id, purpose: number == 0 ? "" : "p")
      sizes.append(block.size - before)
    }
    let plain = sizes[2]
    #expect(sizes[3] == plain + 3 && sizes[4] == plain + AuditBlock.itemSize && sizes[5] == plain + 3)
    #expect(AuditBlock.itemSize == 17)
    // There are more items than the block knows at a time, and each is read back unchanged.
    let many = (0..<300).map { _ in ItemID.random() }
    for id in many + many { block.add(.use, .ok, time: 5, caller: nil, item: "a", id: id) }
    let bytes = block.withPlaintext(after: Self.position) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    let found = try Self.read(bytes)
    #expect((10..<16).map { found[$0]?.id } == [nil, one, nil, one, other, one])
    #expect((16..<616).map { found[$0]?.id } == many + many)
    // The next record begins without a known item.
    block.empty()
    block.add(.get, .ok, time: 5, caller: nil, item: "a", id: one)
    block.add(.get, .ok, time: 5, caller: nil, item: "a")
    let next = block.withPlaintext(after: Self.position) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    #expect(try Self.read(next).sorted { $0.key < $1.key }.map(\.value.id) == [one, nil])
    // A reference to an unknown item, an item without an entry, and an entry with two items.
    let entry: [UInt8] = [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    let item: [UInt8] = [5] + [UInt8](repeating: 7, count: 16)
    let start = Array(next.prefix(41))
    #expect(try Self.read(start + item + entry)[10]?.id == ItemID(filledWith: 7))
    for wrong: [UInt8] in [[6, 0, 0] + entry, item, entry + item, item + item + entry, item + [6, 1, 0] + entry] {
      #expect(throws: CryptoError.self) { try Self.read(start + wrong) }
    }
  }

  @Test("that refer to a text, a time or a subject which is not there are refused") func unknown() {
    let start = Self.plaintext().prefix(41)
    // An entry at the time of the entry before it, which is missing; and references to a text and to a subject that
    // come later.
    for entry: [UInt8] in [
      [3, 1, 1, 0], [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0x80], [2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0],
    ] {
      #expect(throws: CryptoError.self) { try Self.read(start + entry) }
    }
  }

  @Test("cut, longer or flipped anywhere, end in an error or in other entries, and in nothing worse") func changed() {
    let bytes = Self.plaintext()
    for count in bytes.indices { _ = try? Self.read(Array(bytes.prefix(count))) }
    #expect(throws: CryptoError.self) { try Self.read(Array(bytes.prefix(40))) }
    #expect(throws: CryptoError.self) { try Self.read(bytes + [9]) }
    for bit in 0..<bytes.count * 8 {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      _ = try? Self.read(flipped)
    }
  }

  @Test("of entries that come with their callers have each caller once") func callers() throws {
    var entries = (0..<50).map { number in
      AuditEntry(
        time: 5, action: .get, outcome: .ok, caller: AuditEntry.Caller(door: "varlink", uid: 7, pid: number % 2),
        item: "\(number)")
    }
    entries[3].subject = Self.other(3)
    entries[4].caller = nil
    var block = AuditBlock()
    for entry in entries { block.add(entry) }
    let bytes = block.withPlaintext(after: Self.position) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    #expect(bytes.count < 50 * 12 + 100)
    let found = try Self.read(bytes)
    for (index, entry) in entries.enumerated() { #expect(found[Int64(10 + index)] == entry) }
  }

  @Test("an emptied block holds nothing of what was in it") func emptied() {
    var block = AuditBlock()
    let (caller, filling) = (block.add(AuditEntry.Caller(door: "varlink", uid: 1, pid: 2)), block.filling)
    block.add(.get, .ok, time: 1, caller: caller, item: "SECRETNAME")
    block.empty()
    #expect(block.count == 0 && block.filling == filling + 1)
    let rest = block.withPlaintext(after: .start) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    #expect(rest.count == 41)
  }

  @Test("the keys of a chain go on, and no two are the same") func ratchet() {
    let seed = RandomBytes.secret(count: 32)
    var key = AuditKey(seed: seed)
    var again = AuditKey(seed: seed)
    var seen: Set<[UInt8]> = []
    for _ in 0..<50 {
      let one = key.withNextKey { $0.array }
      #expect(again.withNextKey { $0.array } == one)
      #expect(seen.insert(one).inserted)
    }
    #expect(!seen.contains(seed.array))
    #expect(AuditKey.commitment(to: seed) == AuditKey.commitment(to: seed))
    #expect(AuditKey.commitment(to: seed) != AuditKey.commitment(to: RandomBytes.secret(count: 32)))
  }

  @Test("a beginning opens for its box alone, and says which seed it was begun with") func beginning() throws {
    let secret = SealedBox.secretKey()
    let seed = RandomBytes.secret(count: 32)
    var chain = try AuditChain(
      origin: .unlocked, time: 5, age: 3, after: Self.position, seed: seed, publicKey: SealedBox.publicKey(of: secret))
    let key = RandomBytes.secret(count: 32)
    let vault = VaultID.random()
    chain.mac = chain.mac(5, vault, key: key)
    let bytes = chain.encoded
    #expect(bytes.count == AuditChain.encodedCount)
    let decoded = try bytes.withSpan { (span: RawSpan) throws(CryptoError) in try AuditChain(decoding: span) }
    #expect(decoded == chain && decoded.mac == decoded.mac(5, vault, key: key))
    #expect(decoded.mac != decoded.mac(6, vault, key: key))
    #expect(try decoded.seed(secret).array == seed.array)
    #expect(throws: CryptoError.self) { _ = try decoded.seed(SealedBox.secretKey()) }
    var other = chain
    try other.seal(RandomBytes.secret(count: 32), to: SealedBox.publicKey(of: secret))
    #expect(throws: CryptoError.authenticationFailed) { _ = try other.seed(secret) }
    for count in 0..<bytes.count {
      let part = Array(bytes.prefix(count))
      #expect(throws: CryptoError.self) {
        try part.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditChain(decoding: span) }
      }
    }
  }

  @Test("what was used of the log is read back, of those who used most, and refused when it is none") func usage()
    throws
  {
    var usage = AuditUsage(time: 1, counted: AuditUsage.Counted(count: 1, since: 2, last: 3))
    for number in 0..<3 { usage.subjects[AuditUsage.Key(of: "user:\(number)")] = [UInt32(number), 0, .max, 7] }
    let bytes = usage.encoded
    #expect(try bytes.withSpan { (span: RawSpan) throws(CryptoError) in try AuditUsage(decoding: span) } == usage)
    for count in 0..<bytes.count {
      let part = Array(bytes.prefix(count))
      #expect(throws: CryptoError.self) {
        try part.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditUsage(decoding: span) }
      }
    }
    for number in 0..<2 * AuditUsage.most { usage.subjects[AuditUsage.Key(of: "\(number)")] = [1, 0, 0, 0] }
    let most = try usage.encoded.withSpan { (span: RawSpan) throws(CryptoError) in try AuditUsage(decoding: span) }
    #expect(most.subjects.count == AuditUsage.most && most.subjects[AuditUsage.Key(of: "user:2")] != nil)
  }

  @Test("a row holds only so many entries, and a number beyond them is not taken") func bounds() throws {
    var block = AuditBlock()
    while block.size + Int(AuditBlock.leastEntry) <= AuditBlock.largest { block.add(.get, .ok, time: 5, caller: nil) }
    #expect(Int64(block.count) == AuditBlock.mostEntries && AuditBlock.mostEntries == 4083)
    var bounds = AuditBounds(Self.position)
    let start = Self.position.entries
    #expect(!bounds.take(start + 1) && !bounds.take(start - 1) && bounds.take(start))
    bounds.pass(record: 400)
    bounds.pass(record: 1 << 20)
    let most = start + 100 + AuditBlock.mostEntries
    #expect(!bounds.take(most + 1) && !bounds.take(start - 1) && !bounds.take(.max) && bounds.take(most))
    #expect(!bounds.take(start) && bounds.take(most))
    let link = AuditChain.beginning
    for (gap, count) in [
      (AuditGap(rows: 1...100, bytes: 400, link: link), 100),
      (AuditGap(rows: 1...2, bytes: 1 << 40, link: link), 2 * AuditBlock.mostEntries),
      (AuditGap(rows: 5...5, entries: 7, link: link), 7), (AuditGap(rows: 5...5, entries: 0, link: link), 0),
      (AuditGap(rows: 1...1 << 53, bytes: (1 << 53) - 1, link: link), 1 << 51),
    ] as [(AuditGap, Int64)] {
      #expect(gap.mostEntries == min(count, (1 << 51) - 1))
      var bounds = AuditBounds(Self.position)
      bounds.pass(gap)
      #expect(!bounds.take(start + gap.mostEntries + 1) && bounds.take(start + gap.mostEntries))
    }
  }

  @Test("a position after a gap is never beyond what the gap can have held") func gap() throws {
    let seed = RandomBytes.secret(count: 32)
    let gap = AuditGap(rows: 8...9, bytes: 400, link: AuditChain.beginning)
    for (more, taken) in [(-3, 0), (0, 0), (90, 90), (100, 100), (101, 100), (1 << 50, 100)] as [(Int64, Int64)] {
      var end = Self.position
      end.entries = max(0, end.entries + more)
      let chain = try AuditChain(
        origin: .cold, time: 5, after: end, seed: seed, publicKey: SealedBox.publicKey(of: SealedBox.secretKey()))
      var position = Self.position
      position.pass(gap, before: chain)
      #expect(position.row == 9 && position.entries == Self.position.entries + taken, "\(more)")
    }
  }

  @Test("no age is beyond those that can be read, and no chain begins far below the last number") func limits() {
    let most = AuditPosition.most
    #expect(AuditChain.age(at: 90_000, since: 0, most) == most && AuditChain.age(at: 90_000, since: 0, 5) == 86_405)
    #expect(AuditChain.age(at: 3, since: 9, most - 1) == most - 1)
    for change in [\AuditPosition.row, \.entries, \.bytes] {
      var position = Self.position
      #expect(!position.isTooFar)
      position[keyPath: change] = most / 2 - 1
      #expect(!position.isTooFar)
      position[keyPath: change] = most / 2
      #expect(position.isTooFar)
    }
  }

  @Test("the end and the anchor are read back, and refused when they are none") func places() throws {
    var key = AuditKey(seed: RandomBytes.secret(count: 32))
    let vault = VaultID.random()
    let end = AuditEnd(Self.position, chain: 3, vault, key: &key)
    let again = try end.encoded.withSpan { (span: RawSpan) throws(CryptoError) in try AuditEnd(decoding: span) }
    #expect(again == end && again.mac == again.mac(vault, key: &key))
    key.withNextKey { _ in }
    #expect(again.mac != again.mac(vault, key: &key))
    var anchor = AuditAnchor.beginning
    anchor.join(to: Self.position, early: 0)
    let read = try anchor.encoded.withSpan { (span: RawSpan) throws(CryptoError) in try AuditAnchor(decoding: span) }
    #expect(read == anchor)
    for bytes in [anchor.encoded.dropLast(), end.encoded.dropLast()] {
      let bytes = Array(bytes)
      #expect(throws: CryptoError.self) {
        try bytes.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditAnchor(decoding: span) }
      }
      #expect(throws: CryptoError.self) {
        try bytes.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditEnd(decoding: span) }
      }
    }
    var kept = anchor
    kept.keep([UInt8](repeating: 5, count: AEAD.overhead + 51), at: 2000)
    kept.join(to: Self.position, early: 70)
    let keptAgain = try kept.encoded.withSpan { (span: RawSpan) throws(CryptoError) in
      try AuditAnchor(decoding: span)
    }
    #expect(keptAgain == kept && keptAgain.early == 70 && keptAgain.usage.count == AEAD.overhead + 51)
    for count in 0..<kept.encoded.count - 51 {
      let part = Array(kept.encoded.prefix(count))
      #expect(throws: CryptoError.self) {
        try part.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditAnchor(decoding: span) }
      }
    }
    // Without a usage, the bytes from before unlocks are kept as well.
    kept.forgetUsage()
    let early = kept.encoded
    let earlyAgain = try early.withSpan { (span: RawSpan) throws(CryptoError) in try AuditAnchor(decoding: span) }
    #expect(earlyAgain == kept && earlyAgain.early == 70 && earlyAgain.usage == [])
    for count in 0..<early.count {
      let part = Array(early.prefix(count))
      #expect(throws: CryptoError.self) {
        try part.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditAnchor(decoding: span) }
      }
    }
    var backwards = AuditAnchor.beginning
    backwards.cut = Self.position
    #expect(throws: CryptoError.self) {
      try backwards.encoded.withSpan { (span: RawSpan) throws(CryptoError) in _ = try AuditAnchor(decoding: span) }
    }
  }

  @Test("Steps of a second take as much from the bytes before unlocks as long steps do") func aging() {
    func early(after steps: Int64, of seconds: Int64) -> Int64 {
      var anchor = AuditAnchor.beginning
      anchor.age(to: 1000)
      anchor.join(to: Self.position, early: 100_000)
      for step in 1...steps { anchor.age(to: 1000 + step * seconds) }
      return anchor.early
    }
    #expect(abs(early(after: 36_000, of: 1) - early(after: 1, of: 36_000)) < 1000)
    #expect(early(after: 1, of: 36_000) < 95_000)
    // A clock that was set back takes nothing, and time counts from there.
    var anchor = AuditAnchor.beginning
    anchor.age(to: 90_000)
    anchor.join(to: Self.position, early: 100_000)
    anchor.age(to: 50_000)
    #expect(anchor.early == 100_000)
    anchor.age(to: 86_000)
    #expect(anchor.early < 95_000)
  }
}

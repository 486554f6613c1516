import Foundation
import Glibc
import Testing
import VaultCore
import VaultTesting

@testable import VaultStore

/// A model of the log and of the disk below it: random transactions, failures, crashes and damages.
@Suite struct LogModelTests {
  /// A repeatable generator (SplitMix64).
  struct Dice: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
      return z ^ (z >> 31)
    }
    mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }
  }

  /// A log that keeps the promises of the writer.
  struct Model {
    static let frame = 24 + 4096
    /// The log as the system sees it.
    var bytes: [UInt8] = []
    var salts: (UInt32, UInt32) = (7, 7)
    var sums: (UInt32, UInt32) = (0, 0)
    /// The number of frames up to the end of each transaction that was acknowledged.
    var ends: [Int] = []
    var dice: Dice

    static func offset(_ place: Int) -> Int { 32 + place * frame }
    var size: Int { Self.offset(ends.last ?? 0) }

    mutating func begin() {
      salts = (salts.0 &+ 1, UInt32.random(in: 0 ... .max, using: &dice))
      var header = Self.bytes(0x377F_0682, 3_007_000, 4096, 0, salts.0, salts.1)
      let sums = Self.sums((0, 0), header)
      header += Self.bytes(sums.0, sums.1)
      self.sums = sums
      ends = []
      put(header, at: 0)
    }

    mutating func put(_ new: [UInt8], at offset: Int) {
      if bytes.count < offset + new.count { bytes += [UInt8](repeating: 0, count: offset + new.count - bytes.count) }
      bytes.replaceSubrange(offset..<offset + new.count, with: new)
    }

    /// Writes the frames of a transaction behind the last one; returns the sums behind them.
    mutating func write(frames: Int) -> (UInt32, UInt32) {
      var sums = sums
      for index in 0..<frames {
        var head = Self.bytes(UInt32(1 + dice.below(500)), index == frames - 1 ? 500 : 0)
        var page = [UInt8](repeating: 0, count: 4096)
        for byte in stride(from: 0, to: 4096, by: 64) { page[byte] = UInt8(dice.below(256)) }
        sums = Self.sums(Self.sums(sums, head), page)
        head += Self.bytes(salts.0, salts.1, sums.0, sums.1)
        put(head + page, at: Self.offset((ends.last ?? 0) + index))
      }
      return sums
    }

    mutating func commit(frames: Int) {
      sums = write(frames: frames)
      ends.append((ends.last ?? 0) + frames)
    }

    /// Cuts off what does not belong to a transaction that was acknowledged.
    mutating func settle() { if bytes.count > size { bytes.removeSubrange(size...) } }

    static func bytes(_ numbers: UInt32...) -> [UInt8] {
      numbers.flatMap { number in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }
    }

    static func sums(_ start: (UInt32, UInt32), _ bytes: [UInt8]) -> (UInt32, UInt32) {
      unsafe bytes.withUnsafeBytes { bytes in
        var sums = start
        for offset in stride(from: 0, to: bytes.count, by: 8) {
          sums.0 = unsafe sums.0 &+ bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) &+ sums.1
          sums.1 = unsafe sums.1 &+ bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self) &+ sums.0
        }
        return sums
      }
    }
  }

  /// A file in memory, if possible.
  final class File {
    private let folder: String
    let number: Int32

    init() throws {
      folder = try ScratchFolder.make()
      number = unsafe Glibc.open(folder + "/log", O_RDWR | O_CREAT, 0o600)
      try #require(number >= 0)
    }

    deinit {
      close(number)
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// Makes blocks of zeros holes.
    func fill(_ bytes: [UInt8]) throws {
      try #require(ftruncate(number, 0) == 0 && ftruncate(number, bytes.count) == 0)
      for start in stride(from: 0, to: bytes.count, by: 4096) {
        let block = bytes[start..<min(start + 4096, bytes.count)]
        guard block.contains(where: { $0 != 0 }) else { continue }
        let count = unsafe block.withUnsafeBytes { unsafe pwrite(number, $0.baseAddress, $0.count, start) }
        try #require(count == block.count)
      }
    }

    func put(_ bytes: [UInt8], at offset: Int) throws {
      try #require(unsafe pwrite(number, bytes, bytes.count, offset) == bytes.count)
    }

    func read() throws(VaultError) -> Int { try WriteAheadLog(reading: number).committed.frames }
  }

  /// Returns what a power cut leaves of `new`: each block of it, or what the disk had in its place.
  private static func cut(_ old: [UInt8], _ new: [UInt8], block: Int, _ dice: inout Dice) -> [UInt8] {
    let share = [1, 2, 4, 7].randomElement(using: &dice)!
    let count = dice.below(4) == 0 && new.count > old.count ? old.count : new.count
    var left = [UInt8](repeating: 0, count: count)
    for start in stride(from: 0, to: count, by: block) {
      let source = dice.below(8) < share ? new : old
      let end = max(start, min(start + block, count, source.count))
      left.replaceSubrange(start..<end, with: source[min(start, source.count)..<min(end, source.count)])
    }
    return left
  }

  /// Makes a log of 16 to 50 frames or, to have a head across two blocks, of 160 to 180 frames.
  private static func model(_ seed: UInt64, isLong: Bool) -> Model {
    var model = Model(dice: Dice(state: seed))
    model.begin()
    // Frames of an earlier use of the log are left behind the end of the later one.
    for _ in 0..<model.dice.below(3) {
      for _ in 0..<1 + model.dice.below(4) { model.commit(frames: 1 + model.dice.below(isLong ? 60 : 12)) }
      model.begin()
    }
    let start = isLong ? 160 : 25
    if model.dice.below(4) != 0 { model.commit(frames: start + model.dice.below(20)) }
    return model
  }

  @Test("after any crashes, a log is read up to its end, and no further", arguments: [false, true])
  func crashes(isLong: Bool) throws {
    let file = try File()
    for seed in 0..<(isLong ? 12 : 60) as Range<UInt64> {
      var model = Self.model(seed, isLong: isLong)
      for step in 0..<8 {
        let kind = model.dice.below(10)
        let frames = 1 + model.dice.below(kind == 0 ? 20 : 4)
        let before = model
        switch kind {
        case 1 where model.ends.count > 1: model.begin()
        case 2...4: model.commit(frames: frames)
        default:
          // A transaction that is cut off, perhaps the first of a log that begins anew.
          if kind == 5 { model.begin() }
          let known = model
          let after = model.write(frames: frames)
          if kind == 6 { model.bytes.removeLast(min(model.dice.below(9000), model.bytes.count - known.size)) }
          var image = model.bytes
          if kind >= 5 {
            let block = model.dice.below(2) == 0 ? 512 : 4096
            image = Self.cut(known.bytes, model.bytes, block: block, &model.dice)
          }
          try file.fill(image)
          let end = known.ends.last ?? 0
          do {
            let found = try file.read()
            #expect([end, end + frames].contains(found), "seed \(seed), step \(step)")
            model.bytes = image
            if found > end {
              model.ends.append(found)
              model.sums = after
            }
          } catch {
            Issue.record("seed \(seed), step \(step): \(error)")
            model = before
          }
          model.settle()
        }
        try file.fill(model.bytes)
        #expect(try file.read() == model.ends.last ?? 0, "seed \(seed), step \(step)")
      }
    }
  }

  /// The most transactions that a damage may drop silently; `touches` takes an offset and a number of bytes.
  private static func mostLost(_ ends: [Int], _ end: Int, _ touches: (Int, Int) -> Bool) -> Int {
    guard ends.count > 1 else { return 1 }
    let place = ends[ends.count - 2] - 1
    func hidesEnd(_ place: Int) -> Bool {
      // If a sector ends between the mark of the end and the salts, this frame and the one before are needed.
      (Model.offset(place) + 8) % 512 == 0
        ? touches(Model.offset(place - 1), 2 * Model.frame) : touches(Model.offset(place), 24)
    }
    guard hidesEnd(place) else { return end > Model.offset(place + 1) ? 1 : 0 }
    // A transaction of one frame lets the same block hide the end before as well.
    return ends.count > 2 && ends[ends.count - 3] == place && hidesEnd(place - 1) ? 3 : 2
  }

  @Test("no damaged block drops a change silently but the last, or the last two if it hides where they meet")
  func damages() throws {
    let file = try File()
    var refused = 0
    for seed in 0..<24 as Range<UInt64> {
      let isLong = seed % 8 == 0
      var model = Self.model(seed &+ 1000, isLong: isLong)
      for _ in 0..<2 + model.dice.below(4) { model.commit(frames: 1 + model.dice.below(4)) }
      let ends = model.ends
      let block = seed % 2 == 0 ? 4096 : 512
      try file.fill(model.bytes)
      // In a long log, only the blocks around the last transactions.
      let first = isLong ? Model.offset(ends[max(0, ends.count - 4)]) / block * block : 0
      for start in stride(from: first, to: model.size, by: block * (block == 512 ? 1 + model.dice.below(7) : 1)) {
        let hit = start..<min(start + block, model.bytes.count)
        let original = Array(model.bytes[hit])
        func touches(_ offset: Int, _ count: Int) -> Bool { hit.overlaps(offset..<offset + count) }
        for content in 0..<2 {
          let noise = original.map { _ in content == 0 ? 0 : UInt8(model.dice.below(256)) }
          if noise == original { continue }
          try file.put(noise, at: start)
          do {
            let left = try file.read()
            let lost = ends.count { $0 > left }
            #expect(
              lost <= Self.mostLost(ends, hit.upperBound, touches),
              "seed \(seed), byte \(start), \(content): \(ends), \(left)")
          } catch {
            refused += 1
          }
        }
        try file.put(original, at: start)
      }
    }
    #expect(refused > 100)
  }

  @Test("a log that cannot be read is no log that ends there") func unreadable() throws {
    let path = try ScratchFolder.make() + "/log"
    defer { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT, 0o600)
    defer { close(file) }
    expect(\.isStorage) { _ = try WriteAheadLog(reading: file) }
  }
}

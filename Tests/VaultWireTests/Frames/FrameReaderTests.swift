import Testing
import VaultBytes

@testable import VaultWire

extension FrameReader {
  mutating func append(_ bytes: [UInt8]) throws(FrameError) { try append(unsafe bytes.span.bytes) }

  /// Takes every available frame, each as the text of its member `a`.
  mutating func takeAll() throws(FrameError) -> [String?] {
    var texts: [String?] = []
    while let frame = try next() { texts.append(frame.member("a", of: frame.root).flatMap { frame.string($0) }) }
    return texts
  }

  /// The places of the kept bytes that are not zero.
  var heldPlaces: [Int] {
    borrowing get {
      withHeldBytes { bytes in
        let bytes = Span<UInt8>(_bytes: bytes)
        return bytes.indices.filter { bytes[$0] != 0 }
      }
    }
  }
}

@Suite struct FrameReaderTests {
  /// Makes a frame of exactly `count` bytes without its NUL.
  static func frame(of count: Int) -> [UInt8] {
    Array("{\"a\":\"".utf8) + Array(repeating: UInt8(ascii: "x"), count: count - 8) + Array("\"}".utf8)
  }

  @Test("A half-sent frame waits for its rest")
  func waits() throws {
    var reader = FrameReader()
    try reader.append(Array("{\"a\":".utf8))
    var texts = try reader.takeAll()
    #expect(texts == [])
    try reader.append(Array("\"b\"}".utf8))
    texts = try reader.takeAll()
    #expect(texts == [])
    #expect(reader.pendingCount == 9)
    try reader.append([0])
    texts = try reader.takeAll()
    #expect(texts == ["b"])
    #expect(reader.pendingCount == 0)
  }

  @Test("A look at the next frame takes nothing, and shows neither half a frame nor a long or an invalid one")
  func peeks() throws {
    func peek(_ reader: borrowing FrameReader, atMost most: Int = 9) -> String? {
      guard let frame = reader.peek(atMost: most) else { return nil }
      return frame.member("a", of: frame.root).flatMap { frame.string($0) }
    }
    var reader = FrameReader()
    try reader.append(Array("{\"a\":\"b\"}".utf8))
    var seen = [peek(reader)]
    try reader.append([0] + Array("{\"a\":\"c\"}\0{\"a\"\0".utf8))
    seen += [peek(reader, atMost: 8), peek(reader), peek(reader)]
    _ = try reader.next()
    seen += [peek(reader), peek(reader)]
    _ = try reader.next()
    seen += [peek(reader)]
    #expect(seen == [nil, nil, "b", "b", "c", "c", nil])
    let isLeft = reader.hasFrame
    #expect(isLeft)
  }

  @Test("Frames are the same however the stream is cut", arguments: [1, 2, 3, 5, 7, 11, 64, 4096])
  func doesNotDependOnChunks(_ size: Int) throws {
    let expected = (0..<50).map { String(repeating: "é", count: $0) }
    let stream = expected.flatMap { Array("{\"a\":\"\($0)\"}\0".utf8) }
    var reader = FrameReader()
    var texts: [String?] = []
    for start in stride(from: 0, to: stream.count, by: size) {
      try reader.append(Array(stream[start..<min(start + size, stream.count)]))
      texts += try reader.takeAll()
    }
    #expect(texts == expected)
    #expect(reader.pendingCount == 0)
  }

  @Test("Frames that pile up are taken later, in their order")
  func keepsOrder() throws {
    var reader = FrameReader()
    var texts: [String?] = []
    for round in 0..<200 {
      try reader.append(Array("{\"a\":\"\(round)\"}\0".utf8))
      if round % 3 == 2, let frame = try reader.next() {
        texts.append(frame.member("a", of: frame.root).flatMap { frame.string($0) })
      }
    }
    texts += try reader.takeAll()
    #expect(texts == (0..<200).map { "\($0)" })
  }

  @Test("A frame of exactly 2 MiB is accepted, with one byte more it is not")
  func holdsLimit() throws {
    var reader = FrameReader()
    try reader.append(FrameReaderTests.frame(of: 2 << 20) + [0])
    let count = try reader.next()?.byteCount
    #expect(count == 2 << 20)
    #expect(throws: FrameError.tooLong(limit: 2 << 20)) {
      var reader = FrameReader()
      try reader.append(FrameReaderTests.frame(of: 2 << 20 + 1) + [0])
    }
  }

  @Test("A frame that passes the limit is refused before its NUL comes, and so is everything behind it")
  func refusesEarly() throws {
    var reader = FrameReader(limit: 10)
    try reader.append(Array("{\"a\":\"b\"}\0".utf8))
    try reader.append(Array(repeating: 0x20, count: 10))
    for more in [[0x20], [0], []] as [[UInt8]] {
      do {
        try reader.append(more)
        Issue.record("accepted \(more)")
      } catch { #expect(error == .tooLong(limit: 10)) }
    }
    let texts = try reader.takeAll()
    #expect(texts == [])
    #expect(reader.pendingCount == 0)
  }

  @Test("A long frame is refused also between two short ones in one read")
  func refusesInTheMiddle() {
    #expect(throws: FrameError.tooLong(limit: 10)) {
      var reader = FrameReader(limit: 10)
      try reader.append(Array("{}\0{\"aaaa\":123456}\0{}\0".utf8))
    }
  }

  @Test("2 MiB byte by byte cost work in proportion, not more")
  func staysLinearByteByByte() throws {
    let frame = FrameReaderTests.frame(of: 2 << 20)
    var reader = FrameReader()
    for byte in frame {
      try unsafe withUnsafeBytes(of: byte) { try unsafe reader.append(RawSpan(_unsafeBytes: $0)) }
      let early = try reader.next() == nil
      precondition(early)
    }
    #expect(reader.movedCount < 2 * frame.count)
    try reader.append([0])
    let count = try reader.next()?.byteCount
    #expect(count == frame.count)
  }

  @Test("Many frames in one read cost work in proportion, not more")
  func staysLinearForMany() throws {
    let count = 100_000
    let stream = Array(repeatElement(Array("{\"a\":\"b\"}\0".utf8), count: count).joined())
    var reader = FrameReader()
    try reader.append(stream)
    let moved = reader.movedCount
    var taken = 0
    while try reader.next() != nil { taken += 1 }
    #expect(taken == count)
    #expect(reader.movedCount == moved || reader.movedCount == 0)
  }

  @Test("A stream that never pauses between frames does not pile up memory")
  func reclaims() throws {
    // Each read ends in the middle of a frame, so the reader is never empty.
    let piece = Array("b\"}\0{\"a\":\"".utf8)
    var reader = FrameReader()
    try reader.append(Array("{\"a\":\"".utf8))
    for _ in 0..<10_000 {
      try reader.append(piece)
      let text = try reader.takeAll()
      precondition(text == ["b"])
      precondition(reader.pendingCount == 6)
    }
    #expect(reader.movedCount < 10_000 * piece.count * 2)
    #expect(reader.heldCount < 64)
  }

  @Test("A frame that is given back leaves nothing to the next one, however large they are")
  func takesBack() throws {
    var reader = FrameReader()
    for count in [20, 8, 5000, 9, 200_000, 8, 70_000, 33] {
      try reader.append(FrameReaderTests.frame(of: count) + [0])
      guard let frame = try reader.next() else {
        Issue.record("no frame of \(count) bytes")
        return
      }
      #expect(frame.byteCount == count)
      #expect(frame.members(of: frame.root).count == 1)
      #expect(frame.member("a", of: frame.root).flatMap { frame.string($0) }?.utf8.count == count - 8)
      reader.takeBack(frame)
    }
    let array = "{\"a\":[" + String(repeating: "1,", count: 1000) + "2]}"
    for text in [array, "{}", array, "{\"a\":[]}"] {
      try reader.append(Array(text.utf8) + [0])
      guard let frame = try reader.next() else {
        Issue.record("no frame")
        return
      }
      let elements = frame.member("a", of: frame.root).map { frame.elements(of: $0).count }
      #expect(elements == ["{}": nil, "{\"a\":[]}": 0][text, default: 1001])
      reader.takeBack(frame)
    }
  }

  @Test("A frame that was taken is wiped at once, one that was refused too, also while others wait behind it")
  func wipesTaken() throws {
    var reader = FrameReader()
    let frames = [FrameReaderTests.frame(of: 100), Array("garbage".utf8), FrameReaderTests.frame(of: 50)]
    try reader.append(frames.flatMap { $0 + [0] })
    let isTaken = try reader.next() != nil
    #expect(isTaken)
    #expect(reader.heldPlaces == Array(101..<108) + Array(109..<159))
    do {
      let isTaken = try reader.next() != nil
      Issue.record("\(isTaken)")
    } catch {}
    #expect(reader.heldPlaces == Array(109..<159))
  }

  @Test("A frame of very many values leaves no memory for as many behind, a usual one its own")
  func keepsUsualRoom() throws {
    for (values, room) in [(100, 1...1024), (30_000, 0...1024)] {
      var reader = FrameReader()
      try reader.append(Array("{\"a\":[\(String(repeating: "1,", count: values))2]}\0".utf8))
      guard let frame = try reader.next() else {
        Issue.record("no frame")
        return
      }
      reader.takeBack(frame)
      #expect(room.contains(reader.spareCount), "\(values)")
    }
  }

  @Test("An empty frame and garbage are errors, and the next frame is whole")
  func goesOn() throws {
    var reader = FrameReader()
    try reader.append(Array("\0garbage\0{\"a\":\"b\"}\0".utf8))
    for _ in 0..<2 {
      do {
        let none = try reader.next() == nil
        Issue.record("\(none)")
      } catch {
        let reasons: [FrameError] = ["no value", "ends too early"].map { .invalidJSON(offset: 0, reason: $0) }
        #expect(reasons.contains(error))
      }
    }
    let texts = try reader.takeAll()
    #expect(texts == ["b"])
  }

  @Test("A NUL inside a frame cuts it in two")
  func cutsAtNUL() throws {
    var reader = FrameReader()
    try reader.append(Array("{\"a\":\"b\0c\"}\0".utf8))
    for _ in 0..<2 {
      do {
        _ = try reader.next() == nil
        Issue.record("accepted")
      } catch {
        guard case .invalidJSON = error else {
          Issue.record("\(error)")
          continue
        }
      }
    }
    let texts = try reader.takeAll()
    #expect(texts == [])
  }
}

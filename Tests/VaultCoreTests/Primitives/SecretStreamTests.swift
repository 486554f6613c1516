import Foundation
import Testing

@testable import VaultCore

@Suite struct SecretStreamTests: ~Copyable {
  private let key = RandomBytes.secret(count: 32)

  /// Seals pieces under `key`, the first piece with `extra`.
  private func sealed(_ pieces: [[UInt8]], extra: [UInt8] = []) -> (header: [UInt8], pieces: [[UInt8]]) {
    var sealer = StreamSealer(key: key)
    let header = sealer.header
    let last = pieces.count - 1
    var result: [[UInt8]] = []
    for (index, piece) in pieces.enumerated() {
      var room = [UInt8](repeating: 0, count: piece.count + StreamSealer.overhead)
      var span = room.mutableSpan
      var out = unsafe span.mutableBytes
      let count = piece.lend { bytes in
        (index == 0 ? extra : []).lend { extra in
          sealer.seal(bytes, isLast: index == last, associatedData: extra, into: &out)
        }
      }
      #expect(count == room.count)
      result.append(room)
    }
    return (header, result)
  }

  /// Opens pieces; the last piece must be the stream's last.
  private func open(
    _ header: [UInt8], _ pieces: [[UInt8]], extra: [UInt8] = [], key: borrowing SecureBytes
  ) throws(CryptoError) -> [[UInt8]] {
    var opener = try StreamOpener(key: key, header: header)
    var result: [[UInt8]] = []
    for (index, piece) in pieces.enumerated() {
      var room = [UInt8](repeating: 0, count: max(0, piece.count - StreamSealer.overhead))
      var span = room.mutableSpan
      var out = unsafe span.mutableBytes
      let isLast = index == pieces.count - 1
      let data = index == 0 ? extra : []
      _ = try opener.open(
        unsafe piece.span.bytes, isLast: isLast, associatedData: unsafe data.span.bytes, into: &out)
      result.append(room)
    }
    return result
  }

  private func opens(_ header: [UInt8], _ pieces: [[UInt8]], extra: [UInt8] = []) -> Bool {
    (try? open(header, pieces, extra: extra, key: key)) != nil
  }

  private let pieces: [[UInt8]] = [[1, 2, 3], [4, 5], [6, 7]]

  @Test("What was sealed opens under the same key and no other") func roundTrip() throws {
    let (header, sealed) = sealed(pieces, extra: [9])
    let opened = try open(header, sealed, extra: [9], key: key)
    #expect(opened == pieces)
    let error = failure { () throws(CryptoError) in
      _ = try open(header, sealed, extra: [9], key: RandomBytes.secret(count: 32))
    }
    #expect(error == .authenticationFailed)
  }

  @Test("Every flipped bit of the header or a piece is noticed, and so is other associated data") func flipped() {
    let (header, sealed) = sealed(pieces, extra: [9])
    for bit in 0..<header.count * 8 { #expect(!opens(header.flipping(bit: bit), sealed, extra: [9])) }
    for index in sealed.indices {
      for bit in 0..<sealed[index].count * 8 {
        var other = sealed
        other[index] = sealed[index].flipping(bit: bit)
        #expect(!opens(header, other, extra: [9]), "piece \(index), bit \(bit)")
      }
    }
    #expect(!opens(header, sealed, extra: [8]))
    #expect(!opens(header, sealed))
  }

  @Test("Pieces that are left out, moved, doubled, cut or of another stream are noticed") func order() throws {
    let (header, sealed) = sealed(pieces)
    let (otherHeader, other) = self.sealed(pieces)
    #expect(opens(header, sealed) && opens(otherHeader, other))
    #expect(!opens(header, [sealed[0], sealed[1]]))
    #expect(!opens(header, [sealed[0], sealed[2]]))
    #expect(!opens(header, [sealed[1], sealed[0], sealed[2]]))
    #expect(!opens(header, [sealed[0], sealed[1], sealed[1], sealed[2]]))
    #expect(!opens(header, [sealed[0], sealed[1], sealed[2], sealed[2]]))
    #expect(!opens(header, [sealed[0], other[1], sealed[2]]))
    // No piece may follow the one that is marked as the last.
    var opener = try StreamOpener(key: key, header: header)
    var room = [UInt8](repeating: 0, count: 3)
    var span = room.mutableSpan
    var out = unsafe span.mutableBytes
    let none = RawSpan()
    for piece in sealed.dropLast() {
      _ = try opener.open(unsafe piece.span.bytes, isLast: false, associatedData: none, into: &out)
    }
    let last = sealed[sealed.count - 1]
    #expect(throws: CryptoError.authenticationFailed) {
      try opener.open(unsafe last.span.bytes, isLast: false, associatedData: none, into: &out)
    }
    for piece in sealed.indices {
      for count in 0..<sealed[piece].count {
        var cut = sealed
        cut[piece] = Array(sealed[piece][..<count])
        #expect(!opens(header, cut))
      }
    }
  }

  @Test("A stream that another program made with libsodium's own calls opens") func vector() throws {
    // Python made the vectors through ctypes: _init_push, _push with tag 0, _push with TAG_FINAL.
    for vector in try vectors("secretstream.txt") {
      let key = SecureBytes(try #require(vector["key"]))
      let header = try #require(vector["header"])
      let opened = try open(
        header, [try #require(vector["first"]), try #require(vector["second"])],
        extra: try #require(vector["extra"]), key: key)
      #expect(opened == [Array("a first piece".utf8), Array("the last one".utf8)])
    }
  }
}

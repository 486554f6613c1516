import Testing
import VaultModel

@Suite("The beginning of a backup")
struct BackupPrefixTests {
  private static func read(_ bytes: [UInt8]) throws(BackupPrefix.Problem) -> Int {
    try BackupPrefix(unsafe bytes.span.bytes).headerCount  // Bytes have no padding: all are initialized.
  }

  @Test("A size comes back as it was written", arguments: [13, 14, 255, 256, 65_537, 131_072])
  func roundTrip(size: Int) throws {
    let bytes = BackupPrefix(headerCount: size).bytes
    #expect(bytes.count == BackupPrefix.count)
    #expect(try Self.read(bytes) == size)
    #expect(try Self.read(bytes + [1, 2, 3]) == size)
  }

  // A reader subtracts the size of the header's beginning from the header's size to know how much follows.
  @Test("A header is not smaller than its own beginning, nor larger than any", arguments: [0, 1, 12, 131_073, 1 << 31])
  func impossible(size: Int) {
    #expect(throws: BackupPrefix.Problem.size(size)) { try Self.read(BackupPrefix(headerCount: size).bytes) }
  }

  @Test("What is cut short, or is another file, is no backup; a later format is told as such")
  func others() {
    let bytes = BackupPrefix(headerCount: 200).bytes
    for count in 0..<bytes.count {
      #expect(throws: BackupPrefix.Problem.notABackup) { try Self.read(Array(bytes[..<count])) }
    }
    for place in 0..<8 {
      var other = bytes
      other[place] ^= 1
      #expect(throws: BackupPrefix.Problem.notABackup) { try Self.read(other) }
    }
    var later = bytes
    later[8] = 2
    #expect(throws: BackupPrefix.Problem.newer(2)) { try Self.read(later) }
  }
}

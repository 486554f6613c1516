internal import VaultWire

/// A zip archive in memory (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, version 6.3.10), with files
/// that are stored or deflated, also in the form zip64.
///
/// An archive is refused that is encrypted or in several parts, in which files overlap or have the same name, or whose
/// files would become larger than ``ExpansionLimit`` allows. What is checked at the start is all but the content.
struct ZipArchive {
  private let bytes: [UInt8]
  /// The files; folders are left out.
  private(set) var members: [ZipMember] = []
  private let limit: ExpansionLimit
  /// The bytes that were unpacked, so that nobody unpacks the same file without end.
  private var unpacked = 0

  init(_ bytes: [UInt8], limit: ExpansionLimit = ExpansionLimit()) throws(ImportFailure) {
    (self.bytes, self.limit) = (bytes, limit)
    let numbers = ZipNumbers(bytes: bytes)
    let directory = try ZipDirectory(numbers)
    guard directory.count <= ImportCall.most.files else {
      throw ImportFailure(.tooLarge, "the zip archive has more than \(ImportCall.most.files) files")
    }
    var (place, total, all) = (directory.place.lowerBound, 0, [ZipMember]())
    while place < directory.place.upperBound {
      let member = try ZipMember(numbers, &place)
      try limit.check(output: member.size, input: member.packed.count)
      total += member.size
      guard total <= limit.bytes else { throw tooLarge }
      all.append(member)
      guard all.count <= directory.count else { break }
    }
    guard all.count == directory.count, place == directory.place.upperBound else {
      throw .zip("its directory has another size")
    }
    try Self.check(all, before: directory.place.lowerBound)
    members = all.filter { !$0.isFolder }
  }

  private var tooLarge: ImportFailure {
    ImportFailure(.tooLarge, "the files of the zip archive expand to more than \(limit.bytes >> 20) MiB")
  }

  /// True if the bytes begin like an archive with files.
  static func isLikely(_ bytes: [UInt8]) -> Bool { ZipNumbers(bytes: bytes).has((0x03, 0x04), at: 0) }

  /// Unpacks a file.
  ///
  /// - Throws: ``ImportFailure`` also if the checksum is wrong.
  mutating func content(of member: ZipMember) throws(ImportFailure) -> [UInt8] {
    guard member.size <= limit.bytes - unpacked else { throw tooLarge }
    unpacked += member.size
    let content: [UInt8] =
      switch member.method {
      case .stored: Array(bytes[member.packed])
      case .deflated: try inflate(member)
      }
    var checksum = CRC32()
    checksum.add(content[...])
    guard checksum.value == member.checksum else { throw .zip("the checksum of a file does not match") }
    return content
  }

  private func inflate(_ member: ZipMember) throws(ImportFailure) -> [UInt8] {
    var stream = Inflate(SliceStream(bytes[member.packed]), limit: limit)
    var content: [UInt8] = []
    content.reserveCapacity(member.size)
    while let piece = try stream.next() {
      guard piece.count <= member.size - content.count else { throw .zip("the size of a file is wrong") }
      content += piece
    }
    guard content.count == member.size, stream.bits.byteCount == member.packed.count else {
      throw .zip("the size of a file is wrong")
    }
    return content
  }

  /// Checks that no two files have the same name or share bytes, and that all are before the directory.
  private static func check(_ members: [ZipMember], before end: Int) throws(ImportFailure) {
    guard Set(members.map(\.name)).count == members.count else { throw .zip("two files have the same name") }
    var last = 0
    for member in members.sorted(by: { $0.whole.lowerBound < $1.whole.lowerBound }) {
      guard member.whole.lowerBound >= last else { throw .zip("files overlap") }
      last = member.whole.upperBound
    }
    guard last <= end else { throw .zip("a file overlaps the directory") }
  }
}

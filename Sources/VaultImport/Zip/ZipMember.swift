internal import VaultWire

/// A file in a zip archive, as the central directory and the header before the file tell it (APPNOTE.TXT, sections
/// 4.3.7 and 4.3.12).
struct ZipMember: Sendable {
  enum Method: Int {
    case stored = 0
    case deflated = 8
  }

  let name: String
  let method: Method
  let checksum: UInt32
  /// The size of the file.
  let size: Int
  /// The place of the compressed bytes, and that of the header and these bytes.
  let packed: Range<Int>
  let whole: Range<Int>

  /// True for a folder, which has no content.
  var isFolder: Bool { name.utf8.last == UInt8(ascii: "/") }

  /// Reads the member of the directory at `place`, and moves behind it.
  init(_ numbers: ZipNumbers, _ place: inout Int) throws(ImportFailure) {
    guard numbers.has((0x01, 0x02), at: place) else { throw .zip("its directory has an unknown entry") }
    // Bit 0 stands for encryption, as do 6 and 13; bit 5 stands for patches.
    guard try numbers.number(place + 8, 2) & 0x2061 == 0 else {
      throw ImportFailure(.unsupported, "the zip archive has an encrypted file")
    }
    let (nameCount, extraCount) = (try numbers.number(place + 28, 2), try numbers.number(place + 30, 2))
    let nameEnd = try numbers.end(place + 46, nameCount)
    let extraEnd = try numbers.end(nameEnd, extraCount)
    let nameBytes = numbers.bytes[place + 46..<nameEnd]
    name = try Self.name(nameBytes)
    var sizes = ZipSizes(
      size: try numbers.number(place + 24, 4), packed: try numbers.number(place + 20, 4),
      header: try numbers.number(place + 42, 4))
    try sizes.read(numbers, nameEnd..<extraEnd)
    size = sizes.size
    checksum = UInt32(truncatingIfNeeded: try numbers.number(place + 16, 4))
    let method = try numbers.number(place + 10, 2)
    guard let known = Method(rawValue: method) else {
      throw ImportFailure(.unsupported, "the zip archive has a file that is compressed in an unknown way (\(method))")
    }
    guard known == .deflated || sizes.packed == sizes.size else { throw .zip("the size of a file is wrong") }
    self.method = known
    let start = try Self.start(numbers, sizes.header, method: method, nameBytes)
    packed = start..<(try numbers.end(start, sizes.packed))
    whole = sizes.header..<packed.upperBound
    place = try numbers.end(extraEnd, try numbers.number(place + 32, 2))
  }

  /// The start of the compressed bytes, behind the header that is before them.
  private static func start(
    _ numbers: ZipNumbers, _ header: Int, method: Int, _ name: ArraySlice<UInt8>
  ) throws(ImportFailure) -> Int {
    guard numbers.has((0x03, 0x04), at: header) else { throw .zip("the header of a file is missing") }
    let nameEnd = try numbers.end(header + 30, try numbers.number(header + 26, 2))
    guard try numbers.number(header + 8, 2) == method, numbers.bytes[header + 30..<nameEnd] == name else {
      throw .zip("the header of a file differs from the directory")
    }
    return try numbers.end(nameEnd, try numbers.number(header + 28, 2))
  }

  /// Checks a name. Nothing is written under it, but no honest program makes names that lead out of a folder.
  private static func name(_ bytes: ArraySlice<UInt8>) throws(ImportFailure) -> String {
    guard !bytes.isEmpty, bytes.count <= ImportCall.longestPath, !bytes.contains(0),
      let name = String(validating: bytes, as: UTF8.self)
    else { throw .zip("the name of a file is empty, too long or not UTF-8") }
    let parts = bytes.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let isDrive = bytes.dropFirst().first == UInt8(ascii: ":")
    guard parts.first?.isEmpty == false, !isDrive, !parts.contains(where: { $0.elementsEqual("..".utf8) }) else {
      throw ImportFailure(.damaged, "the zip archive has a file whose name leads out of it")
    }
    return name
  }
}

/// The sizes of a member and the place of its header, of which those that four bytes cannot hold are in an extra field
/// (section 4.5.3).
private struct ZipSizes {
  var size: Int
  var packed: Int
  var header: Int

  mutating func read(_ numbers: ZipNumbers, _ extra: Range<Int>) throws(ImportFailure) {
    var place = extra.lowerBound
    while place < extra.upperBound {
      let end = try numbers.end(place + 4, try numbers.number(place + 2, 2))
      guard end <= extra.upperBound else { throw .zip("an extra field is too long") }
      if try numbers.number(place, 2) == 1 { try take(numbers, place + 4..<end) }
      place = end
    }
    guard ![size, packed, header].contains(0xFFFF_FFFF) else { throw .zip("a size is missing") }
  }

  private mutating func take(_ numbers: ZipNumbers, _ field: Range<Int>) throws(ImportFailure) {
    var place = field.lowerBound
    for path in [\ZipSizes.size, \.packed, \.header] where self[keyPath: path] == 0xFFFF_FFFF {
      guard place + 8 <= field.upperBound else { throw .zip("a size is missing") }
      self[keyPath: path] = try numbers.number(place, 8)
      place += 8
    }
  }
}

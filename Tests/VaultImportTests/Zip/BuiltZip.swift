@testable import VaultImport

/// A zip archive that a test builds, with whatever mistakes it needs.
struct BuiltZip {
  struct File {
    var name: String
    var content: [UInt8]
    /// The compressed bytes; nil for a file that is stored.
    var deflated: [UInt8]?
    var flags = 0
    var method: Int?
    var size: Int?
    /// The place of the header, if it is not that of this file.
    var header: Int?

    init(_ name: String, _ content: String) { (self.name, self.content) = (name, Array(content.utf8)) }
  }

  var files: [File]
  var isZip64 = false
  var comment = ""
  /// The number of the part of the archive.
  var disk = 0

  init(_ files: [File]) { self.files = files }

  var bytes: [UInt8] {
    var (all, directory): ([UInt8], [UInt8]) = ([], [])
    for file in files {
      let packed = file.deflated ?? file.content
      var checksum = CRC32()
      checksum.add(file.content[...])
      let method = file.method ?? (file.deflated == nil ? 0 : 8)
      let size = file.size ?? file.content.count
      let isStreamed = file.flags & 8 != 0
      let facts = isStreamed ? [0, 0, 0] : [Int(checksum.value), packed.count, size]
      let header = file.header ?? all.count
      let name = Array(file.name.utf8)
      all += [0x50, 0x4B, 3, 4] + Self.numbers([20, file.flags, method, 0, 0], 2) + Self.numbers(facts, 4)
      all += Self.numbers([name.count, 0], 2) + name + packed
      if isStreamed { all += [0x50, 0x4B, 7, 8] + Self.numbers([Int(checksum.value), packed.count, size], 4) }
      let large = Self.numbers([1, 24], 2) + Self.numbers([size, packed.count, header], 8)
      let small = isZip64 ? [Int](repeating: 0xFFFF_FFFF, count: 3) : [packed.count, size, header]
      directory += [0x50, 0x4B, 1, 2] + Self.numbers([20, 20, file.flags, method, 0, 0], 2)
      directory += Self.numbers([Int(checksum.value), small[0], small[1]], 4)
      directory += Self.numbers([name.count, isZip64 ? large.count : 0, 0, 0, 0], 2)
      directory += Self.numbers([0, small[2]], 4) + name + (isZip64 ? large : [])
    }
    return all + directory + end(at: all.count, directory.count)
  }

  private func end(at start: Int, _ size: Int) -> [UInt8] {
    var end: [UInt8] = []
    if isZip64 {
      end += [0x50, 0x4B, 6, 6] + Self.numbers([44], 8) + Self.numbers([45, 45], 2) + Self.numbers([0, 0], 4)
      end += Self.numbers([files.count, files.count, size, start], 8)
      end += [0x50, 0x4B, 6, 7] + Self.numbers([0], 4) + Self.numbers([start + size], 8) + Self.numbers([1], 4)
    }
    let count = isZip64 ? 0xFFFF : files.count
    end += [0x50, 0x4B, 5, 6] + Self.numbers([disk, disk, count, count], 2)
    end += Self.numbers(isZip64 ? [0xFFFF_FFFF, 0xFFFF_FFFF] : [size, start], 4)
    return end + Self.numbers([comment.utf8.count], 2) + Array(comment.utf8)
  }

  private static func numbers(_ numbers: [Int], _ count: Int) -> [UInt8] {
    numbers.flatMap { number in (0..<count).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
  }
}

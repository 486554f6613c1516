import Glibc

/// The log beside the database (sqlite.org/walformat.html), read for two questions that SQLite does not ask: is the main
/// file cut short, and is the log damaged?
///
/// A crash while the log is folded in leaves the main file shorter than its pages, which is right as long as the log
/// still has the missing ones. SQLite itself would read a page that is nowhere as zeros. And what SQLite finds damaged in
/// the log it takes for the end of it, as if the power had gone there: all later transactions would be gone without a
/// word. But a transaction is only begun when the one before it has reached the disk. So a damaged frame with a
/// transaction's end behind it, and more behind that, was not left by a crash; nor was a damaged header with frames.
///
/// Holes are passed over, for a file may claim any length at no cost: zeros are no frame, because no page has the number 0.
struct WriteAheadLog {
  private static let headerSize = 32
  private static let frameHeaderSize = 24
  /// Linux's SEEK_DATA (lseek(2)), which glibc shows to none but GNU sources.
  private static let seekData: Int32 = 3

  /// The pages that the log has, from whole frames before the first damaged one.
  private(set) var pages: Set<Int> = []
  private var sums: (UInt32, UInt32) = (0, 0)
  private var isBigEndian = false

  /// Checks that the log is whole, and that each of the database's `pageCount` pages is in the main file or in the log.
  ///
  /// - Throws: ``VaultError/corrupt(_:)`` otherwise.
  static func check(_ name: String, pageCount: Int, in directory: borrowing StoreDirectory) throws(VaultError) {
    let log = try WriteAheadLog(name + "-wal", in: directory)
    let held = (try directory.size(of: name) ?? 0) / DatabaseHeader.pageSize
    guard held < pageCount else { return }
    for page in (held + 1)...pageCount where !log.pages.contains(page) { throw .corrupt("vault.db is cut short") }
  }

  private init(_ name: String, in directory: borrowing StoreDirectory) throws(VaultError) {
    guard let file = try directory.openFile(name, O_RDONLY) else { return }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: Self.headerSize)
    var frame = [UInt8](repeating: 0, count: Self.frameHeaderSize + DatabaseHeader.pageSize)
    var offset = Self.headerSize
    guard unsafe pread(file, &header, header.count, 0) == header.count else { return }
    guard unsafe pread(file, &frame, frame.count, offset) == frame.count else { return }
    guard isWhole(header) else { throw .corrupt("vault.db-wal is damaged") }
    var isIntact = true
    var endsTransaction = false
    repeat {
      let page = Int(Self.number(frame[...], at: 0))
      if page == 0, frame.allSatisfy({ $0 == 0 }) {
        isIntact = false
        guard let last = Self.lastFrame(in: file, beforeDataBehind: offset) else { return }
        offset = last
        continue
      }
      // Frames of an earlier use of the log carry other salts, and do not go on with the sums.
      let isOurs = frame[8..<16] == header[16..<24]
      if isIntact { isIntact = isWhole(frame: frame) }
      if isIntact ? !isOurs : isOurs && endsTransaction { throw .corrupt("vault.db-wal is damaged") }
      if isIntact { pages.insert(page) }
      if !isIntact, isOurs { endsTransaction = Self.number(frame[...], at: 4) != 0 }
    } while Self.read(&frame, file, behind: &offset)
  }

  /// Reads the frame behind the one at `offset`, and goes on to there; false when there is none.
  private static func read(_ frame: inout [UInt8], _ file: Int32, behind offset: inout Int) -> Bool {
    offset += frame.count
    return unsafe pread(file, &frame, frame.count, offset) == frame.count
  }

  /// Where the frame is, from the one at `offset` on, whose next one has anything that was written; nil when there is nothing
  /// but a hole.
  private static func lastFrame(in file: Int32, beforeDataBehind offset: Int) -> Int? {
    let size = frameHeaderSize + DatabaseHeader.pageSize
    // A file system that knows of no holes says that all is written.
    let data = lseek(file, offset + size, seekData)
    guard data >= 0 else { return errno == ENXIO ? nil : offset }
    return offset + ((data - offset) / size - 1) * size
  }

  private mutating func isWhole(_ header: [UInt8]) -> Bool {
    let magic = Self.number(header[...], at: 0)
    isBigEndian = magic == 0x377F_0683
    guard isBigEndian || magic == 0x377F_0682, Self.number(header[...], at: 4) == 3_007_000,
      Self.number(header[...], at: 8) == DatabaseHeader.pageSize
    else { return false }
    add(header[..<24])
    return sums == (Self.number(header[...], at: 24), Self.number(header[...], at: 28))
  }

  private mutating func isWhole(frame: [UInt8]) -> Bool {
    add(frame[..<8])
    add(frame[Self.frameHeaderSize...])
    return sums == (Self.number(frame[...], at: 16), Self.number(frame[...], at: 20))
  }

  /// The format's checksum goes on from frame to frame.
  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    for offset in stride(from: bytes.startIndex, to: bytes.endIndex, by: 8) {
      sums.0 = sums.0 &+ word(bytes, at: offset) &+ sums.1
      sums.1 = sums.1 &+ word(bytes, at: offset + 4) &+ sums.0
    }
  }

  private func word(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
    let number = Self.number(bytes, at: offset)
    return isBigEndian ? number : number.byteSwapped
  }

  private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int) -> UInt32 {
    UInt32(bytes[offset]) << 24 | UInt32(bytes[offset + 1]) << 16 | UInt32(bytes[offset + 2]) << 8
      | UInt32(bytes[offset + 3])
  }
}

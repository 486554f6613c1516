import Glibc

/// The first 100 bytes of the database file (sqlite.org/fileformat.html §1.3), read before SQLite sees the file.
///
/// SQLite would take an empty file for a new database and delete its log, and would write to a file that is not ours.
/// So this check refuses a file that is recognizably not a whole database of ours, and leaves it as it is.
struct DatabaseHeader {
  static let pageSize = 4096
  static let length = 100
  private static let magic = Array("SQLite format 3\0".utf8)
  private let bytes: [UInt8]

  /// Checks the file `name`; false when there is no such file.
  ///
  /// - Throws: ``VaultError/corrupt(_:)``, ``VaultError/newer(_:)``, or ``VaultError/permissions(_:)`` about the file's
  ///   owner, mode or type.
  static func check(_ name: String, log: String, in directory: borrowing StoreDirectory) throws(VaultError) -> Bool {
    guard let size = try directory.size(of: name) else { return false }
    guard let file = try directory.openFile(name, O_RDONLY) else { return false }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: length)
    let count = unsafe pread(file, &bytes, bytes.count, 0)
    if count < 0 { throw SystemCall.error("read", directory.path(of: name), errno) }
    guard count > 0 else { throw .corrupt("vault.db is empty") }
    guard count == bytes.count else { throw .corrupt("vault.db is cut short") }
    try DatabaseHeader(bytes: bytes).check(size: size, hasLog: try directory.size(of: log) ?? 0 > 0)
    return true
  }

  /// Checks the header on page 1, whether the page was read from the main file or from the log. The header must state
  /// the right number of pages, that SQLite uses every byte of a page, and that no page is a pointer map.
  static func check(_ page: Page, pages: Int) throws(VaultError) {
    let header = DatabaseHeader(bytes: Array(page.bytes.prefix(length)))
    guard header.number(at: 28) == pages else { throw .corrupt("page 1 gives a different number of pages") }
    // Page size, format versions, reserved space and payload fractions; then the two marks of an auto-vacuumed file.
    guard Array(header.bytes[16..<24]) == [16, 0, 2, 2, 0, 64, 32, 32], header.number(at: 52) == 0,
      header.number(at: 64) == 0
    else { throw .corrupt("page 1 gives a different file format") }
  }

  private func check(size: Int, hasLog: Bool) throws(VaultError) {
    guard bytes.starts(with: Self.magic) else { throw .corrupt("vault.db is not a database") }
    guard number(at: 68) == Schema.applicationID else { throw .corrupt("vault.db belongs to another program") }
    let version = number(at: 60)
    if version > Schema.version { throw .newer(version) }
    guard version == Schema.version else { throw .corrupt("vault.db has a schema that no release wrote") }
    guard Int(bytes[16]) << 8 | Int(bytes[17]) == Self.pageSize, bytes[18] == 2, bytes[19] == 2,
      number(at: 44) == 4, number(at: 56) == 1
    else {
      throw .corrupt("vault.db has a file format that vault does not write")
    }
    // While a log waits to be folded in, the file may be shorter than its header says.
    let whole = size % Self.pageSize == 0 && size / Self.pageSize >= number(at: 28)
    guard size >= Self.pageSize, whole || hasLog else { throw .corrupt("vault.db is cut short") }
  }

  private func number(at offset: Int) -> Int {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
  }
}

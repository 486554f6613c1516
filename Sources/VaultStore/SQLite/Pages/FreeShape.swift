/// The check of the list of free pages (sqlite.org/fileformat2.html §1.5): the list has as many pages as the header
/// says, and none of these pages serves another purpose.
struct FreeShape {
  private var next = 0
  private var left = 0

  init() {}

  /// Reads the beginning of the list from the header of the file.
  ///
  /// - Parameter header: page 1.
  init(_ header: Page) {
    next = header.number32(at: 32)
    left = header.number32(at: 36)
  }

  /// Continues by one page of the list; false when none is left.
  mutating func step(_ file: FrozenPages, _ pages: inout PageMap) throws(VaultError) -> Bool {
    guard next != 0 else {
      guard left == 0 else { throw .corrupt("fewer pages than there should be") }
      return false
    }
    try pages.take(next)
    let page = try file.page(next)
    let count = page.number32(at: 4)
    guard count <= Page.size / 4 - 2 else { throw page.damaged("too many numbers") }
    guard left > count else { throw page.damaged("more pages than there should be") }
    for index in 0..<count { try pages.take(page.number32(at: 8 + 4 * index)) }
    left -= count + 1
    next = page.number32(at: 0)
    return true
  }
}

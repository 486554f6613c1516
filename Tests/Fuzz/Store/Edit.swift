/// One change that an adversary makes to a store's files, encoded in ten bytes of an input.
struct Edit {
  static let size = 10
  /// The number that selects the kind of change.
  let operation: UInt8
  /// The mode, which determines how the number is read and where it goes.
  let mode: UInt8
  let page: UInt8
  let index: UInt8
  let place: UInt16
  let value: UInt32

  init(_ bytes: RawSpan) {
    func byte(_ index: Int) -> UInt8 {
      // Every bit pattern is a UInt8, and the span checks the place.
      unsafe bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
    }
    (operation, mode, page, index) = (byte(0), byte(1), byte(2), byte(3))
    place = UInt16(byte(4)) << 8 | UInt16(byte(5))
    value = (6..<10).reduce(0) { $0 << 8 | UInt32(byte($1)) }
  }

  /// True if the change concerns a frame of the log.
  var isInLog: Bool { mode & 0x80 != 0 }

  /// The number to write: the given one, a small one, one at a limit, or one near the old number.
  func number(_ old: Int, pages: Int) -> UInt32 {
    switch mode & 3 {
    case 0: return value
    case 1: return value % 64
    case 2:
      let edges: [UInt32] = [
        0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0xFFF, 0x1000, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, .max, 262_145,
        UInt32(truncatingIfNeeded: pages), UInt32(truncatingIfNeeded: pages + 1),
      ]
      return edges[Int(value) % edges.count]
    default: return UInt32(truncatingIfNeeded: old) &+ value % 17 &- 8
    }
  }

  /// Makes the change.
  func apply(to draft: inout Draft) {
    if (248...251).contains(operation) { return claim(&draft) }
    switch operation % 24 {
    case 0: byte(&draft)
    case 1: header(&draft)
    case 2: pageHeader(&draft)
    case 3: pointer(&draft)
    case 4: child(&draft)
    case 5: cellByte(&draft)
    case 6: rest(&draft)
    case 7: replacePage(&draft)
    case 8: swapPages(&draft)
    case 9, 10, 11: layAnew(&draft)
    case 12: schema(&draft)
    case 13: freeList(&draft)
    case 14: grow(&draft)
    case 15: cut(&draft)
    case 16: dropFrames(&draft)
    case 17: addFrame(&draft)
    case 18: frameHead(&draft)
    case 19: logHeader(&draft)
    case 20: draft.flips.append((Int(value), mode | 1))
    case 21: draft.logLength = Int(mode & 3 == 2 ? value : value % 400_000)
    case 22: otherMain(&draft)
    default: otherLog(&draft)
    }
  }
}

// The changes of the pages.
extension Edit {
  private func byte(_ draft: inout Draft) {
    draft.change(self) { page in
      let place = Int(self.place) % page.bytes.count
      page.put(number(Int(page.bytes[place]), pages: 0), at: place, size: 1)
    }
  }

  /// The fields of the file's header, each as its place and size.
  private static let fields = [
    (16, 2), (18, 1), (19, 1), (20, 1), (21, 1), (24, 4), (28, 4), (32, 4), (36, 4), (40, 4), (44, 4), (48, 4), (52, 4),
    (56, 4), (60, 4), (64, 4), (68, 4), (72, 1), (92, 4), (96, 4), (0, 1),
  ]

  private func header(_ draft: inout Draft) {
    let (place, size) = Self.fields[Int(index) % Self.fields.count]
    guard draft.main.count >= 100 else { return }
    let old = draft.main[place..<place + size].reduce(0) { $0 << 8 | Int($1) }
    draft.putHeader(number(old, pages: draft.pageCount), at: place, size: size)
  }

  /// Changes a field of a page's header: its kind, first free block, count, beginning of the cells, or lost bytes.
  private func pageHeader(_ draft: inout Draft) {
    let (place, size) = [(0, 1), (1, 2), (3, 2), (5, 2), (7, 1)][Int(index) % 5]
    draft.change(self) { page in
      let start = page.header + place
      if place == 0, mode & 3 != 0 { return page.put([2, 5, 10, 13][Int(value) % 4], at: start, size: 1) }
      page.put(number(page.number16(start), pages: 0), at: start, size: size)
    }
  }

  private func pointer(_ draft: inout Draft) {
    draft.change(self) { page in
      guard let place = page.pointer(Int(index)) else { return }
      if mode & 0x10 != 0, let other = page.pointer(Int(value)) {
        page.put(UInt32(page.number16(other)), at: place, size: 2)
      } else {
        page.put(number(page.number16(place), pages: 0), at: place, size: 2)
      }
    }
  }

  private func child(_ draft: inout Draft) {
    let pages = draft.pageCount
    draft.change(self) { page in
      guard let place = page.child(Int(index)) else { return }
      page.put(number(page.number16(place + 2), pages: pages), at: place, size: 4)
    }
  }

  /// Changes a byte of a cell, which begins with its lengths, its row and the types of its columns.
  private func cellByte(_ draft: inout Draft) {
    draft.change(self) { page in
      guard let start = page.cell(Int(index)) else { return }
      let place = start + Int(self.place) % (mode & 0x10 == 0 ? 24 : 400)
      guard place < page.bytes.count else { return }
      page.put(number(Int(page.bytes[place]), pages: 0), at: place, size: 1)
    }
  }

  private func rest(_ draft: inout Draft) {
    let pages = draft.pageCount
    draft.change(self) { page in
      // The number is in the row, or in a page that holds the rest of a row.
      let place = page.rest(Int(index)) ?? 0
      page.put(number(page.number16(place + 2), pages: pages), at: place, size: 4)
    }
  }

  /// Makes a row claim any length, in a file that has enough pages for it. The rest of the row lies on one page again
  /// and again, or on page after page.
  private func claim(_ draft: inout Draft) {
    let size = Int(number(1 << 28, pages: draft.pageCount) >> 1)
    draft.main += [UInt8](repeating: 0, count: Draft.pageSize)
    let rest = draft.pageCount
    draft.putPage(rest, number: UInt32(mode & 0x10 == 0 ? rest : rest + 1))
    draft.change(self) { page in
      guard var cells = page.cells(), !cells.isEmpty else { return }
      let at = Int(index) % cells.count
      if let cell = page.claim(cells[at], size: size, rest: UInt32(rest)) { cells[at] = cell }
      page.lay(cells)
    }
    let pages = max(draft.pageCount, size / Draft.pageSize + 10)
    draft.mainLength = pages * Draft.pageSize
    draft.putHeader(UInt32(pages), at: 28, size: 4)
  }

  private func replacePage(_ draft: inout Draft) {
    let moment = mode & 0x40 == 0 ? draft.story.moments.count - 1 : Int(place)
    let other = draft.page(Int(index), moment: moment)
    if moment != draft.story.moments.count - 1 { draft.isOld = true }
    draft.change(self) { page in
      // The header of the file is kept, because otherwise nothing would be read.
      let kept = page.isFirst || other.isFirst ? 100 : 0
      page.bytes.replaceSubrange(kept..., with: other.bytes[kept...])
    }
  }

  private func swapPages(_ draft: inout Draft) {
    guard draft.pageCount > 2 else { return }
    let (one, two) = (1 + Int(page) % (draft.pageCount - 1), 1 + Int(index) % (draft.pageCount - 1))
    for offset in 0..<Draft.pageSize where one != two {
      draft.main.swapAt(one * Draft.pageSize + offset, two * Draft.pageSize + offset)
    }
  }

  /// Rebuilds a page from its cells: a cell of another page or moment is inserted or replaces one, a cell is left out,
  /// or two change places.
  private func layAnew(_ draft: inout Draft) {
    let moment = mode & 0x40 == 0 ? draft.story.moments.count - 1 : Int(value >> 16)
    let other = draft.page(Int(place >> 8), moment: moment).cells() ?? []
    if moment != draft.story.moments.count - 1 { draft.isOld = true }
    draft.change(self) { page in
      guard var cells = page.cells() else { return }
      let at = Int(index) % (cells.count + 1)
      let cell = other.isEmpty ? nil : other[Int(place & 255) % other.count]
      switch (mode >> 4 & 3, cell) {
      case (0, _): if at < cells.count { cells.remove(at: at) }
      case (1, let cell?): cells.insert(cell, at: at)
      case (2, let cell?): if at < cells.count { cells[at] = cell }
      case (3, _): if at < cells.count { cells.swapAt(at, Int(place & 255) % cells.count) }
      default: break
      }
      page.lay(cells)
    }
  }

  private func schema(_ draft: inout Draft) {
    let words = ["heads", "vals", "tags", "CREATE VIEW", "TRIGGER ", "table", "index", "BLOB", "x'00'", "\0\0"]
    let text = words[Int(value) % words.count]
    draft.change(Edit(page: 0, isInLog: isInLog)) { page in
      guard let start = page.cell(Int(index)) else { return }
      let bytes = Array(text.utf8)
      for (offset, byte) in bytes.enumerated() {
        page.put(UInt32(byte), at: start + Int(place) % 256 + offset, size: 1)
      }
    }
  }

  private func freeList(_ draft: inout Draft) {
    guard draft.main.count >= 100 else { return }
    let trunk = draft.main[32..<36].reduce(0) { $0 << 8 | Int($1) }
    switch index % 4 {
    case 0: draft.putHeader(number(trunk, pages: draft.pageCount), at: 32, size: 4)
    case 1: draft.putHeader(number(Int(draft.main[39]), pages: draft.pageCount), at: 36, size: 4)
    default:
      let pages = draft.pageCount
      draft.change(Edit(page: UInt8(truncatingIfNeeded: max(0, trunk - 1)), isInLog: false)) { page in
        let start = 4 * (Int(place) % (index % 4 == 2 ? 4 : 1024))
        page.put(number(page.number16(start + 2), pages: pages), at: start, size: 4)
      }
    }
  }

  private init(page: UInt8, isInLog: Bool) {
    (operation, mode, self.page, index, place, value) = (0, isInLog ? 0x80 : 0, page, 0, 0, 0)
  }
}

/// The changes of the files as a whole, and of the frames of the log.
extension Edit {
  /// Adds a page, or a hole of any size; the header counts the new pages if `mode` says so.
  func grow(_ draft: inout Draft) {
    if mode & 3 < 2 {
      let other = draft.page(Int(page), moment: draft.story.moments.count - 1)
      draft.main += mode & 1 == 0 ? [UInt8](repeating: 0, count: Draft.pageSize) : other.bytes
      if mode & 0x10 != 0 { draft.putHeader(UInt32(draft.pageCount), at: 28, size: 4) }
    } else {
      // The size is at most 16 TiB, that of as many pages as four bytes can count.
      draft.mainLength = (mode & 3 == 2 ? Int(value % 4096) : Int(value)) * Draft.pageSize
      if mode & 0x10 != 0 { draft.putHeader(UInt32((draft.mainLength ?? 0) / Draft.pageSize), at: 28, size: 4) }
    }
  }

  func cut(_ draft: inout Draft) {
    let length =
      mode & 1 == 0 ? Int(value) % (draft.pageCount + 1) * Draft.pageSize : Int(value) % (draft.main.count + 1)
    draft.main = Array(draft.main[..<length])
    if mode & 0x10 != 0 { draft.putHeader(UInt32(draft.pageCount), at: 28, size: 4) }
  }

  func dropFrames(_ draft: inout Draft) {
    guard var frames = draft.log?.frames, !frames.isEmpty else { return }
    let (from, to) = (Int(value >> 16) % frames.count, Int(value & 0xFFFF) % frames.count)
    switch mode & 3 {
    case 0: frames.removeLast(Int(value) % (frames.count + 1))
    case 1: frames.remove(at: to)
    case 2: frames.swapAt(from, to)
    default: frames.insert(frames[from], at: to)
    }
    draft.log?.frames = frames
  }

  /// Adds a frame with a page as it was at some moment, which may end a transaction.
  func addFrame(_ draft: inout Draft) {
    guard draft.log != nil else { return startLog(&draft) }
    let (content, pages) = (draft.page(Int(index), moment: Int(place)).bytes, draft.pageCount)
    let page = mode & 0x10 == 0 ? UInt32(index) + 1 : number(Int(index) + 1, pages: pages)
    let count = mode & 0x20 == 0 ? UInt32(0) : value >> 16
    let frame = LogFile.Frame(page: page, pageCount: mode & 0x40 == 0 ? count : UInt32(pages), content: content)
    draft.isOld = true
    draft.log?.frames.append(frame)
  }

  /// Adds the log of some moment if there is none.
  func startLog(_ draft: inout Draft) {
    let moments = draft.story.moments.filter { !$0.log.isEmpty }
    guard !moments.isEmpty else { return }
    draft.log = LogFile(moments[Int(place) % moments.count].log)
    draft.isOld = true
  }

  func frameHead(_ draft: inout Draft) {
    guard let count = draft.log?.frames.count, count > 0, var frame = draft.log?.frames[Int(page) % count] else {
      return
    }
    switch index % 3 {
    case 0: frame.page = number(Int(frame.page), pages: draft.pageCount)
    case 1: frame.pageCount = number(Int(frame.pageCount), pages: draft.pageCount)
    default: frame.stray = number(0, pages: 0)
    }
    draft.log?.frames[Int(page) % count] = frame
  }

  func logHeader(_ draft: inout Draft) {
    guard var header = draft.log?.header else { return }
    let start = 4 * (Int(index) % 6)
    header.replaceSubrange(
      start..<start + 4, with: LogFile.bytes(number(Int(header[start + 3]), pages: draft.pageCount)))
    draft.log?.header = header
  }

  /// Puts the main file of another moment beside this log.
  func otherMain(_ draft: inout Draft) {
    let moment = draft.story.moments[Int(place) % draft.story.moments.count]
    draft.main = mode & 1 == 0 ? moment.main : moment.folded
    draft.isOld = true
  }

  func otherLog(_ draft: inout Draft) {
    if mode & 0x10 == 0 { return startLog(&draft) }
    draft.log = nil
  }
}

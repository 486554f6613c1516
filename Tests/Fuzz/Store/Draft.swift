/// The files of a store while an adversary changes them.
struct Draft {
  let story: Story
  var main: [UInt8]
  var log: LogFile?
  /// The bytes of the log that are changed after its checksums were computed.
  var flips: [(place: Int, mask: UInt8)] = []
  /// The lengths that the files get; nil for the length of their content.
  var mainLength: Int?
  var logLength: Int?
  /// True if the files may contain data of an earlier moment. Without the keys, nobody can tell that such data
  /// are not the latest.
  var isOld: Bool

  /// Takes the last moment of a story, with the log beside the main file or folded in.
  init(_ story: Story, withLog: Bool) {
    self.story = story
    log = withLog ? LogFile(story.last.log) : nil
    main = log == nil ? story.last.folded : story.last.main
    isOld = log != nil
  }

  static let pageSize = LogFile.pageSize
  var pageCount: Int { main.count / Self.pageSize }

  /// Changes a page of the main file or in a frame of the log.
  mutating func change(_ edit: Edit, _ body: (inout PageDraft) -> Void) {
    if edit.isInLog, let count = log?.frames.count, count > 0 {
      let index = Int(edit.page) % count
      var page = PageDraft(bytes: log?.frames[index].content ?? [], isFirst: log?.frames[index].page == 1)
      log?.frames[index].content = []
      body(&page)
      log?.frames[index].content = page.bytes
    } else if pageCount > 0 {
      let index = Int(edit.page) % pageCount
      let range = index * Self.pageSize..<(index + 1) * Self.pageSize
      var page = PageDraft(bytes: Array(main[range]), isFirst: index == 0)
      body(&page)
      main.replaceSubrange(range, with: page.bytes)
    }
  }

  /// A page as it was at some moment.
  func page(_ number: Int, moment: Int) -> PageDraft {
    let folded = story.moments[moment % story.moments.count].folded
    let index = number % (folded.count / Self.pageSize)
    return PageDraft(bytes: Array(folded[index * Self.pageSize..<(index + 1) * Self.pageSize]), isFirst: index == 0)
  }

  /// Writes a number at the beginning of a page of the main file; the first page has number 1.
  mutating func putPage(_ page: Int, number: UInt32) {
    let start = (page - 1) * Self.pageSize
    main.replaceSubrange(start..<start + 4, with: LogFile.bytes(number))
  }

  /// Writes a number into the header of the file, wherever page 1 is read from.
  mutating func putHeader(_ value: UInt32, at place: Int, size: Int) {
    func put(_ bytes: inout [UInt8]) {
      guard bytes.count >= place + size else { return }
      for index in 0..<size {
        bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * (size - 1 - index)))
      }
    }
    put(&main)
    guard let frames = log?.frames.indices else { return }
    for index in frames where log?.frames[index].page == 1 {
      if var content = log?.frames[index].content {
        put(&content)
        log?.frames[index].content = content
      }
    }
  }

  /// Writes the files.
  func write(to directory: String) {
    Folder.write(main, to: directory + "/vault.db", length: mainLength)
    guard let log else { return }
    var bytes = log.encoded()
    for flip in flips where !bytes.isEmpty { bytes[flip.place % bytes.count] ^= flip.mask }
    Folder.write(bytes, to: directory + "/vault.db-wal", length: logLength)
  }
}

internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The reading of a source through `vault-import`: the files go there, and entries come back.
///
/// Every reply is checked: its place in the order, its sizes, and the sums at the end.
struct ImportReader {
  /// The most entries, fields and bytes of values and texts that a source may have, and the most questions.
  private static let most = (entries: 1 << 17, fields: 1 << 21, bytes: ImportCall.most.bytes, questions: 100)
  /// The longest texts of a format, in bytes.
  private static let longest = (name: 64, detail: 4096)

  /// The content of a source.
  struct Content {
    var format: ImportedFormat
    var entries: [SourceEntry]
    /// True if a secret opened the source, so that it is not readable as it lies there.
    var isEncrypted: Bool
    var sent: ImportSource.Sent
  }

  private let program: ImportProgram
  private let answers: ImportAnswers
  private var format: ImportedFormat?
  private var entries: [SourceEntry] = []
  private var (fields, bytes, questions) = (0, 0, 0)

  private init(_ program: ImportProgram, _ answers: ImportAnswers) { (self.program, self.answers) = (program, answers) }

  /// Reads a source.
  ///
  /// - Parameter format: the format that a person names; nil if the program is to recognize it.
  static func read(_ source: ImportSource, as format: String?, _ answers: ImportAnswers) throws(Failure) -> Content {
    let program = try ImportProgram()
    let format = format ?? (source.kind == .passStore ? "pass" : nil)
    try program.send(.begin(format: format))
    let sent = try source.send(to: program)
    try program.send(.read)
    var reader = ImportReader(program, answers)
    let found = try reader.readAll()
    if let format, found.name != format { throw ImportProgram.wrong }
    return Content(
      format: found, entries: reader.entries, isEncrypted: answers.hasAnswered || source.kind == .passStore, sent: sent)
  }

  private mutating func readAll() throws(Failure) -> ImportedFormat {
    let progress = Progress()
    defer { progress.clear() }
    while true {
      switch try program.receive() {
      case .asks(let question):
        progress.clear()
        try answer(question)
      case .format(let format): try take(format)
      case .entry(let entry): try take(entry)
      case .field(let field, let value):
        try take(field, value)
        progress.show("read \(Counted.text(entries.count, "entry")) so far")
      case .done(let totals): return try finish(totals)
      case .failed(let failure): throw ImportProgram.failure(failure)
      }
    }
  }

  // MARK: Replies

  private mutating func answer(_ question: ImportQuestion) throws(Failure) {
    questions += 1
    guard questions <= Self.most.questions else { throw ImportProgram.wrong }
    switch try answers.answer(question) {
    case .some(let secret): try program.send(.secret, secret)
    case .none: try program.send(.noSecret)
    }
  }

  private mutating func take(_ format: ImportedFormat) throws(Failure) {
    let isName = format.name.utf8.allSatisfy { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "-")
    }
    guard self.format == nil, isName, (1...Self.longest.name).contains(format.name.utf8.count),
      format.detail.utf8.count <= Self.longest.detail, format.source.utf8.count <= Self.longest.detail
    else { throw ImportProgram.wrong }
    self.format = format
  }

  private mutating func take(_ entry: ImportedEntry) throws(Failure) {
    guard format != nil, isComplete, entries.count < Self.most.entries else { throw ImportProgram.wrong }
    let text = entry.folder.reduce(entry.id.utf8.count + entry.title.utf8.count) { $0 + $1.utf8.count }
    try count(text)
    entries.append(SourceEntry(entry))
  }

  private mutating func take(_ field: ImportedField, _ value: consuming SecretBuffer) throws(Failure) {
    guard !isComplete, let entry = entries.last, fields < Self.most.fields,
      value.count <= ImportedField.longestValue,
      field.refusal == nil ? field.size == value.count : value.count == 0
    else { throw ImportProgram.wrong }
    try count(value.count + field.name.utf8.count + (field.refusal?.utf8.count ?? 0))
    fields += 1
    entry.fields.append(SourceField(field, value))
  }

  /// True if the last entry has all the fields that it announced.
  private var isComplete: Bool { entries.last.map { $0.fields.count == $0.facts.fieldCount } ?? true }

  private mutating func count(_ more: Int) throws(Failure) {
    bytes += more
    guard bytes <= Self.most.bytes else { throw ImportSource.tooLarge }
  }

  private func finish(_ totals: ImportTotals) throws(Failure) -> ImportedFormat {
    guard let format, isComplete, totals == ImportTotals(entries: entries.count, fields: fields) else {
      throw ImportProgram.wrong
    }
    return format
  }
}

internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The reading of a source through `vault-import`: the files go there, and entries come back.
struct ImportReader {
  /// The most questions that the program may ask.
  private static let mostQuestions = 100

  /// The content of a source.
  struct Content {
    let format: ImportedFormat
    let entries: [SourceEntry]
    /// True if a secret opened the source, so that it is not readable as it lies there.
    let isEncrypted: Bool
    let sent: ImportSource.Sent
  }

  private let program: ImportProgram
  private let answers: ImportAnswers
  /// The way to a format that is recognized, if this one is not.
  private let advice: String
  private var received = ReceivedEntries()
  private var questions = 0

  private init(_ program: ImportProgram, _ answers: ImportAnswers, advice: String) {
    (self.program, self.answers, self.advice) = (program, answers, advice)
  }

  /// Reads a source.
  ///
  /// - Parameters:
  ///   - format: the format that a person names; nil if the program is to recognize it.
  ///   - kdfMemory: the most bytes of memory for the derivation of a key; nil for the usual limit.
  ///   - kept: a text that keeps a copy of the source's only file.
  static func read(
    _ source: ImportSource, as format: String?, kdfMemory: Int?, _ answers: ImportAnswers,
    keeping kept: SourceText? = nil
  ) throws(Failure) -> Content {
    let program = try ImportProgram(ImportProgram.reading(kdfMemory: kdfMemory), keeping: kept)
    let advice = Self.advice(for: source, isNamed: format != nil)
    let format = format ?? source.kind.format?.rawValue
    try program.send(.begin(format: format))
    let sent = try source.send(to: program)
    try program.send(.read)
    var reader = ImportReader(program, answers, advice: advice)
    let found = try reader.readAll()
    if let format, found.name != format { throw ImportProgram.wrong }
    return Content(
      format: found, entries: reader.received.entries, isEncrypted: answers.hasAnswered || source.kind.format != nil,
      sent: sent)
  }

  private static func advice(for source: ImportSource, isNamed: Bool) -> String {
    if isNamed { return "leave --from out, and the format is recognized" }
    return source.kind == .folder ? "name one file of the folder, or the format by --from" : "--from names a format"
  }

  private mutating func readAll() throws(Failure) -> ImportedFormat {
    var progress = Progress()
    defer { progress.clear() }
    while true {
      switch try program.receive() {
      case .asks(let question):
        progress.clear()
        try answer(question)
        // The time in which a person types is not work.
        progress = Progress()
      case .format(let format): try received.take(format)
      case .entry(let entry):
        try received.take(entry)
        progress.show("read \(Counted.text(received.entries.count, "entry")) so far")
      case .field(let field, let value): try received.take(field, value)
      case .done(let totals): return try received.finish(totals)
      case .failed(let failure): throw ImportProgram.failure(failure, unknown: advice)
      }
    }
  }

  private mutating func answer(_ question: ImportQuestion) throws(Failure) {
    questions += 1
    guard questions <= Self.mostQuestions else { throw ImportProgram.wrong }
    switch try answers.answer(question) {
    case .some(let secret): try program.send(.secret, secret)
    case .none: try program.send(.noSecret)
    }
  }
}

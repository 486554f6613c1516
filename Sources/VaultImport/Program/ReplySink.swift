internal import VaultBytes
internal import VaultWire

/// The sink that sends to `vault` each entry that a reader finds.
struct ReplySink: EntrySink {
  /// The most entries. A file of 512 MiB could hold a hundred million that are empty.
  static let mostEntries = 1 << 20

  private let conversation: ImportConversation
  private var totals = ImportTotals()

  init(_ conversation: ImportConversation) { self.conversation = conversation }

  mutating func begin(_ format: ImportedFormat) throws(ImportFailure) { try conversation.send(.format(format)) }

  mutating func add(_ entry: Entry) throws(ImportFailure) {
    guard totals.entries < Self.mostEntries else {
      throw ImportFailure(.tooLarge, "there are more than \(Self.mostEntries) entries")
    }
    let fields = entry.fittingFields
    try conversation.send(.entry(entry.facts(fields: fields.count)))
    for field in fields {
      // Bytes have no padding.
      try conversation.send(.field(field.facts, value: SecretBuffer(copying: unsafe field.value.span.bytes)))
    }
    totals.entries += 1
    totals.fields += fields.count
  }

  /// Sends the end of the entries.
  func finish() throws(ImportFailure) {
    try conversation.send(.done(totals))
    try conversation.flush()
  }
}

import VaultBytes
import VaultWire

@testable import VaultImport

/// A sink that sends each entry to itself, as the program sends it to `vault`, and requires that it arrives whole.
struct FittingEntries: EntrySink {
  private(set) var format: ImportedFormat?
  private(set) var entries = 0

  mutating func begin(_ format: ImportedFormat) throws(ImportFailure) {
    precondition(self.format == nil && !format.name.isEmpty)
    self.format = format
  }

  mutating func add(_ entry: Entry) throws(ImportFailure) {
    precondition(format != nil)
    let fields = entry.fittingFields
    guard case .entry(let facts)? = Self.sent(.entry(entry.facts(fields: fields.count))) else {
      fatalError("an entry does not arrive")
    }
    precondition(facts.fieldCount == fields.count && facts.kind == entry.kind && facts.isTrashed == entry.isTrashed)
    for field in fields { Self.check(field) }
    entries += 1
  }

  private static func check(_ field: Field) {
    // Bytes have no padding.
    let value = SecretBuffer(copying: unsafe field.value.span.bytes)
    guard case .field(let facts, let arrived)? = sent(.field(field.facts, value: value)) else {
      fatalError("a field does not arrive")
    }
    precondition(facts == field.facts && arrived.withBytes { $0.array } == field.value)
    precondition(facts.refusal == nil ? facts.size == field.value.count : field.value.isEmpty)
  }

  private static func sent(_ reply: consuming ImportReply) -> ImportReply? {
    let frame = reply.frame()
    precondition(frame.count <= ImportReply.frameLimit)
    return frame.withBytes { bytes in
      // The NUL at the end is not part of the frame.
      guard let frame = try? Frame(parsing: bytes.extracting(droppingLast: 1)) else { return nil }
      return ImportReply(frame)
    }
  }
}

/// Reads files with a reader. Either each of its entries arrives, or the reader refuses the files with a reason that is
/// about them, and not about the program. Returns the number of entries; nil if they were refused.
func readFitting(_ reader: any SourceReader.Type, _ files: [Source.File]) -> Int? {
  let source = Source(files) { (_) throws(ImportFailure) in nil }
  _ = reader.recognizes(source)
  var sink = FittingEntries()
  do throws(ImportFailure) {
    try reader.read(source, into: &sink)
    precondition(sink.format != nil)
    return sink.entries
  } catch {
    precondition(!error.reason.isEmpty && error.code != .failed && error.code != .wrongSecret, error.reason)
    return nil
  }
}

func readFitting(_ reader: any SourceReader.Type, _ name: String, _ bytes: [UInt8]) -> Int? {
  readFitting(reader, [Source.File(name, bytes)])
}

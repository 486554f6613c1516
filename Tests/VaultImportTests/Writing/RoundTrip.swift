import VaultWire

@testable import VaultImport

/// The writing of entries, and the reading of what was written.
enum RoundTrip {
  /// The file.
  static func file(
    _ entries: [Entry], _ format: ExportOrder.Format, password: String? = "pw", memory: Int = 16
  ) throws(ImportFailure) -> [UInt8] {
    let bytes = WrittenBytes()
    let order = ExportOrder(format, name: "Vault", memory: password == nil ? nil : memory, time: 1_700_000_000)
    let output = ExportOutput { part throws(ImportFailure) in bytes.all += part }
    try format.writer.write(entries, order, password: password.map { Array($0.utf8) }, to: output)
    return bytes.all
  }

  private final class WrittenBytes { var all: [UInt8] = [] }

  /// The entries in a file.
  static func entries(
    in file: [UInt8], _ format: ExportOrder.Format, password: String? = "pw"
  ) throws(ImportFailure) -> [Entry] {
    let source = Source([Source.File("file", file)]) { question throws(ImportFailure) in
      question.kind == .password && !question.isAgain ? password.map { Array($0.utf8) } : nil
    }
    var found = RoundTripSink()
    switch format {
    case .kdbx: try KDBXReader.read(source, into: &found)
    case .bitwarden: try BitwardenReader.read(source, into: &found)
    }
    return found.entries
  }

  private struct RoundTripSink: EntrySink {
    var entries: [Entry] = []

    mutating func begin(_ format: ImportedFormat) throws(ImportFailure) {}
    mutating func add(_ entry: Entry) throws(ImportFailure) { entries.append(entry) }
  }

  /// An entry in words that are equal for equal entries: its place, and its fields in the order of their words. Times
  /// of fields that say nothing, and an identification that a writer added, are left out.
  static func words(_ entry: Entry, withID: Bool) -> [String] {
    let fields = entry.fields.filter { $0.role != .identifier }.map { field in
      let isTime = [.created, .modified, .expires].contains(field.role)
      let name = isTime || field.role == .tag || field.role == .title ? field.role.rawValue : field.name
      let time = field.time.map { " at \($0)" } ?? ""
      return "\(name) \(field.role.rawValue)\(time) \(field.refusal ?? "") \(field.mark ?? "") \(field.value)"
    }
    return ["\(entry.kind) \(entry.folder) \(entry.title) \(withID ? entry.id : "")"] + fields.sorted()
  }
}

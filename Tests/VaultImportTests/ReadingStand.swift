import Testing
import VaultWire

@testable import VaultImport

/// A sink that keeps what a reader finds.
struct ReadEntries: EntrySink {
  var format: ImportedFormat?
  var entries: [Entry] = []
  /// For each question for a secret, whether it was asked again.
  private(set) var questions: [Bool] = []

  mutating func begin(_ format: ImportedFormat) throws(ImportFailure) { self.format = format }
  mutating func add(_ entry: Entry) throws(ImportFailure) { entries.append(entry) }

  /// Reads files; `answer` gives the secrets that they need.
  init(
    _ reader: any SourceReader.Type, _ files: [Source.File], answer: (ImportQuestion) -> [UInt8]? = { _ in nil }
  ) throws(ImportFailure) {
    let asked = Asked()
    try withoutActuallyEscaping(answer) { answer throws(ImportFailure) in
      let source = Source(files) { question throws(ImportFailure) in
        asked.again.append(question.isAgain)
        return answer(question)
      }
      try reader.read(source, into: &self)
    }
    questions = asked.again
  }

  private final class Asked {
    var again: [Bool] = []
  }

  /// The first entry with a title; nil if there is none.
  func entry(_ title: String) -> Entry? { entries.first { $0.title == title } }

  /// Reads one file.
  init(_ reader: any SourceReader.Type, _ text: String, name: String = "a") throws(ImportFailure) {
    try self.init(reader, [Source.File(name, Array(text.utf8))])
  }

  /// The entries and, below each, its fields other than those that make its name.
  var told: [String] {
    entries.flatMap { entry in
      let fields = entry.fields.filter { ![.title, .folder, .identifier].contains($0.role) }
      return ["\(entry.kind.rawValue) \((entry.folder + [entry.title]).joined(separator: "/"))"]
        + fields.map { field in
          let value = field.refusal ?? String(validating: field.value, as: UTF8.self) ?? "\(field.value.count) bytes"
          return "  \(field.name) [\(field.role.rawValue)] \(value)"
        }
    }
  }
}

/// Reads every truncation of a file and the file with each bit flipped: whatever the reader says, it does not crash,
/// and each entry fits into a reply.
///
/// - Parameter form: makes the file of the damaged text, such as an archive around it.
func attack(
  _ reader: any SourceReader.Type, _ text: String, name: String = "a", in form: ([UInt8]) -> [UInt8] = { $0 }
) {
  let bytes = Array(text.utf8)
  func read(_ bytes: [UInt8]) {
    guard let found = try? ReadEntries(reader, [Source.File(name, form(bytes))]) else { return }
    for entry in found.entries {
      let fits = entry.fields.count <= ImportedEntry.most.fields && entry.folder.count <= ImportedEntry.most.folders
      #expect(fits && entry.fields.allSatisfy { $0.value.count <= ImportedField.longestValue })
    }
  }
  for count in 0...bytes.count { read(Array(bytes.prefix(count))) }
  for place in bytes.indices {
    for bit in 0..<8 {
      var damaged = bytes
      damaged[place] ^= 1 << bit
      read(damaged)
    }
  }
}

/// The reason why a reader refuses a text; nil if it reads it.
func refusal(_ reader: any SourceReader.Type, _ text: String) -> String? {
  do {
    _ = try ReadEntries(reader, text)
    return nil
  } catch { return error.reason }
}

/// True if the reader recognizes a text by itself.
func recognizes(_ reader: any SourceReader.Type, _ text: String, name: String = "a") -> Bool {
  reader.recognizes(Source([Source.File(name, Array(text.utf8))]) { (_) throws(ImportFailure) in nil })
}

import VaultWire

@testable import VaultImport

/// The values of a file with their places, in which a template can have the values of items.
enum PlacedValues {
  private struct Kept: EntrySink {
    var entries: [Entry] = []

    mutating func begin(_ format: ImportedFormat) {}
    mutating func add(_ entry: Entry) { entries.append(entry) }
  }

  private static func fields(_ reader: any SourceReader.Type, _ file: Source.File) -> [Field]? {
    var sink = Kept()
    do throws(ImportFailure) {
      try reader.read(Source([file]) { (_) throws(ImportFailure) in nil }, into: &sink)
      return sink.entries.flatMap(\.fields).filter { $0.place != nil }
    } catch { return nil }
  }

  /// Spells each value of a file anew between quotes, as a template of `vault import` may, and requires that the file
  /// is read with the same values then.
  static func check(_ reader: any SourceReader.Type, _ name: String, _ bytes: [UInt8]) {
    guard let fields = fields(reader, Source.File(name, bytes)) else { fatalError("a file is read once only") }
    // The fields have places, in any order.
    let sorted = fields.sorted { ($0.place?.range.lowerBound ?? 0) < ($1.place?.range.lowerBound ?? 0) }
    var (text, end): ([UInt8], Int) = ([], 0)
    for field in sorted {
      guard let place = field.place, place.range.lowerBound >= end, place.range.upperBound <= bytes.count else {
        fatalError("places lie outside of the file, or in each other")
      }
      text += bytes[end..<place.range.lowerBound]
      let written = bytes[place.range]
      text += written.elementsEqual(field.value) ? Array(written) : spelled(field.value, place.form)
      end = place.range.upperBound
    }
    text += bytes[end...]
    let again = self.fields(reader, Source.File(name, text))
    guard let again, again.count == fields.count, zip(again, fields).allSatisfy({ $0.value == $1.value }) else {
      fatalError("with its values spelled anew, the file is read as another")
    }
  }

  /// A text between double quotes.
  private static func spelled(_ value: [UInt8], _ form: ImportedPlace.Form) -> [UInt8] {
    guard let text = String(validating: value, as: UTF8.self) else { fatalError("a value is not UTF-8") }
    if form == .json { return JSONValue.string(text).json }
    var spelled = "\""
    for scalar in text.unicodeScalars {
      if (0x20...0x7E).contains(scalar.value), scalar != "\"", scalar != "\\" {
        spelled.unicodeScalars.append(scalar)
      } else {
        let digits = String(scalar.value, radix: 16)
        spelled += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      }
    }
    return Array((spelled + "\"").utf8)
  }
}

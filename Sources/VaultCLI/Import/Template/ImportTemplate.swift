internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The template of `vault inject` that gives a source back: the file of the source with an expression in place of each
/// value that the vault has as an item.
///
/// A value keeps its spelling where the vault has a form for it. Otherwise it is spelled in the form of the file's own
/// language that vault writes, which means the same.
struct ImportTemplate {
  /// A value of the source that an item holds.
  private struct Slot {
    let place: ImportedPlace
    let field: SourceField
    let item: String
  }

  /// The text of the template.
  private let text: SourceText
  /// The number of values that an expression stands for.
  let values: Int
  /// The number of values that no item holds, so that they stay in the template.
  let clear: Int
  /// The lines of the file whose values get another spelling.
  private(set) var respelled: [Int] = []

  /// Throws unless the source has places for values.
  static func check(_ content: ImportReader.Content) throws(Failure) {
    guard content.entries.contains(where: { $0.fields.contains { $0.facts.place != nil } }) else {
      throw Failure(
        .invalid, "there is no template of \(Printable.text(content.format.name)), or of a source without values",
        "leave --template out")
    }
  }

  /// Makes the template.
  ///
  /// - Parameter refused: the items that the vault did not take.
  init(_ source: SourceText, _ plan: ImportPlan, refused: Set<ObjectIdentifier>) throws(Failure) {
    var (slots, clear): ([Slot], Int) = ([], 0)
    for entry in plan.entries {
      for (field, place) in zip(entry.mapped.source.fields, entry.mapped.places) {
        guard let at = field.facts.place, place.fate == .value || place.fate == .beside else { continue }
        if let item = place.item, let name = entry.names[item], entry.leftOut == nil,
          !refused.contains(ObjectIdentifier(entry.mapped.items[item]))
        {
          slots.append(Slot(place: at, field: field, item: name))
        } else {
          clear += 1
        }
      }
    }
    slots.sort { $0.place.range.lowerBound < $1.place.range.lowerBound }
    (self.clear, values, text) = (clear, slots.count, SourceText())
    let expected = try append(slots, of: source)
    try compare(with: expected, slots)
  }

  /// Lends the text of the template.
  func withBytes<R>(_ body: (RawSpan) throws -> R) throws -> R { try text.bytes.withBytes { try body($0) } }

  /// Appends the source with its expressions; returns the text that the template must give.
  private mutating func append(_ slots: [Slot], of source: SourceText) throws(Failure) -> SecretBuffer {
    var template = SecretBuffer()
    var expected = SecretBuffer()
    var lines: [Int] = []
    try source.bytes.withBytes { bytes throws(Failure) in
      var end = 0
      for slot in slots {
        let range = slot.place.range
        // Nothing that the reader says is trusted.
        guard range.lowerBound >= end, range.upperBound <= bytes.byteCount else { throw ImportProgram.wrong }
        let before = bytes.extracting(end..<range.lowerBound)
        Template.quote(before, isBeforeAction: true, into: &template)
        expected.append(before)
        let spelling = try Spelling(slot.field, bytes.extracting(range), slot.place.form)
        spelling.append(slot.item, to: &template)
        spelling.text.withBytes { expected.append($0) }
        if spelling.isOther { lines.append(Span<UInt8>(_bytes: bytes).position(of: range.lowerBound).line) }
        end = range.upperBound
      }
      let rest = bytes.extracting(droppingFirst: end)
      Template.quote(rest, isBeforeAction: false, into: &template)
      expected.append(rest)
    }
    respelled = lines
    text.add(template)
    return expected
  }

  /// Checks that the template gives the expected text with the values of the source, which are those of the vault.
  private func compare(with expected: borrowing SecretBuffer, _ slots: [Slot]) throws(Failure) {
    var values: [ItemName: SourceField] = [:]
    for slot in slots { if let name = try? ItemName(slot.item) { values[name] = slot.field } }
    var copy = SecretBuffer()
    text.bytes.withBytes { copy.append($0) }
    let template: Template
    do throws(Template.Fault) { template = try Template(copy) } catch { throw Self.wrong }
    var rendered = SecretBuffer()
    for piece in template.pieces {
      switch piece {
      case .text(let place): template.source.withBytes { rendered.append($0.extracting(place)) }
      case .string(let string): rendered.append(unsafe string.span.bytes)  // Bytes have no padding.
      case .action(let action):
        guard let field = values[action.item.name] else { throw Self.wrong }
        do throws(Escape.Fault) {
          try field.value.withBytes { value throws(Escape.Fault) in
            if let escape = action.escapes.first {
              try escape.append(value, to: &rendered)
            } else {
              rendered.append(value)
            }
          }
        } catch { throw Self.wrong }
      }
    }
    guard rendered.isSame(as: expected) else { throw Self.wrong }
  }

  private static let wrong = Failure(
    .software, "the template would not give the file back, so it was not written", "report this")
}

extension ImportTemplate {
  /// The account of the template in words.
  var note: String {
    var text = "the template has \(Counted.text(values, "expression"))"
    if clear > 0 { text += "; \(Counted.text(clear, "value")) stayed in it in the clear" }
    if let first = respelled.first {
      text +=
        "; \(Counted.text(respelled.count, "value")) will be spelled in another way than in the file, "
        + (respelled.count == 1 ? "in line \(first)" : "the first in line \(first)")
    }
    return text
  }
}

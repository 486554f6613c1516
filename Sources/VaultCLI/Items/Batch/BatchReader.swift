internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The lines of `vault set --batch`. Each line is checked as far as that is possible without the vault.
struct BatchReader: ~Copyable {
  private var lines = InputLines(limit: 2 << 20)
  /// The first line of each item.
  private var places: [ItemName: Int] = [:]
  /// The number of items so far.
  private(set) var count = 0
  private let terms: BatchTerms

  init(_ terms: BatchTerms) { self.terms = terms }

  /// Returns the next item; nil at the end. Blank lines are skipped.
  mutating func next() throws(Failure) -> BatchLine? {
    while var line = try lines.next() {
      // Some editors begin a file with a byte order mark.
      if lines.number == 1, line.withBytes({ $0.hasByteOrderMark }) { line.removeFirst(3) }
      if BatchReader.isBlank(line) { continue }
      let number = lines.number
      do throws(BatchFault) {
        let next = try BatchLine.read(line, number: number, terms)
        try note(next)
        count += 1
        return next
      } catch {
        throw Failure(.invalid, "line \(number)\(error.text)", "correct it")
      }
    }
    return nil
  }

  /// Refuses a second item of the same name without an update. The vault would report such an item as already existing.
  private mutating func note(_ line: borrowing BatchLine) throws(BatchFault) {
    if let place = places[line.name] {
      if line.item.update == true { return }
      throw BatchFault(.name, "is also that of line \(place), and this line has no update")
    }
    places[line.name] = line.number
  }

  private static func isBlank(_ line: borrowing SecretBuffer) -> Bool {
    line.withBytes { bytes in
      let line = Span<UInt8>(_bytes: bytes)
      return line.indices.allSatisfy { line[$0] == 0x20 || line[$0] == 0x09 }
    }
  }
}

/// The rule that a line of `vault set --batch` breaks. The text quotes nothing of a value.
struct BatchFault: Error, Equatable {
  /// The message, to follow words such as `line 3`.
  let text: String

  /// The fault of a line of `count` bytes that is not an item at all.
  init(_ error: FrameError, count: Int) {
    var text = " is not \(error.isOfSyntax ? "JSON" : "a valid item"): \(error.reason)"
    // JSON that continues on the next line is faulty at the end of this line.
    if case .invalidJSON(count, _) = error { text += "; an item stands on one line, as `jq -c` writes it" }
    self.text = text
  }

  init(_ field: BatchField, _ reason: String) { text = ": `\(field.rawValue)` \(reason)" }

  private init(text: String) { self.text = text }

  /// The same fault, with the name of the item that the line describes.
  func of(_ item: ItemName) -> BatchFault { BatchFault(text: " (\(Printable.quoted(item.text)))\(text)") }

  /// The fault of a field with a value that it does not accept.
  init(wrong field: BatchField) { self.init(field, "must be \(field.allowed)") }

  /// The fault of a field whose text breaks a rule.
  init(_ field: BatchField, _ error: ValueError) { self.init(field, "is not valid: \(Printable.text(error.reason))") }

  /// The fault of an unknown field.
  init(unknown key: String) {
    let names = BatchField.allCases.map(\.rawValue)
    let list = names.dropLast().joined(separator: ", ")
    text = ": there is no field \(Printable.quoted(key)); the fields are \(list) and \(names[names.count - 1])"
  }
}

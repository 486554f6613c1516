internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The text of a template with the values of its items inserted.
struct Rendering: ~Copyable {
  /// The most bytes of a rendering.
  static let limit = 64 << 20

  let bytes: SecretBuffer
  /// The place of the value of each action of the template, in bytes.
  let places: [Range<Int>]
  /// The values that were inserted.
  let fetched: FetchedItems

  /// - Parameter name: the template's file, for an error.
  /// - Throws: ``Failure`` if a value cannot take the requested form, or the result is too large.
  init(_ template: borrowing Template, _ fetched: consuming FetchedItems, name: String) throws(Failure) {
    var bytes = SecretBuffer()
    var places: [Range<Int>] = []
    for piece in template.pieces {
      switch piece {
      case .text(let place): template.source.withBytes { bytes.append($0.extracting(place)) }
      case .string(let string): bytes.append(unsafe string.span.bytes)
      case .action(let action):
        let start = bytes.count
        do throws(Escape.Fault) { try Self.append(action, fetched, to: &bytes) } catch {
          throw Failure(
            .invalid, "\(action.position.text(in: name)): \(action.item.text) cannot be used there: \(error.reason)",
            "use another form, such as base64")
        }
        places.append(start..<bytes.count)
      }
      guard bytes.count <= Self.limit else {
        throw Failure(
          .invalid, "\(Printable.text(name)) gives more than \(Counted.size(Self.limit))", "split it into several files"
        )
      }
    }
    self.bytes = bytes
    self.fetched = fetched
    self.places = places
  }

  /// The version of each inserted item.
  var versions: [ItemName: Int] { fetched.versions }

  private static func append(
    _ action: Template.Action, _ fetched: borrowing FetchedItems, to bytes: inout SecretBuffer
  ) throws(Escape.Fault) {
    try fetched.withBytes(of: action.item) { value throws(Escape.Fault) in
      guard let last = action.escapes.last else { return bytes.append(value) }
      var form = SecretBuffer(copying: value)
      for escape in action.escapes.dropLast() {
        var next = SecretBuffer()
        try form.withBytes { value throws(Escape.Fault) in try escape.append(value, to: &next) }
        // Nested forms multiply the size.
        guard next.count <= limit else { throw Escape.Fault(reason: "it becomes more than \(Counted.size(limit))") }
        form = next
      }
      try form.withBytes { value throws(Escape.Fault) in try last.append(value, to: &bytes) }
    }
  }
}

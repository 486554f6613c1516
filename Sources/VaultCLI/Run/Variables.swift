internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The variables for a program, each with an item's value or with a text. A text may be a secret as well, which
/// somebody has put into a file.
struct Variables: ~Copyable {
  enum Source: Equatable {
    case item(ItemReference)
    /// A place among the texts.
    case text(Range<Int>)
  }

  struct Entry: Equatable {
    let name: String
    var source: Source
    /// The place in a file where the item is named; nil for a text, and for a definition outside files.
    var place: String?
  }

  /// The variables in the order of their first definition.
  private(set) var entries: [Entry] = []
  private var indices: [String: Int] = [:]
  private var texts = SecretBuffer()

  /// Defines a variable by an item; replaces an earlier definition.
  mutating func set(_ name: String, to item: ItemReference, at place: String? = nil) { set(name, .item(item), place) }

  /// Defines a variable by a text; replaces an earlier definition.
  mutating func set(_ name: String, to text: RawSpan) {
    let start = texts.count
    texts.append(text)
    set(name, .text(start..<texts.count), nil)
  }

  private mutating func set(_ name: String, _ source: Source, _ place: String?) {
    let entry = Entry(name: name, source: source, place: place)
    if let index = indices[name] {
      entries[index] = entry
    } else {
      indices[name] = entries.count
      entries.append(entry)
    }
  }

  /// Returns the first place in a file that has the reference.
  func place(of item: ItemReference) -> String? {
    entries.lazy.compactMap { entry in entry.source == .item(item) ? entry.place : nil }.first
  }

  /// The items that the variables need.
  var items: [ItemReference] {
    entries.compactMap { entry in
      if case .item(let item) = entry.source { item } else { nil }
    }
  }

  /// Lends the value of a variable to `body`. The bytes must not leave the closure.
  borrowing func withValue<R: ~Copyable, E: Error>(
    of entry: Entry, _ fetched: borrowing FetchedItems, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    switch entry.source {
    case .item(let item): try fetched.withBytes(of: item, body)
    case .text(let place): try texts.withBytes { bytes throws(E) in try body(bytes.extracting(place)) }
    }
  }
}

extension Span<UInt8> {
  /// Returns true if `byte` is among these bytes.
  func contains(_ byte: UInt8) -> Bool {
    for index in indices where self[index] == byte { return true }
    return false
  }
}

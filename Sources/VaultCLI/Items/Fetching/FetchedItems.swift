internal import VaultBytes
internal import VaultModel
internal import VaultWire

/// The values and fields that a command has fetched, each once, in one piece of memory that wipes itself.
struct FetchedItems: ~Copyable {
  private var bytes = SecretBuffer()
  private var places: [ItemReference: Range<Int>] = [:]
  /// The version of each item of which a value or a field was fetched.
  private(set) var versions: [ItemName: Int] = [:]

  /// Returns a copy with the same content.
  borrowing func copy() -> FetchedItems {
    var copy = FetchedItems()
    copy.bytes = bytes.withBytes { SecretBuffer(copying: $0) }
    (copy.places, copy.versions) = (places, versions)
    return copy
  }

  mutating func add(_ reference: ItemReference, version: Int, _ content: RawSpan) {
    let start = bytes.count
    bytes.append(content)
    places[reference] = start..<bytes.count
    versions[reference.name] = version
  }

  /// Lends a fetched value or field to `body`. The bytes must not leave the closure.
  borrowing func withBytes<R: ~Copyable, E: Error>(
    of reference: ItemReference, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    guard let place = places[reference] else { preconditionFailure("it was not fetched") }
    return try bytes.withBytes { bytes throws(E) in try body(bytes.extracting(place)) }
  }
}

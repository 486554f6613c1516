internal import VaultWire

/// The collections of an account. One is a folder; it lists its items by their ids and may contain others.
struct CXFCollections {
  /// The most collections, the most bytes of their paths and of what else they have, and the most links to items, in an
  /// account.
  private static let most = (collections: 1 << 16, bytes: 64 << 20, links: 1 << 20)

  /// The path of each collection.
  private var paths: [[String]] = []
  /// The indices of the collections of each item, by its id.
  private var places: [String: [Int32]] = [:]
  private var (links, bytes) = (0, 0)
  /// The descriptions, times, extensions and the like of collections.
  private var others: [(name: String, value: [UInt8], isDocument: Bool)] = []

  /// The paths of the collections that contain an item.
  subscript(item: String) -> [[String]] { places[item]?.map { paths[Int($0)] } ?? [] }

  mutating func read(_ reader: inout JSONReader) throws(ImportFailure) {
    try reader.arrayOrNull { reader throws(ImportFailure) in try add(try reader.value()) }
  }

  /// Adds a collection with those in it. The depth of JSON bounds theirs.
  private mutating func add(_ collection: JSONValue) throws(ImportFailure) {
    var waiting: [(value: JSONValue, path: [String])] = [(collection, [])]
    while let (value, outer) = waiting.popLast() {
      guard paths.count < Self.most.collections else {
        throw ImportFailure(.tooLarge, "the exchange has more than \(Self.most.collections) collections")
      }
      let title = value["title"]?.string ?? ""
      let path = outer + [title.isEmpty ? "collection" : title]
      let index = paths.count
      paths.append(path)
      try take(path.reduce(0) { $0 + $1.utf8.count })
      for member in value.members {
        switch member.name {
        case "id", "title": break
        case "items" where member.value.isArray: for link in member.value.elements { try add(link, to: index) }
        case "subCollections" where member.value.isArray:
          waiting += member.value.elements.reversed().map { ($0, path) }
        default: try addOther(member, of: path)
        }
      }
    }
  }

  private mutating func take(_ count: Int) throws(ImportFailure) {
    bytes += count
    guard bytes <= Self.most.bytes else {
      throw ImportFailure(.tooLarge, "the collections have more than \(Self.most.bytes >> 20) MiB")
    }
  }

  private mutating func addOther(_ member: JSONValue.Member, of path: [String]) throws(ImportFailure) {
    guard !member.value.isBlank else { return }
    let name = "\(member.name) of \(path.joined(separator: "/"))"
    let isDocument = member.value.isObject || member.value.isArray
    let value = member.value.string.map { Array($0.utf8) } ?? member.value.json
    try take(name.utf8.count + value.count)
    others.append((name, value, isDocument))
  }

  /// Adds a link: an object with the id of the item, or this id alone, as drafts of the format have it.
  private mutating func add(_ link: JSONValue, to index: Int) throws(ImportFailure) {
    guard let id = link.string ?? link["item"]?.string, let short = Int32(exactly: index) else { return }
    links += 1
    guard links <= Self.most.links else {
      throw ImportFailure(.tooLarge, "the collections have more than \(Self.most.links) items")
    }
    if places[id]?.last != short { places[id, default: []].append(short) }
  }

  /// Adds what the collections say of themselves: the times and the description as settings, and extensions whole.
  func addRest(to entry: inout Entry) {
    for (name, value, isDocument) in others {
      entry.put(name, isDocument ? .document : .setting, value, mediaType: isDocument ? Entry.jsonType : nil)
    }
  }
}

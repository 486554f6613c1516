/// The names that a search covers: all, those in a folder, or one. Two areas are equal if their texts are
/// equal byte by byte.
public enum SearchArea: Hashable, Sendable {
  case everything
  case folder(String)
  case name(ItemName)

  /// The names that a pattern can match.
  public init(of pattern: ItemPattern) {
    if pattern.isExact, let name = try? ItemName(pattern.text) {
      self = .name(name)
    } else {
      self = pattern.folder.map { .folder($0) } ?? .everything
    }
  }

  /// True if all names of `other` are in this area.
  public func contains(_ other: SearchArea) -> Bool {
    switch (self, other) {
    case (.everything, _): true
    case (_, .everything): false
    case (.folder(let outer), .folder(let inner)):
      inner.utf8.elementsEqual(outer.utf8) || (try? ItemName(inner))?.isWithin(outer) == true
    case (.folder(let folder), .name(let name)): name.isWithin(folder)
    case (.name(let one), .name(let other)): one == other
    case (.name, .folder): false
    }
  }

  /// The names in both areas; nil if there can be none.
  public func intersection(_ other: SearchArea) -> SearchArea? {
    if contains(other) { return other }
    return other.contains(self) ? self : nil
  }

  /// Returns areas that cover the same names without overlap, in an order that depends on nothing but the areas.
  public static func disjoint(_ areas: [SearchArea]) -> [SearchArea] {
    let unique = Set(areas)
    if unique.contains(.everything) { return [.everything] }
    return unique.filter { area in !area.folders.contains { unique.contains(.folder($0)) } }.map {
      (key: $0.key, area: $0)
    }
    .sorted { $0.key < $1.key }.map(\.area)
  }

  /// The folders that contain the whole area, without the area itself.
  private var folders: [String] {
    switch self {
    case .everything: []
    case .folder(let folder): (try? ItemName(folder))?.folders ?? []
    case .name(let name): name.folders
    }
  }

  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.everything, .everything): true
    case (.folder(let left), .folder(let right)): left.utf8.elementsEqual(right.utf8)
    case (.name(let left), .name(let right)): left == right
    case (.everything, _), (.folder, _), (.name, _): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .everything: hasher.combine(0)
    case .folder(let folder):
      hasher.combine(1)
      hasher.combine(bytesOf: folder)
    case .name(let name):
      hasher.combine(2)
      hasher.combine(name)
    }
  }

  /// A number that identifies the area in the position from which a search continues: the 64-bit FNV-1a hash of its
  /// text. If two areas of a search have the same number, the continued search looks at some matches again, or misses
  /// some.
  public var key: UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func add(_ text: String, _ kind: UInt8) {
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
      hash = (hash ^ UInt64(kind)) &* 0x100_0000_01B3
    }
    switch self {
    case .everything: return 0
    case .folder(let folder): add(folder, 1)
    case .name(let name): add(name.text, 2)
    }
    return hash
  }
}

/// An enumeration whose cases people and programs write by name.
public protocol Named: CaseIterable {
  /// The name that people and programs write.
  var name: String { get }
}

extension Named {
  /// The case with that name, or `nil`.
  public init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

/// Cases that people and programs write by their names.
public protocol Named: CaseIterable {
  /// The name people and programs write.
  var name: String { get }
}

extension Named {
  /// The case with that name, or `nil`.
  public init?(name: String) {
    guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = found
  }
}

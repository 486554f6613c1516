import Testing
import VaultStore

extension VaultError {
  var isCorrupt: Bool {
    switch self {
    case .corrupt, .distrusted: true
    default: false
    }
  }
  var isInvalidValue: Bool {
    switch self {
    case .invalidValue, .needsAnotherItem: true
    default: false
    }
  }
  var isPermissions: Bool { if case .permissions = self { true } else { false } }
  var isOfSecondStore: Bool { if case .secondStore = self { true } else { false } }
  var isStorage: Bool { if case .storage = self { true } else { false } }
}

/// Expects that `body` throws an error of one kind, regardless of its text.
func expect(
  _ kind: (VaultError) -> Bool, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
  do {
    try body()
    Issue.record("nothing was thrown", sourceLocation: sourceLocation)
  } catch let error as VaultError {
    #expect(kind(error), "\(error)", sourceLocation: sourceLocation)
  } catch {
    Issue.record(error, sourceLocation: sourceLocation)
  }
}

/// Expects that `body` finds the store corrupt.
func expectCorrupt(sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void) {
  expect(\.isCorrupt, sourceLocation: sourceLocation, body)
}

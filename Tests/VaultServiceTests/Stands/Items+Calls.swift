import VaultCore
import VaultModel

@testable import VaultService

/// Calls for a value, as most tests make them: of the current version, without further terms.
extension Items {
  /// Returns all deposits that wait or are kept aside.
  func deposits() throws(Refusal) -> [ToldDeposit] {
    var (found, after): ([ToldDeposit], Int?) = ([], 0)
    while let number = after {
      let page = try deposits(after: number, limit: 100)
      found += page.told
      after = page.next
    }
    return found
  }

  func get(
    _ name: ItemName, version: Int? = nil, for caller: Caller, _ said: Said = Said(),
    _ answer: (ItemInfo, Int, RawSpan) -> Void
  ) throws(Refusal) -> Wait? {
    try get(Reading(name, version: version, for: caller, said), answer)
  }

  func code(
    _ name: ItemName, for caller: Caller, _ said: Said = Said(), _ answer: (borrowing MadeCode) -> Void
  ) throws(Refusal) -> Wait? {
    try code(Reading(name, for: caller, said), answer)
  }

  func issue(
    _ name: ItemName, _ wanted: WantedToken, for caller: Caller, _ answer: (borrowing MadeToken) -> Void
  ) throws(Refusal) -> Wait? {
    try issue(Reading(name, for: caller), wanted, nil, answer)
  }

  func verify(
    _ token: borrowing SecureBytes, of name: ItemName, for caller: Caller, _ answer: (CheckedToken) -> Void
  ) throws(Refusal) -> Wait? {
    try verify(token, Reading(name, for: caller), answer)
  }
}

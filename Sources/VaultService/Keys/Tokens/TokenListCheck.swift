internal import VaultCore
internal import VaultModel
internal import VaultSigning
internal import VaultStore

/// The check of a value that is to be the list of an item's revoked tokens. A value that is no list would end all
/// tokens of the item: while the list cannot be read, no token is found valid.
struct TokenListCheck {
  /// The end of the names of lists.
  static let ending = ".revoked"

  private let name: ItemName

  /// Determines whether a value of the item of this name must be a list; nil if it need not.
  ///
  /// For somebody who may not know whether there is an item with tokens for this list, each name with that ending is
  /// one of a list: a refusal must not tell.
  ///
  /// - Parameters:
  ///   - permit: returns the rights of whoever gives the value on the item of a name.
  ///   - item: returns the item of a name; nil if there is none.
  init?(_ name: ItemName, _ permit: (ItemName) -> Permit, _ item: (ItemName) -> ItemInfo?) {
    let (text, ending) = (name.text.utf8, Self.ending.utf8)
    guard text.count > ending.count, text.suffix(ending.count).elementsEqual(ending),
      let owner = try? ItemName(String(name.text.dropLast(Self.ending.count)))
    else { return nil }
    let permit = permit(owner)
    self.name = name
    guard permit.tellsOfAny else { return }
    if let found = item(owner), permit.tells(found.policy.accessible) {
      guard found.use == .jwt else { return nil }
    } else if permit.tellsOfAll {
      return nil
    }
  }

  /// The fault of a value; nil if it is a list.
  func fault(of value: RawSpan) -> String? {
    do throws(RevocationProblem) {
      _ = try RevocationList(parsing: value)
      return nil
    } catch { return Self.sentence(error, name) }
  }

  /// The fault of a value that is generated: a list never is.
  var faultOfGenerated: String {
    Self.sentence(RevocationProblem("a generated value is not a list of revoked tokens"), name)
  }

  /// A problem with the list of this name, as a sentence that names the list.
  static func sentence(_ problem: RevocationProblem, _ list: ItemName) -> String {
    "\(Printable.quoted(list.text)): \(problem.reason)"
  }

  /// A problem with the stored list of this name, as a sentence that says what it means and what ends it.
  static func sentence(stored problem: RevocationProblem, _ list: ItemName) -> String {
    "\(sentence(problem, list)), and no token counts until it is replaced or deleted"
  }
}

extension Items {
  /// The check for a value that a caller gives the item of this name; nil if it need not be a list of revoked tokens.
  func tokenList(_ name: ItemName, for caller: Caller) -> TokenListCheck? {
    TokenListCheck(name, { access.permit(caller, on: $0) }, { try? item($0) })
  }

  /// The obstacle that the value of a deposit is: one that must be a list of revoked tokens, and is none.
  func judge(_ depositor: Depositor, _ deposited: DepositedItem, _ value: RawSpan) -> DepositObstacle? {
    let list = TokenListCheck(deposited.name, { access.permit(depositor, on: $0) }, { try? item($0) })
    return list?.fault(of: value) == nil ? nil : .noList
  }

  /// Checks a stored value that is to become the value of the item of this name.
  ///
  /// - Parameters:
  ///   - version: the version of the value; nil for the current one.
  ///   - source: the name of the item that has the value.
  ///   - id: that item, for the entry of the call, once it is known.
  /// - Throws: the refusal if the value must be a list of revoked tokens, and is none.
  func checkList(
    _ name: ItemName, _ version: Int? = nil, of source: ItemName, for caller: Caller, _ id: inout ItemID?
  ) throws(Refusal) {
    guard let list = tokenList(name, for: caller) else { return }
    let keychain = try vault.keychain()
    let fault: String?
    do throws(VaultError) {
      fault = try keychain.withValue(
        of: source, version: version, now: vault.clock.wall(), evenExpired: true
      ) { item, _, value in
        id = item.id
        return list.fault(of: value)
      }
    } catch { throw refusal(error, source, &id) }
    if let fault { throw .invalidValue(kind: "", reason: fault) }
  }
}

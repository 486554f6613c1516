internal import VaultCore
internal import VaultModel
internal import VaultSigning
internal import VaultStore

/// The check of a value that is to be the list of an item's revoked tokens. A value that is no list would end all
/// tokens of the item: while the list cannot be read, no token is found valid.
struct TokenListCheck {
  /// The end of the names of lists.
  static let ending = ".revoked"

  /// The item whose tokens a list may be for.
  enum Owner {
    case item(ItemInfo)
    case none
    /// Nobody can tell now whether there is such an item: names are hidden, or it cannot be read.
    case unknown
  }

  private let name: ItemName

  /// Determines whether a value of the item of this name must be a list; nil if it need not.
  ///
  /// Every name with the ending of lists counts as the name of a list while nobody can tell whether an item with tokens
  /// belongs to it. The same holds for a caller who may not know of that item, because a refusal must not reveal it.
  ///
  /// - Parameters:
  ///   - permit: returns the rights of whoever gives the value on the item of a name.
  ///   - owner: returns the item of a name.
  init?(_ name: ItemName, _ permit: (ItemName) -> Permit, _ owner: (ItemName) -> Owner) {
    let (text, ending) = (name.text.utf8, Self.ending.utf8)
    guard text.count > ending.count, text.suffix(ending.count).elementsEqual(ending),
      let key = try? ItemName(String(name.text.dropLast(Self.ending.count)))
    else { return nil }
    let permit = permit(key)
    self.name = name
    guard permit.tellsOfAny else { return }
    switch owner(key) {
    case .item(let found): if permit.tells(found.policy.accessible), found.use != .jwt { return nil }
    case .none: if permit.tellsOfAll { return nil }
    case .unknown: break
    }
  }

  /// The fault of a value; nil if it is a list.
  func fault(of value: RawSpan) -> String? {
    do throws(RevocationProblem) {
      _ = try RevocationList(parsing: value)
      return nil
    } catch { return Self.sentence(error, name) }
  }

  /// The fault of a generated value, which is never a list.
  var faultOfGenerated: String {
    Self.sentence(RevocationProblem("a generated value is not a list of revoked tokens"), name)
  }

  /// A problem with the list of this name, as a sentence that names the list.
  static func sentence(_ problem: RevocationProblem, _ list: ItemName) -> String {
    "\(Printable.quoted(list.text)): \(problem.reason)"
  }

  /// A problem with the stored list of this name, as a sentence that states the consequence and the remedy.
  static func sentence(stored problem: RevocationProblem, _ list: ItemName) -> String {
    "\(sentence(problem, list)), and no token counts until it is replaced or deleted"
  }
}

extension Items {
  /// The check for a value that a caller gives the item of this name; nil if it need not be a list of revoked tokens.
  func tokenList(_ name: ItemName, for caller: Caller) -> TokenListCheck? {
    TokenListCheck(name, { access.permit(caller, on: $0) }, owner)
  }

  /// The obstacle to a deposit whose value must be a list of revoked tokens but is none; nil otherwise.
  func judge(_ depositor: Depositor, _ deposited: DepositedItem, _ value: RawSpan) -> DepositObstacle? {
    let list = TokenListCheck(deposited.name, { access.permit(depositor, on: $0) }, owner)
    return list?.fault(of: value) == nil ? nil : .noList
  }

  /// Checks the item that would be the list of the revoked tokens of an item with a new name. The list may have
  /// belonged to no item so far.
  ///
  /// - Throws: the refusal if that item is no list, because no token would count beside it. A caller who may not know
  ///   of it is not refused.
  func checkList(beside name: ItemName, for caller: Caller) throws(Refusal) {
    guard let keychain = vault.openKeychain, let list = try? Self.revocationList(of: name),
      let item = try? keychain.item(named: list), access.permit(caller, on: list).tells(item.policy.accessible)
    else { return }
    let known = try? known.list(list, keychain, vault.clock.wall())
    guard case .failure(let problem)? = known?.read else { return }
    throw .invalidValue(kind: "", reason: TokenListCheck.sentence(stored: problem, list))
  }

  private func owner(_ name: ItemName) -> TokenListCheck.Owner {
    guard let keychain = vault.openKeychain else { return .unknown }
    do throws(VaultError) { return .item(try keychain.item(named: name)) } catch {
      return error == .noSuchItem ? .none : .unknown
    }
  }

  /// A stored value that is to become the value of an item.
  enum StoredValue {
    /// The value of a version; nil for the current one.
    case version(Int?)
    /// The value of the item of that name that was deleted last, with the search for it.
    case trashed(TrashSearch)
  }

  /// Checks a stored value that is to become the value of the item of this name.
  ///
  /// - Parameters:
  ///   - source: the name of the item that has the value.
  ///   - id: that item, for the entry of the call, once it is known.
  /// - Throws: the refusal if the value must be a list of revoked tokens, and is none.
  func checkList(
    _ name: ItemName, _ value: StoredValue, of source: ItemName, for caller: Caller, _ id: inout ItemID?
  ) throws(Refusal) {
    guard let list = tokenList(name, for: caller) else { return }
    let keychain = try vault.keychain()
    let fault: String?
    do throws(VaultError) {
      switch value {
      case .version(let version):
        fault = try keychain.withValue(
          of: source, version: version, now: vault.clock.wall(), evenExpired: true
        ) { item, _, value in
          id = item.id
          return list.fault(of: value)
        }
      case .trashed(let search): fault = try keychain.withTrashedValue(of: source, found: search, list.fault)
      }
    } catch { throw refusal(error, source, &id) }
    if let fault { throw .invalidValue(kind: "", reason: fault) }
  }
}

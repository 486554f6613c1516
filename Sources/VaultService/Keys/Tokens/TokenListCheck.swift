internal import VaultModel
internal import VaultSigning

/// The check of a value that is to be the list of an item's revoked tokens. A value that is no list would end all
/// tokens of the item: while the list cannot be read, no token is found valid.
struct TokenListCheck {
  /// The end of the names of lists.
  static let ending = ".revoked"

  private let name: ItemName

  fileprivate init(_ name: ItemName) { self.name = name }

  /// The fault of a value; nil if it is a list.
  func fault(of value: RawSpan) -> String? {
    do throws(RevocationProblem) {
      _ = try RevocationList(parsing: value)
      return nil
    } catch { return Self.sentence(error, name) }
  }

  /// A problem with the list of this name, as a sentence that names the list.
  static func sentence(_ problem: RevocationProblem, _ list: ItemName) -> String {
    "\(Printable.quoted(list.text)): \(problem.reason)"
  }
}

extension Items {
  /// The check for a new value of the item of this name; nil if it need not be a list of revoked tokens.
  ///
  /// For a caller without any right on the item whose tokens would be revoked, each name with that ending is one of a
  /// list, whether there is such an item or not: a refusal must not tell.
  func tokenList(_ name: ItemName, for caller: Caller) -> TokenListCheck? {
    let (text, ending) = (name.text.utf8, TokenListCheck.ending.utf8)
    guard text.count > ending.count, text.suffix(ending.count).elementsEqual(ending),
      let owner = try? ItemName(String(name.text.dropLast(TokenListCheck.ending.count)))
    else { return nil }
    if access.permit(caller, on: owner).anywhere.isEmpty { return TokenListCheck(name) }
    return (try? item(owner))?.use == .jwt ? TokenListCheck(name) : nil
  }
}

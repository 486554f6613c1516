internal import VaultBytes
internal import VaultCore
internal import VaultModel
internal import VaultStore

// The secrets of sandboxed programs. They are items of the collection `login` that are served only to the portal.
extension Keyring {
  /// The bytes of a new secret, as many as GNOME Keyring makes.
  private static let appSecretBytes = 64

  /// Lends the secret of a program to `answer`. The secret is made if there is certainly none, because a second secret
  /// would make unreadable what the program has encrypted.
  package func secret(
    ofApp app: String, for caller: Caller, _ answer: (RawSpan) -> Void
  ) throws(KeyringFault) {
    let found = try find(app: app)?.name
    let name = if let found { found } else { try makeSecret(ofApp: app, for: caller) }
    let wait: Wait?
    do throws(Refusal) {
      wait = try items.get(Reading(name, for: caller, Said(purpose: Self.purpose(app)))) { _, _, value in
        answer(value)
      }
    } catch {
      throw KeyringFault(error)
    }
    if wait != nil { throw .isLocked }
  }

  /// Fulfills a wish.
  package func fulfill(_ wish: AppWish, for caller: Caller) throws(KeyringFault) {
    if hidesSecrets { throw .isLocked }
    try secret(ofApp: try wish.app(in: vault), for: caller, wish.answer)
  }

  /// Records that a wish has ended before it was fulfilled.
  package func drop(_ wish: AppWish, for caller: Caller) {
    vault.audit.record(.get, .cancelled, caller, detail: "a secret for the portal", said(for: wish))
  }

  /// The words that tell a person of a wish. They name the program as the portal names it, or no program if its id
  /// cannot be read now.
  package func said(for wish: AppWish) -> Said { Said(purpose: Self.purpose(app(of: wish))) }

  /// The id of the program that a wish is for; nil while the id cannot be read.
  func app(of wish: AppWish) -> String? { hidesSecrets ? nil : try? wish.app(in: vault) }

  private static func purpose(_ app: String?) -> String {
    switch app {
    case "": "to give a program outside of sandboxes its secret"
    case let app?: "to give the program \(app) its secret"
    case nil: "to give a sandboxed program its secret"
    }
  }

  /// True while nobody can tell whether there is a secret for a program: a second one must not be made.
  private var hidesSecrets: Bool { isShut || isUnrecorded || vault.hidesNames != false }

  /// True until the check of the store has shown whether an item that is not found was ever stored: somebody who edits
  /// the files may have taken the secret out. After a check that has failed, nothing is written in any case.
  var isUnchecked: Bool { !vault.isVerified && vault.openKeychain?.hasFailed != true }

  // MARK: Waits

  /// True if a caller lacks nothing for a wish now.
  func serves(_ wish: AppWish, _ caller: Caller) -> Bool {
    guard !hidesSecrets else { return false }
    do throws(KeyringFault) {
      guard let item = try find(app: try wish.app(in: vault)) else {
        return !isUnchecked && !isLocked(.login, for: caller)
      }
      return !isLocked(item, for: caller)
    } catch {
      return error != .isLocked
    }
  }

  /// The event that a caller has to wait for before a wish is fulfilled; nil if it can be, or never will be.
  func lack(_ wish: AppWish, _ caller: Caller, _ said: Said) throws(Refusal) -> Wait? {
    guard !hidesSecrets else { return .unlock }
    let found: ItemInfo?
    do throws(KeyringFault) { found = try find(app: try wish.app(in: vault)) } catch {
      return error == .isLocked ? .unlock : nil
    }
    if let found { return try lack(found, caller, said) }
    return try lack(.collection(.login), caller, said)
  }

  // MARK: Parts

  /// The item with the secret of a program; nil if there is certainly none. Of several, it is the first in the
  /// collection `login`, or else the first anywhere. An item that was moved elsewhere counts, too, because a second
  /// secret would make the program's data unreadable.
  private func find(app: String) throws(KeyringFault) -> ItemInfo? {
    guard !hidesSecrets, let keychain else { throw .isLocked }
    let query: Query
    do throws(ValueError) {
      query = Query(keyring: try KeyringAttributes(anyOfPortalApp: app))
    } catch {
      throw .limitsExceeded(.tooMuch(error.reason))
    }
    var first: ItemInfo?
    var place: Int64?
    repeat {
      let page: (items: [ItemInfo], next: Int64?)
      do throws(VaultError) {
        page = try keychain.find(query, limit: 256, after: place, now: vault.clock.wall())
      } catch {
        throw KeyringFault(vault.refusal(error, ""))
      }
      for item in page.items where item.isForPortal {
        if first.map({ Self.precedes(item, $0) }) ?? true { first = item }
      }
      place = page.next
    } while place != nil
    return first
  }

  private static func precedes(_ left: ItemInfo, _ right: ItemInfo) -> Bool {
    func place(_ item: ItemInfo) -> (Int, UInt64) {
      (CollectionID(of: item.name) == .login ? 0 : 1, item.keyring?.order ?? 0)
    }
    return place(left) < place(right)
  }

  private func makeSecret(ofApp app: String, for caller: Caller) throws(KeyringFault) -> ItemName {
    if isUnchecked || isLocked(.login, for: caller) { throw .isLocked }
    let type = "application/octet-stream"
    var facts = KeyringFacts(
      id: KeyringID.random(), order: 0, label: "Application key for \(app)", contentType: type)
    do throws(ValueError) { facts.attributes = try KeyringAttributes(portalApp: app) } catch {
      throw .limitsExceeded(.tooMuch(error.reason))
    }
    try Self.check(facts)
    facts.order = vault.nextKeyringOrder()
    let name = try Self.name(of: facts.id, in: .login)
    let value = Secret(SecretBox(RandomBytes.secret(count: Self.appSecretBytes)), contentType: type)
    try store(
      ItemChange(name: name, kind: .blob, keyring: facts, accessible: settings.accessible), value, caller)
    return name
  }
}

extension ItemInfo {
  /// True for the secret of a sandboxed program, which is served only to the portal.
  var isForPortal: Bool { keyring?.attributes.portalApp != nil }
}

@testable import VaultDaemon

/// A call of the Secret Service or of the portal, and the entries that the audit log has of it.
///
/// In an entry NAME stands for the call's name, ITEM and MADE for the item and the collection that were made for the
/// call, OTHER for one more item, and NEW for the number of something else that the call has made or found. An error
/// that the program gets comes last, after an arrow.
struct SecretCallRow {
  /// The name of the call, by which the gate records it.
  let name: String
  /// The call in Python, see ``SecretDoorStand/Step``.
  let interface, ready, path, values: String
  let isAnswered: Bool
  /// The entries of what the same process does before the call, if the vault is unlocked.
  let before: [String]
  /// Those if everything is locked to the process.
  let beforeLocked: [String]
  /// The entries if the program may do all that the call does.
  let allowed: [String]
  /// Those after a program has locked the vault.
  let locked: [String]
  /// Those for a program without a right to anything that there is.
  let confined: [String]
  /// Those while no entry can be written.
  let failed: [String]
  /// Those if the process ends once the call is begun.
  let left: [String]

  /// - Parameter locked: also what others have that are not given, but `left`.
  private init(
    _ name: String, _ interface: String, ready: String = "None", _ path: String, _ values: String = "",
    isAnswered: Bool = true, before: [String] = [], beforeLocked: [String]? = nil, allowed: [String],
    locked: [String]? = nil, confined: [String]? = nil, failed: [String]? = nil, left: [String]? = nil
  ) {
    (self.name, self.interface, self.ready, self.path, self.values) = (name, interface, ready, path, values)
    (self.isAnswered, self.before, self.beforeLocked) = (isAnswered, before, beforeLocked ?? before)
    (self.allowed, self.locked, self.confined) = (allowed, locked ?? allowed, confined ?? locked ?? allowed)
    (self.failed, self.left) = (failed ?? locked ?? allowed, left ?? allowed)
  }

  // The interfaces.
  private static let (service, collection) = ("org.freedesktop.Secret.Service", "org.freedesktop.Secret.Collection")
  private static let (item, session) = ("org.freedesktop.Secret.Item", "org.freedesktop.Secret.Session")
  private static let prompt = "org.freedesktop.Secret.Prompt"
  private static let (secret, request) = ("org.freedesktop.impl.portal.Secret", "org.freedesktop.impl.portal.Request")
  private static let properties = "org.freedesktop.DBus.Properties"

  // Entries of several calls, and an answer.
  private static let unlock = "call ok secret-service: Unlock"
  private static let found = "find ok secret-service/login/ITEM"
  private static let unset = ["set denied secret-service/login/ITEM", isLocked]
  private static let set = "set ok secret-service/login/ITEM"
  private static let search = "find ok keyring"
  /// Those of the portal's secret of a program that has none yet.
  private static let newSecret = ["set ok secret-service/login/NEW", "get ok secret-service/login/NEW"]
  private static let dropped = "get cancelled a secret for the portal"
  private static let refused = ["call locked NAME", isLocked]
  private static let isLocked = "→ IsLocked"

  static func row(_ call: SecretCall) -> SecretCallRow {
    switch call {
    case .openSession: .init("secret-service: OpenSession", service, "ROOT", "'sv', 'plain', ''", allowed: [])
    case .createCollection:
      .init(
        "secret-service: CreateCollection", service, "ROOT", "'a{sv}s', label('new'), ''",
        allowed: ["set ok secret-service/.collections/NEW"], locked: ["call ok NAME"])
    case .searchService:
      .init(
        "secret-service: SearchItems", service, "ROOT", "'a{ss}', attributes(c.name)", allowed: [search],
        failed: ["call ok NAME"])
    case .unlock:
      .init(
        "secret-service: Unlock", service, "ROOT", "'ao', [LOGIN, LOGIN]", allowed: ["call ok NAME"],
        left: ["call cancelled NAME"])
    case .lock:
      .init(
        "secret-service: Lock", service, "ROOT", "'ao', [LOGIN, LOGIN]",
        allowed: ["lock ok by a program through the Secret Service"], locked: ["call ok NAME"],
        confined: ["call denied NAME", "→ AccessDenied"], failed: ["lock ok by a program through the Secret Service"],
        left: ["call cancelled NAME"])
    case .getSecrets:
      .init(
        "secret-service: GetSecrets", service, "ROOT", "'aoo', [c.item, c.other], c.session",
        allowed: ["get ok secret-service/login/ITEM", "get ok secret-service/login/OTHER"],
        locked: ["get locked secret-service/login/ITEM", "get locked secret-service/login/OTHER"],
        confined: ["get denied secret-service/login/ITEM", "get denied secret-service/login/OTHER"],
        failed: ["call ok NAME"], left: ["get ok secret-service/login/ITEM"])
    case .readAlias: .init("secret-service: ReadAlias", service, "ROOT", "'s', 'default'", allowed: [])
    case .setAlias:
      .init(
        "secret-service: SetAlias", service, "ROOT", "'so', 'default', c.made",
        allowed: ["set ok secret-service/.collections/MADE"], locked: refused)
    case .deleteCollection:
      .init(
        "secret-service: Delete", collection, "c.made",
        allowed: ["delete ok secret-service/MADE/NEW", "delete ok secret-service/.collections/MADE"],
        locked: ["call ok NAME"], left: ["delete ok secret-service/MADE/NEW"])
    case .searchCollection:
      .init(
        "secret-service: SearchItems", collection, "LOGIN", "'a{ss}', attributes(c.name)", allowed: [search],
        failed: ["call ok NAME"])
    case .createItem:
      .init(
        "secret-service: CreateItem", collection, "LOGIN", "'a{sv}(oayays)b', properties(c.name), c.secret, True",
        allowed: [search, found, set], locked: refused)
    // A prompt goes on with what is locked.
    case .deleteItem:
      .init(
        "secret-service: Delete", item, "c.item", allowed: [found, "delete ok secret-service/login/ITEM"],
        locked: [found], confined: ["delete denied secret-service/login/ITEM"], failed: ["call ok NAME"])
    case .getSecret:
      .init(
        "secret-service: GetSecret", item, "c.item", "'o', c.session", allowed: ["get ok secret-service/login/ITEM"],
        locked: ["get locked secret-service/login/ITEM", isLocked],
        confined: ["get denied secret-service/login/ITEM", isLocked], failed: refused)
    case .setSecret:
      .init(
        "secret-service: SetSecret", item, "c.item", "'(oayays)', c.secret", allowed: [found, set],
        locked: ["set locked secret-service/login/ITEM", isLocked], confined: unset, failed: refused)
    case .closeSession: .init("secret-service: Close", session, "c.session", allowed: [])
    case .prompt:
      .init(
        "secret-service: Prompt", prompt, ready: "c.prompt()", "c.ready", "'s', ''", before: [unlock], allowed: [])
    case .dismiss:
      .init(
        "secret-service: Dismiss", prompt, ready: "c.prompt()", "c.ready", before: [unlock],
        allowed: ["call ok NAME"])
    // A call that waits ends with its program.
    case .retrieveSecret:
      .init(
        "portal: RetrieveSecret", secret, "PORTAL", "*c.wish(os.pipe()[1])", isAnswered: false, allowed: newSecret,
        locked: [dropped], confined: ["request ok secret-service/login/*: find, number N", dropped],
        failed: [dropped])
    // The call that is closed waits for room in its pipe, with the secret, or without it for an unlock.
    case .closeRequest:
      .init(
        "portal: Close", request, ready: "c.retrieve(full())", "c.handle", before: newSecret, beforeLocked: [],
        allowed: [], locked: [dropped])
    case .get:
      .init(
        "secret-service: properties", properties, "c.item", "'ss', SECRET + 'Item', 'Label'", allowed: [found],
        confined: ["find denied secret-service/login/ITEM", isLocked], failed: refused)
    case .getAll:
      .init(
        "secret-service: properties", properties, "LOGIN", "'s', SECRET + 'Collection'", allowed: [search],
        failed: ["call ok NAME"])
    case .set:
      .init(
        "secret-service: a property", properties, "c.item", "'ssv', SECRET + 'Item', 'Label', text('new')",
        allowed: [found, set], locked: [found, "set locked secret-service/login/ITEM", isLocked], confined: unset,
        failed: refused)
    }
  }
}

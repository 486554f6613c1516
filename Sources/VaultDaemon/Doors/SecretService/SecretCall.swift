internal import VaultService

/// The calls at this door, by their interfaces and names, and the terms on which each is answered.
enum SecretCall: String, CaseIterable {
  case openSession = "Service.OpenSession"
  case createCollection = "Service.CreateCollection"
  case searchService = "Service.SearchItems"
  case unlock = "Service.Unlock"
  case lock = "Service.Lock"
  case getSecrets = "Service.GetSecrets"
  case readAlias = "Service.ReadAlias"
  case setAlias = "Service.SetAlias"
  case deleteCollection = "Collection.Delete"
  case searchCollection = "Collection.SearchItems"
  case createItem = "Collection.CreateItem"
  case deleteItem = "Item.Delete"
  case getSecret = "Item.GetSecret"
  case setSecret = "Item.SetSecret"
  case closeSession = "Session.Close"
  case prompt = "Prompt.Prompt"
  case dismiss = "Prompt.Dismiss"
  case retrieveSecret = "Secret.RetrieveSecret"
  case closeRequest = "Request.Close"
  case get = "Properties.Get"
  case getAll = "Properties.GetAll"
  case set = "Properties.Set"

  private static let interfaces = ["org.freedesktop.Secret.", "org.freedesktop.impl.portal.", "org.freedesktop.DBus."]

  init?(_ interface: String, _ member: String) {
    guard let prefix = Self.interfaces.first(where: { interface.utf8.starts(with: $0.utf8) }) else { return nil }
    self.init(rawValue: "\(interface.dropFirst(prefix.count)).\(member)")
  }

  var terms: CallTerms {
    switch self {
    case .openSession: CallTerms("secret-service: OpenSession", needs: .nothing, entry: .ofRefusals)
    case .createCollection: CallTerms("secret-service: CreateCollection", needs: .logUnlessLocked, entry: .first)
    case .searchService, .searchCollection:
      CallTerms("secret-service: SearchItems", needs: .logUnlessLocked, entry: .first)
    // The calls that unlock and lock the vault need no log, as at the other doors. For a call with `logUnlessLocked`,
    // everything is locked while no entry can be written.
    case .unlock: CallTerms("secret-service: Unlock", needs: .nothing, entry: .first)
    case .lock: CallTerms("secret-service: Lock", needs: .nothing, entry: .first)
    case .prompt: CallTerms("secret-service: Prompt", needs: .nothing, entry: .ofRefusals)
    case .dismiss: CallTerms("secret-service: Dismiss", needs: .nothing, entry: .first)
    case .getSecrets: CallTerms("secret-service: GetSecrets", needs: .logUnlessLocked, entry: .first)
    // The answer is sent while the value is lent. The entry of the value comes right after that.
    case .getSecret: CallTerms("secret-service: GetSecret", needs: .logUnlessLocked, entry: .withValue)
    case .readAlias: CallTerms("secret-service: ReadAlias", needs: .nothing, entry: .ofRefusals)
    case .setAlias: CallTerms("secret-service: SetAlias", needs: .logUnlessLocked, entry: .first)
    case .deleteCollection, .deleteItem: CallTerms("secret-service: Delete", needs: .logUnlessLocked, entry: .first)
    case .createItem: CallTerms("secret-service: CreateItem", needs: .logUnlessLocked, entry: .first)
    case .setSecret: CallTerms("secret-service: SetSecret", needs: .logUnlessLocked, entry: .first)
    case .closeSession: CallTerms("secret-service: Close", needs: .nothing, entry: .ofRefusals)
    // The secret's own entries say what was done.
    case .retrieveSecret: CallTerms("portal: RetrieveSecret", needs: .logUnlessLocked, entry: .ofRefusals)
    case .closeRequest: CallTerms("portal: Close", needs: .nothing, entry: .ofRefusals)
    case .get, .getAll: CallTerms("secret-service: properties", needs: .logUnlessLocked, entry: .first)
    case .set: CallTerms("secret-service: a property", needs: .logUnlessLocked, entry: .first)
    }
  }

  /// The cost of a call. A search, and an answer with many secrets, are made in parts, each in a turn of its own.
  var cost: CallCost {
    switch self {
    // A person waits for an unlock or a lock. The list of a collection's items is made in parts, like a search.
    case .unlock, .lock, .readAlias, .getSecret, .closeSession, .prompt, .dismiss, .closeRequest, .get, .getAll:
      .answer
    case .createCollection, .setAlias, .deleteCollection, .createItem, .deleteItem, .setSecret, .set, .searchService,
      .searchCollection, .getSecrets:
      .work
    // Both compute with a private key or make a secret.
    case .openSession, .retrieveSecret:
      .work
    }
  }
}

internal import VaultBytes
internal import VaultClient
internal import VaultModel
internal import VaultWire

/// An import from another keyring: its items go into the vault in the order in which they were made, so that searches
/// find them in that order.
final class KeyringImport {
  /// The most bytes in one call, well below the 2 MiB of a frame; a single large item may still fill a frame.
  private static let chunk = 1 << 20
  /// The most attributes in one call, because a frame has room for only so many values.
  private static let attributes = 4096
  /// The schemas of items that are treated apart: the keys that vaults keep in a keyring, and the secrets of sandboxed
  /// programs, which look for them in the collection `login` alone.
  private static let (presence, portal) = ("io.vaultd.PresenceKey", "org.freedesktop.portal.Secret")

  /// An item in the other keyring.
  private struct Place {
    let collection: Int
    let item: Int
    let path: String
    let created: Int64
    /// The reason why it could not be read; nil if it could.
    let problem: String?
  }

  /// The items of one call.
  private struct Call: ~Copyable {
    var batch = Batch()
    /// The index among the account's parts of each item.
    var parts: [Int] = []
    var attributes = 0
  }

  private let session: Session
  private let keyring: OtherKeyring
  /// The items, in the order in which they are imported.
  private var places: [Place] = []
  /// The collections from which items come, by their numbers, with the reason why one is left out.
  private var collections: [(number: Int, problem: TransferAccount.Problem?)] = []
  /// The number of items that end with the session.
  private var ofSession = 0

  init(_ session: Session, _ keyring: OtherKeyring) { (self.session, self.keyring) = (session, keyring) }

  /// Unlocks the collections and finds their items.
  func find() throws(Failure) {
    for (number, collection) in keyring.collections.enumerated() {
      if collection.aliases.contains("session") {
        if case .success(let found) = try keyring.list(number) { ofSession += found.count }
        continue
      }
      if let problem = collection.problem {
        collections.append((number, TransferAccount.Problem(problem)))
        continue
      }
      guard collection.isLogin || collection.label.utf8.count <= ProviderCollection.longestLabel else {
        let reason = "its label has more than \(ProviderCollection.longestLabel) bytes"
        collections.append((number, TransferAccount.Problem(reason, isLasting: true)))
        continue
      }
      if collection.isLocked {
        if Keyboard.isAttended {
          Output.note("the other keyring asks you to unlock \(Printable.quoted(collection.label))")
        }
        if let failure = try keyring.unlock(number) {
          collections.append((number, TransferAccount.Problem("it is locked: \(failure.reason)")))
          continue
        }
      }
      switch try keyring.list(number) {
      case .success(let found):
        guard places.count + found.count <= ProviderReply.most.items else {
          let reason = "with its \(found.count) items there would be more than \(ProviderReply.most.items)"
          collections.append((number, TransferAccount.Problem(reason, isLasting: true)))
          continue
        }
        collections.append((number, nil))
        for (index, item) in found.enumerated() {
          places.append(
            Place(collection: number, item: index, path: item.path, created: item.created, problem: item.problem))
        }
      case .failure(let failure): collections.append((number, TransferAccount.Problem(failure.reason)))
      }
    }
    places.sort { one, other in
      if one.created != other.created { return one.created < other.created }
      // The last elements are usually ascending numbers.
      if one.path.utf8.count != other.path.utf8.count { return one.path.utf8.count < other.path.utf8.count }
      return one.path.utf8.lexicographicallyPrecedes(other.path.utf8)
    }
  }

  /// Imports the items, or only finds out what would be imported.
  func run(isTrial: Bool) throws(Failure) -> TransferAccount {
    var account = TransferAccount()
    do throws(Failure) {
      try run(isTrial, &account)
    } catch {
      guard !isTrial, account.stored > 0 else { throw error }
      throw Failure(error.exit, "\(error.message) (\(Counted.text(account.stored, "item")) copied before that)")
    }
    return account
  }

  private func run(_ isTrial: Bool, _ account: inout TransferAccount) throws(Failure) {
    var parts: [Int: Int] = [:]
    for (number, problem) in collections {
      let part: TransferAccount.Part
      if let problem {
        part = TransferAccount.Part(label: Self.title(keyring.collections[number]), problem: problem)
      } else {
        part = try takeIn(keyring.collections[number], isTrial, made: account.parts.count(where: \.isNew))
      }
      if part.problem == nil { parts[number] = account.parts.count }
      account.parts.append(part)
    }
    if ofSession > 0 { account.leaveOut("they end with the session", count: ofSession) }
    let progress = Progress()
    defer { progress.clear() }
    var call = Call()
    for (index, place) in places.enumerated() {
      guard let part = parts[place.collection] else { continue }
      progress.show(
        ProgressBar.text(isTrial ? "comparing" : "copying", index, of: places.count, " of \(places.count) items"))
      try add(place, part, &call, isTrial, &account)
    }
    try send(call, isTrial, &account)
  }

  /// The text by which people know a collection.
  private static func title(_ collection: ProviderCollection) -> String {
    collection.label.isEmpty ? collection.path : String(collection.label.unicodeScalars.prefix(256))
  }

  /// Finds or makes the vault's collection for a collection of the other keyring.
  ///
  /// - Parameter made: the number of collections that this run has made before, or would have made.
  private func takeIn(
    _ collection: ProviderCollection, _ isTrial: Bool, made: Int
  ) throws(Failure) -> TransferAccount.Part {
    var part = TransferAccount.Part(label: collection.label)
    let reply: Wire.ImportCollectionReply? = try session.unlocking { vault in
      do {
        return try vault.importCollection(
          collection.isLogin ? nil : collection.path, label: collection.label,
          isDefault: collection.aliases.contains("default"), trial: isTrial, made: made)
      } catch ClientError.fault(.tooMuch(let reason)) {
        part.problem = TransferAccount.Problem(reason, isLasting: true)
      } catch ClientError.fault(.invalidValue(_, let reason, _, _)) {
        part.problem = TransferAccount.Problem(reason, isLasting: true)
      }
      return nil
    }
    if let reply { (part.target, part.isNew, part.isDefault) = (reply.collection, reply.made, reply.default) }
    return part
  }

  /// Reads an item, and adds it to a call.
  private func add(
    _ place: Place, _ part: Int, _ call: inout Call, _ isTrial: Bool, _ account: inout TransferAccount
  ) throws(Failure) {
    let label = account.parts[part].label
    if let problem = place.problem {
      account.failed.append(.init(collection: label, label: place.path, reason: problem))
      return
    }
    switch try keyring.reply(to: .read(collection: place.collection, item: place.item)) {
    case .item(let content, let value):
      let item: Wire.ForeignItem
      do throws(ValueError) { item = try Self.item(content, place, account.parts[part].target, value.count) } catch {
        account.refused.append(.init(collection: label, label: content.label, reason: error.reason))
        return
      }
      if Self.has(content, Self.presence) { return account.leaveOut("keys that a vault keeps in this keyring") }
      let size = value.count * 2 + content.label.utf8.count
      if !call.parts.isEmpty,
        call.batch.byteCount + size > Self.chunk || call.parts.count >= CallLimits.items
          || call.attributes + content.attributes.count > Self.attributes
      {
        try send(call, isTrial, &account)
        call = Call()
      }
      call.batch.add(item, value: value)
      call.parts.append(part)
      call.attributes += content.attributes.count
    case .tooLarge(let name, let reason):
      account.refused.append(.init(collection: label, label: name, reason: reason))
    case .failed(let failure) where failure.code == .gone: account.leaveOut("they were deleted there meanwhile")
    case .failed(let failure):
      account.failed.append(.init(collection: label, label: place.path, reason: failure.reason))
    default: throw OtherKeyring.wrong
    }
  }

  /// The item as the vault takes it in. The program that read it is not trusted to have checked it.
  private static func item(
    _ content: ProviderContent, _ place: Place, _ target: String?, _ size: Int
  ) throws(ValueError) -> Wire.ForeignItem {
    guard size <= ValueLimits.bytes else {
      throw ValueError(reason: "its secret has \(size) bytes, more than \(ValueLimits.bytes)")
    }
    let (created, modified) = (time(content.created), time(content.modified))
    let facts = KeyringFacts(
      id: KeyringID(number: 0), order: 0, label: content.label, contentType: content.contentType,
      attributes: try KeyringAttributes(content.attributes.map { ($0.key, $0.value) }), created: created,
      modified: modified)
    try facts.validate()
    return Wire.ForeignItem(
      collection: has(content, portal) ? CollectionID.login.element : target, source: place.path,
      label: content.label, contentType: content.contentType, attributes: content.attributes, created: created,
      modified: modified)
  }

  /// A time that the other keyring tells; nil if it tells none, or one that the vault cannot keep.
  private static func time(_ time: Int64) -> Int64? { time > 0 && KeyringFacts.times.contains(time) ? time : nil }

  private static func has(_ content: ProviderContent, _ schema: String) -> Bool {
    content.attributes.contains { $0.key == ForeignItem.schema && $0.value == schema }
  }

  /// Stores the items of a call, in as many calls as the daemon needs.
  private func send(
    _ call: borrowing Call, _ isTrial: Bool, _ account: inout TransferAccount
  ) throws(Failure) {
    var done = 0
    while done < call.parts.count {
      let outcomes = try session.unlocking { vault in
        try vault.importItems(call.batch, done..<call.parts.count, trial: isTrial)
      }
      for word in outcomes {
        guard let outcome = ImportOutcome(rawValue: word) else {
          throw Failure(.software, "the daemon has a different version", "restart it, or update this program")
        }
        account.parts[call.parts[done]].counts[outcome, default: 0] += 1
        done += 1
      }
    }
  }
}

internal import VaultClient
internal import VaultModel
internal import VaultWire

/// The items of a helper's folder, as far as whoever runs the other program may have them.
///
/// A locked vault is a question where somebody is there to ask: a person at the terminal, or else an agent. Otherwise it is an
/// error at once, or after the time that `--wait` says.
struct HelperItems {
  private let session: Session
  /// The purpose, for a person who is asked to unlock.
  private let purpose: String
  private let wait: Duration?

  /// - Parameters:
  ///   - mayAsk: false where the other program has said that nobody is to be asked at the terminal.
  init(_ call: HelperCall, for purpose: String, mayAsk: Bool = true) throws(Failure) {
    session = try Session(socket: call.socket, system: call.system, startsDaemon: true)
    if !mayAsk { session.isAttended = false }
    self.purpose = purpose
    wait = call.waitSeconds.map { .seconds($0) }
  }

  // MARK: Reading

  /// The value of an item; nil when it is not there, or has expired.
  func value(_ name: String) throws(Failure) -> Value? {
    let asks = wait == nil && !session.isAttended
    return try present { vault in try vault.read(name, wait: wait, ask: asks) }
  }

  /// Everything about an item but its value; nil when it is not there.
  func item(_ name: String) throws(Failure) -> Wire.Item? { try present { vault in try vault.show(name) } }

  /// An item and its value, which belong together; nil when it is not there, or has expired.
  func entry(_ name: String) throws(Failure) -> Entry? {
    // Somebody may store another value between the two calls; nobody does so all the time.
    for _ in 1...3 {
      guard let item = try item(name) else {
        // Its name cannot be read before an unlock, perhaps.
        guard try value(name) != nil else { return nil }
        continue
      }
      guard let value = try value(name) else { return nil }
      if value.version == item.version { return Entry(item: item, value: value) }
    }
    throw Failure(.retry, "\(Printable.quoted(name)) changes all the time", "try again")
  }

  /// The value of an item that was found, with what is said about it; nil when it is gone, or has expired.
  func entry(of found: Wire.Item) throws(Failure) -> Entry? {
    guard let value = try value(found.name) else { return nil }
    return value.version == found.version ? Entry(item: found, value: value) : try entry(found.name)
  }

  /// The items in a folder, also those that have expired.
  func items(in folder: String) throws(Failure) -> [Wire.Item] {
    let query = "name~\(Predicates.quote(folder + "/**"))"
    let found = try session.unlocking(for: purpose) { vault in try vault.find(query) }
    guard found.isEmpty else { return found }
    // Nothing is found, too, while names cannot be read: to read one tells, and waits or asks for the unlock.
    _ = try value("\(folder)/\(NameSegment.encode(""))")
    return try session.call { vault in try vault.find(query) }
  }

  /// An item and its value.
  struct Entry: ~Copyable {
    let item: Wire.Item
    let value: Value
  }

  /// The answer of a call; nil when there is no such item, or it has expired.
  private func present<R: ~Copyable>(_ body: (Vault) throws -> R) throws(Failure) -> R? {
    try session.unlocking(for: purpose) { vault -> R? in
      do { return try body(vault) } catch ClientError.fault(.noSuchItem), ClientError.fault(.expired) { return nil }
    }
  }

  // MARK: Writing

  /// What is stored beside a value.
  struct About {
    /// The kind of a new item.
    var kind: ItemKind = .password
    /// The attributes that the helper keeps, nil for one that is not to be there; others stay.
    var attributes: [String: String?] = [:]
    /// The time at which the value stops being served, Unix seconds; nil means never.
    var expires: Int64?
  }

  /// Stores a value, unless it is there already: other programs store what they have just been given.
  ///
  /// A new item is nobody's but the caller's, unless a grant was made for its name before: who has one is told on standard
  /// error.
  ///
  /// - Returns: true when it took another value's place.
  @discardableResult
  func store(_ name: String, _ value: borrowing SecretBuffer, _ about: About) throws(Failure) -> Bool {
    do throws(NameError) { _ = try ItemName(name) } catch {
      throw Failure(Fault.invalidName(name: name, reason: error.reason, failed: nil))
    }
    let old = try item(name)
    var attributes = old?.attributes ?? [:]
    for (key, text) in about.attributes { attributes[key] = text }
    let isSame = old.map { $0.attributes == attributes && $0.expires == about.expires } ?? false
    if isSame, try holds(name, value) { return false }
    // All but the value is for administrators to change, so it is left out where it stays.
    let item = Wire.NewItem(
      name: name, kind: old == nil ? about.kind.rawValue : nil,
      attributes: old?.attributes == attributes ? nil : attributes,
      expires: old?.expires == about.expires ? nil : about.expires ?? 0, update: true)
    let stored = try session.unlocking(for: purpose) { vault in try vault.set(item, value: value) }
    if let others = stored.openTo, !others.isEmpty {
      Output.note("stored \(Printable.quoted(name))\(AccessChange.note(others))")
    }
    return old != nil
  }

  /// True when an item has this value, as far as that may be known.
  func holds(_ name: String, _ value: borrowing SecretBuffer) throws(Failure) -> Bool {
    do throws(Failure) {
      guard let old = try self.value(name) else { return false }
      return old.bytes.isEqual(to: value)
    } catch {
      // Who may set it need not be one who may have it.
      guard error.exit == .denied else { throw error }
      return false
    }
  }

  /// Deletes items; those that are gone already are no error. Where there is a trash, they go there.
  ///
  /// - Returns: false when there was none of them.
  @discardableResult
  func erase(_ names: [String]) throws(Failure) -> Bool {
    var isAny = false
    for name in names where try present({ vault in try vault.delete([name]) }) != nil { isAny = true }
    return isAny
  }
}

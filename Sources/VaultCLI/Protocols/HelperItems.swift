internal import Glibc
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
    let asks = wait == nil && !session.mayAsk
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

  /// The first of some names for which there is anything. Who may have nothing of a name may have it under another one.
  ///
  /// - Throws: the failure of any, or, where there is nothing, that of the first.
  func first<R: ~Copyable>(
    of names: [String], _ read: (String) throws(Failure) -> R?
  ) throws(Failure) -> R? {
    var denial: Failure?
    for (index, name) in names.enumerated() {
      // A spelling that is longer than the one which was asked for may be too long for a name.
      if index > 0, (try? ItemName(name)) == nil { continue }
      do throws(Failure) {
        if let found = try read(name) { return found }
      } catch {
        guard error.exit == .denied else { throw error }
        if index == 0 { denial = error }
      }
    }
    if let denial { throw denial }
    return nil
  }

  /// The name of the item that a place has already, in whichever of its spellings.
  ///
  /// - Parameter name: the item's name for a spelling.
  /// - Returns: nil where there is none.
  func stored(_ spelling: URLSpelling, _ name: (String) -> String) throws(Failure) -> String? {
    let names = spelling.all.map(name)
    do throws(Failure) {
      return try first(of: names) { name throws(Failure) in try item(name) == nil ? nil : name }
    } catch {
      // A caller that may set it need not be one that may find it.
      guard error.exit == .denied else { throw error }
      return names[0]
    }
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
  /// - Parameter folders: where the item that was stored last has to be told from the others.
  /// - Returns: true when it took another value's place.
  @discardableResult
  func store(
    _ name: String, _ value: borrowing SecretBuffer, _ about: About, lastIn folders: [String] = []
  ) throws(Failure) -> Bool {
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
    try outwait(folders, besides: name)
    let stored = try session.unlocking(for: purpose) { vault in try vault.set(item, value: value) }
    if let others = stored.openTo, !others.isEmpty {
      Output.note("stored \(Printable.quoted(name))\(AccessChange.note(others))")
    }
    return old != nil
  }

  /// Waits until the second is over in which another item of some folders was stored: items tell the second alone.
  private func outwait(_ folders: [String], besides name: String) throws(Failure) {
    for folder in folders {
      let query = "name~\(Predicates.quote(folder + "/**"))"
      // A caller that may store need not be one that may find.
      guard let found = try session.attempt({ vault in try vault.find(query) }) else { continue }
      let last = found.filter { $0.name != name }.map(\.modified).max() ?? 0
      // One of a clock that was turned back since is not waited for.
      while 0...1 ~= last - Int64(time(nil)) { usleep(10_000) }
    }
  }

  /// The refusal of an empty secret: what should have given it has failed, and it would take the place of another.
  func noSecret(for name: String) -> Failure {
    Failure(.invalid, "the secret is empty, so nothing was stored for \(Printable.quoted(name))")
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

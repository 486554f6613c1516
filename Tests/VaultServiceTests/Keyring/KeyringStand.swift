import VaultCore
import VaultModel

@testable import VaultService

/// The keyring of an unlocked vault, and programs that use it.
final class KeyringStand {
  let attendance: AttendanceStand
  private(set) var keyring: Keyring
  /// The events that programs were told of, in words.
  private(set) var told: [String] = []
  /// The paths that programs were told of because what they stand for was searched.
  private var searched: [KeyringPath] = []

  var rooms: RoomStand { attendance.rooms }
  var vault: Vault { rooms.vault }
  /// A program of the vault's owner.
  let program = AttendanceStand.process(50)

  /// - Parameter made: called with the path of the store before it is opened.
  init(_ settings: VaultSettings = VaultSettings(), made: (String) -> Void = { _ in }) throws {
    attendance = try AttendanceStand(settings, made: made)
    keyring = Keyring(attendance.rooms.rooms)
    connect()
  }

  private func connect() {
    keyring.isOn = true
    keyring.changed = { [unowned self] event in
      switch event {
      case .locks: told.append("locks")
      case .collections: told.append("collections")
      case .collection(let collection): told.append("\(collection.element) changed")
      case .items(let collection, _, let change): told.append("\(collection.element) \(change)")
      case .searched(let path, _): searched.append(path)
      }
    }
    vault.hooks.announce = { [attendance, unowned self] in
      attendance.attendance.happened($0)
      keyring.happened($0)
    }
  }

  /// Closes the store and opens it again, as a starting daemon does, without a key.
  func restart() throws {
    try rooms.restart(withBootKey: false)
    keyring = Keyring(attendance.rooms.rooms)
    connect()
  }

  func take() -> [String] {
    defer { told = [] }
    return told
  }

  static func secret(_ text: String, _ contentType: String = "text/plain") -> Keyring.Secret {
    Keyring.Secret(SecretBox(RoomStand.secret(Array(text.utf8))), contentType: contentType)
  }

  static func attributes(_ texts: [(key: String, value: String)]) throws -> KeyringAttributes {
    try KeyringAttributes(texts)
  }

  @discardableResult
  func make(
    _ text: String, _ label: String = "label", _ attributes: [(key: String, value: String)] = [],
    in collection: CollectionID = .login, by caller: Caller? = nil
  ) throws -> KeyringPath {
    try keyring.make(
      label, try Self.attributes(attributes), Self.secret(text), in: collection, replacing: nil,
      for: caller ?? program)
  }

  func value(_ path: KeyringPath, for caller: Caller? = nil) throws -> String {
    var value = ""
    try keyring.secret(path, for: caller ?? program, Said()) { type, bytes in
      value = "\(type) \(String(decoding: (0..<bytes.byteCount).map { bytes.unsafeLoad(at: $0) }, as: UTF8.self))"
    }
    return value
  }

  /// Makes the searches that paths stand for, and returns the paths that were told of.
  @discardableResult
  func match(_ paths: [KeyringPath], for caller: Caller? = nil) -> [KeyringPath] {
    searched = []
    keyring.match(paths, of: caller ?? program, in: Line(of: program.uid))
    rooms.run()
    return searched
  }

  /// Makes a search in parts of one page each, and returns its hits.
  func find(
    _ attributes: [(key: String, value: String)] = [], in collection: CollectionID? = nil, isExact: Bool = false,
    for caller: Caller? = nil
  ) throws -> [KeyringSearch.Hit] {
    let caller = caller ?? program
    var search = try keyring.search(try Self.attributes(attributes), in: collection, isExact: isExact, for: caller)
    while try !keyring.step(&search, until: 0, for: caller) {}
    return search.hits
  }
}

extension RawSpan {
  fileprivate func unsafeLoad(at offset: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
}

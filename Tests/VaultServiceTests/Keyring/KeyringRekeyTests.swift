import Testing
import VaultCore
import VaultModel

@testable import VaultService
@testable import VaultStore

@Suite("A rekey while programs wait for the keyring") struct KeyringRekeyTests {
  /// Gives the vault of a stand new keys.
  private static func rekey(_ stand: RoomStand) throws {
    let keychain = try stand.vault.keychain()
    let old = keychain.publicKey
    try stand.rekey()
    #expect(stand.rooms.upkeep.rekeyProgress == nil && keychain.publicKey != old)
  }

  @Test("keeps what they search for, and the labels that they give") func kept() throws {
    var settings = VaultSettings()
    settings.hideNames = true
    let stand = try KeyringStand(settings)
    let found = try stand.make("v", "x", [("a", "1")])
    let path = try stand.keyring.placeholder(
      for: try KeyringStand.attributes([("a", "1")]), in: nil, stand, stand.program)
    let terms = AskedCall.Terms(
      stand.program, .untilServed, about: AskedCall.About(.find, detail: "keyring prompt"), saying: { Said() },
      isStillAsking: { true })
    var ends: [KeyringPrompt.End] = []
    let prompt = try KeyringPrompt(
      .makeCollection(label: "Work", isStandard: false), stand.keyring, stand.rooms.rooms.asking, terms,
      Line(of: stand.program.uid), within: nil
    ) { ends.append($0) }
    let wish = try AppWish("org.example.App", stand.keyring) { _ in }
    let asked = try KeyringPrompt(
      .fulfill(wish), stand.keyring, stand.rooms.rooms.asking, terms, Line(of: stand.program.uid), within: nil
    ) { ends.append($0) }
    let before = stand.keyring.sealedSearch(at: path, of: stand.program)
    try Self.rekey(stand.rooms)
    let after = stand.keyring.sealedSearch(at: path, of: stand.program)
    #expect(before != nil && after != nil && before != after)
    #expect(stand.match([path]) == [path])
    #expect(try stand.keyring.resolve(path, for: stand.program) == found)
    #expect(asked.app == "org.example.App")
    prompt.begin()
    guard case .made(let collection)? = ends.first else {
      Issue.record("no collection was made: \(ends)")
      return
    }
    #expect(try stand.keyring.describe(collection, for: stand.program).label == "Work")
    asked.dismiss()
  }

  @Test("keeps the items of the session, whose key is in memory, also over a sleep that follows") func ofOpenSession()
    throws
  {
    let stand = try KeyringStand()
    let path = try stand.make("v", in: .session)
    try Self.rekey(stand.rooms)
    #expect(try stand.value(path) == "text/plain v")
    stand.vault.lock(because: .sleep)
    try stand.rooms.unlock(isRekeyed: true)
    #expect(try stand.value(path) == "text/plain v")
  }

  @Test("keeps the items of the session, whose key nobody has opened since a sleep") func ofSession() throws {
    let stand = try KeyringStand()
    let path = try stand.make("v", in: .session)
    stand.vault.lock(because: .sleep)
    try stand.rooms.unlock()
    try Self.rekey(stand.rooms)
    #expect(try stand.value(path) == "text/plain v")
  }
}

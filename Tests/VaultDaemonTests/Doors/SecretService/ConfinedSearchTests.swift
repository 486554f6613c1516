import Testing

@testable import VaultDaemon

@Suite("A search by a program that may find the items of one collection alone") struct ConfinedSearchTests {
  @Test("of all collections is answered with a locked path if it finds nothing there, whatever the others have")
  func everywhere() throws {
    let stand = try SecretDoorStand("")
    defer { stand.close() }
    try stand.confine(to: "secret-service/login/*", "get,set,find")
    func counts(_ name: String) -> String {
      "[len(paths) for paths in c.service('SearchItems', 'a{ss}', attributes('\(name)'))]"
    }
    // The other collections have an item `inside` each, and no collection has an item `none`.
    let answers = "[\(counts("inside")), \(counts("none")), \(counts("other"))]"
    let step = SecretDoorStand.Step(
      call: .searchCollection, interface: SecretServiceDoor.collectionName,
      ready: "1 / (\(answers) == [[0, 1], [0, 1], [1, 0]])", path: "LOGIN", values: "'a{ss}', attributes('none')")
    #expect(try stand.walk([step], .right).made[.searchCollection]?.error == "")
  }
}

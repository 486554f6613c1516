import Testing
import VaultCore
import VaultModel

@testable import VaultStore

@Suite("What stands directly in a folder") struct ChildWalkTests {
  private let items = [
    "iot/house/door", "iot/house/lamp", "iot/shed/lock", "iot/hub", "iot", "iot.old/x", "mail", "a*b/c", "a*b/[d]/e",
    "axb/f",
    "é/b", "e\u{301}/b", "deep/1/2/3/4",
  ]

  private func filled() throws -> (Fixture, Keychain) {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for (index, item) in items.enumerated() { try keychain.put(item, accessible: AccessClass.allCases[index % 3]) }
    return (fixture, keychain)
  }

  /// Returns all names of a walk, in order, and the number of items opened for them; with `steps`, the walk continues
  /// item by item.
  private func walk(
    _ prefix: String, in keychain: Keychain, steps: Bool = false, if decide: (ItemInfo) -> Decision = { _ in .allow }
  ) throws -> (names: [String], opened: Int) {
    let walk = ChildWalk(prefix: prefix)
    var names: [String] = []
    var opened = 0
    while true {
      let (more, isOver) = try keychain.children(walk, now: 2000) { item in
        opened += 1
        return decide(item)
      } isTimeUp: {
        steps
      }
      names += more
      if isOver { return (names, opened) }
    }
  }

  @Test(
    "are its items and, once each, the folders within it",
    arguments: [
      ("", ["iot/", "iot", "iot.old/", "mail", "a*b/", "axb/", "é/", "e\u{301}/", "deep/"]),
      ("iot", ["iot/", "iot", "iot.old/"]), ("iot/", ["iot/house/", "iot/shed/", "iot/hub"]),
      ("iot/h", ["iot/house/", "iot/hub"]),
      ("iot/house/", ["iot/house/door", "iot/house/lamp"]), ("a*b/", ["a*b/c", "a*b/[d]/"]), ("a*", ["a*b/"]),
      ("é", ["é/"]), ("deep/1/2/", ["deep/1/2/3/"]), ("mail/", []), ("nothing", []), ("/", []), ("//", []),
      ("iot//", []), ("iot/house/door/", []),
    ] as [(String, [String])], [false, true])
  func children(_ asked: (prefix: String, names: [String]), steps: Bool) throws {
    let (_, keychain) = try filled()
    let found = try walk(asked.prefix, in: keychain, steps: steps).names
    #expect(found.map { Array($0.utf8) } == asked.names.map { Array($0.utf8) })
  }

  @Test("no item of a folder that is known is opened", arguments: [false, true])
  func passesOver(steps: Bool) throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    for index in 0..<600 {
      try keychain.put("f\(index % 2)/\(index)", accessible: index % 5 == 0 ? .always : .whenUnlocked)
    }
    try keychain.put("f", accessible: .afterFirstUnlock)
    let (names, opened) = try walk("", in: keychain, steps: steps)
    #expect(names == ["f0/", "f1/", "f"])
    #expect(opened == 3)
  }

  @Test("an item that the caller may not find shows neither itself nor its folder, and others in that show it")
  func decided() throws {
    let (_, keychain) = try filled()
    let hidden = { (item: ItemInfo) -> Decision in item.name.text.hasSuffix("r") ? .refuse : .allow }
    #expect(try walk("iot/house/", in: keychain, if: hidden).names == ["iot/house/lamp"])
    #expect(try walk("iot/", in: keychain, if: hidden).names == ["iot/house/", "iot/shed/", "iot/hub"])
    #expect(try walk("iot/", in: keychain) { _ in .refuse }.names == [])
  }

  @Test("a walk that goes on in another area finds all there, and tells of no folder a second time")
  func areas() throws {
    let (_, keychain) = try filled()
    // The later areas lie in earlier rows, and the last two in a folder that was told of already.
    let areas: [SearchArea] = [
      .name(try name("iot/hub")), .folder("iot/shed"), .name(try name("iot/house/lamp")),
      .name(try name("iot/house/door")), .folder("iot/house"),
    ]
    let walk = ChildWalk(prefix: "iot/")
    var names: [String] = []
    for area in areas {
      walk.restart()
      let (more, isOver) = try keychain.children(walk, in: area, now: 2000, if: { _ in .allow }, isTimeUp: { false })
      #expect(isOver)
      names += more
    }
    #expect(names == ["iot/hub", "iot/shed/", "iot/house/"])
  }

  @Test("without the keys there are none, and with those of some classes their names alone") func keys() throws {
    let (fixture, keychain) = try filled()
    try keychain.close()
    let cold = try fixture.open()
    #expect(throws: VaultError.locked) { try self.walk("", in: cold) }
  }
}

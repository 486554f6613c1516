import Testing
import VaultCore
import VaultModel
import VaultStore

@Suite struct ClockTests {
  @Test("an item past its expiry is not served, unless asked for even so")
  func expiry() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", "one", expires: 5000)
    #expect(try keychain.text("a", now: 4999) == "one")
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 5000) }
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", version: 1, now: 5000) }
    #expect(try keychain.text("a", now: 5000, evenExpired: true) == "one")
    #expect(try keychain.item(named: name("a")).expires == 5000)
    #expect(try keychain.put("a", "two", expires: .some(nil), update: true, now: 6000) == 2)
    #expect(try keychain.text("a", now: 99999) == "two")
  }

  @Test("a clock that was turned back serves no expired item, also after reopening")
  func turnedBack() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      #expect(keychain.newestTime == 1000)
      try keychain.put("a", "one", expires: 5000)
      try keychain.put("b", "later", now: 7000)
      #expect(keychain.newestTime == 7000)
      #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 3000) }
    }
    let keychain = try fixture.open()
    #expect(keychain.newestTime == 0)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    #expect(keychain.newestTime == 7000)
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 3000) }
    try keychain.put("c", "early", now: 100)
    #expect(try keychain.item(named: name("c")).created == 7000)
    #expect(try keychain.names("created<1s", now: 100) == ["b", "c"])
  }

  @Test("a write of one class lets the others know the time, so that none serves what has expired")
  func shared() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for accessible in AccessClass.allCases {
        try keychain.put(accessible.name, accessible: accessible, expires: 5000)
      }
      try keychain.put("later", accessible: .always, now: 5030)
      // The other classes' records are not updated for less than a minute.
      try keychain.put("later still", accessible: .always, now: 5059)
    }
    let keychain = try fixture.unlocked()
    for accessible in AccessClass.allCases {
      #expect(throws: VaultError.expired(5000)) { try keychain.text(accessible.name, now: 1) }
    }
  }

  @Test("the time of a deletion is known like that of any other change")
  func deletion() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for text in ["a", "b"] { try keychain.put(text, expires: 5000) }
      try keychain.delete([name("b")], now: 7000)
      #expect(keychain.newestTime == 7000)
    }
    let keychain = try fixture.unlocked()
    #expect(keychain.newestTime == 7000)
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 3000) }
  }

  @Test("while a class's key is away its time stays, and the next write that has the key brings it up")
  func away() throws {
    let fixture = try Fixture()
    let keychain = try fixture.unlocked()
    try keychain.put("a", expires: 5000)
    keychain.lock(hidingNames: false)
    try keychain.put("b", accessible: .always, now: 9000)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try keychain.put("b", accessible: .always, update: true, now: 9001)
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 1) }
  }

  @Test("a time that a class is told of is known after a restart, and one that is known already is not written again")
  func learned() throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      try keychain.put("a", accessible: .always, expires: 5000)
      try keychain.learn(6000, .always)
      let generation = keychain.generation
      for time: Int64 in [6000, 5999, 1] { try keychain.learn(time, .always) }
      #expect(keychain.generation == generation && keychain.newestTime(of: .always, at: 1) == 6000)
    }
    let keychain = try fixture.unlocked()
    #expect(keychain.newestTime(of: .always, at: 1) == 6000)
    #expect(throws: VaultError.expired(5000)) { try keychain.text("a", now: 4000) }
    keychain.lock(hidingNames: false)
    #expect(throws: VaultError.locked) { try keychain.learn(7000, .whenUnlocked) }
    try keychain.learn(7000, .always)
    #expect(keychain.newestTime(of: .whenUnlocked, at: 1) < 7000 && keychain.newestTime(of: .always, at: 1) == 7000)
  }

  @Test(
    "a time that somebody changed is noticed, and then nothing is served that could have expired",
    arguments: [
      "UPDATE hashes SET record = CAST(substr(record, 1, 33) || zeroblob(8) || substr(record, 42) AS BLOB)",
      "UPDATE hashes SET record = zeroblob(length(record))", "DELETE FROM hashes",
    ])
  func forged(sql: String) throws {
    let fixture = try Fixture()
    do {
      let keychain = try fixture.unlocked()
      for accessible in [AccessClass.whenUnlocked, .always] {
        try keychain.put(accessible.name, accessible: accessible, expires: 5000, now: 4000)
        try keychain.put(accessible.name + " for ever", accessible: accessible, now: 6000)
      }
    }
    try fixture.sql(sql)
    let keychain = try fixture.open()
    func check(_ accessible: AccessClass) throws {
      #expect(keychain.integrity == .failed)
      expectCorrupt { _ = try keychain.text(accessible.name, now: 4500) }
      #expect(throws: VaultError.expired(5000)) { try keychain.text(accessible.name, now: 5500) }
      #expect(try keychain.text(accessible.name, now: 4500, evenExpired: true) == "value")
      #expect(try keychain.text(accessible.name + " for ever", now: 4500) == "value")
      expectCorrupt { try keychain.put("new", accessible: .always) }
    }
    try keychain.openAlways(bootKey: fixture.bootKey)
    try check(.always)
    try keychain.unlock(vaultKey: fixture.vaultKey)
    try check(.whenUnlocked)
    #expect(try !keychain.verify().isOK)
  }
}

import Testing

@testable import VaultCLI

@Suite("Users of the machine") struct AccountTests {
  private let passwd = """
    root:x:0:0:root:/root:/bin/bash
    broken:x
    zigbee:x:997:993::/var/lib/zigbee:/usr/sbin/nologin
    huge:x:4294967295:1::/:/bin/sh
    42:x:1042:1042::/home/42:/bin/sh
    twin:x:997:5::/:/bin/sh
    +nis::::::
    """
  private let group = """
    root:x:0:
    dialout:x:20:ana,zigbee
    gpio:x:986:zigbee
    zigbee:x:993:zigbee
    zig:x:7:zigb,zigbeex
    broken:x:8
    again:x:20:zigbee
    """

  private func find(_ text: String) throws -> Account { try Account(text, passwd: passwd, group: group) }

  @Test("a name has its groups, each once") func name() throws {
    let account = try find("zigbee")
    #expect(account.uid == 997 && account.gid == 993 && account.groups == [20, 986])
    #expect(account.name == "zigbee" && account.home == "/var/lib/zigbee")
  }

  @Test("a number is that user's, if there is one, and a name of digits comes first") func number() throws {
    #expect(try find("997") == (try find("zigbee")))
    #expect(try find("42").uid == 1042)
    #expect(try find("1042").name == "42")
  }

  @Test("a number with that of a group needs no entry") func numbers() throws {
    let account = try find("5000:6000")
    #expect(account.uid == 5000 && account.gid == 6000 && account.groups.isEmpty && account.name == nil)
    let known = try find("997:20")
    #expect(known.gid == 20 && known.groups.isEmpty && known.name == "zigbee")
  }

  @Test(
    "everything else is nobody",
    arguments: [
      "", "ana", "5000", "huge", "4294967295", "4294967295:1", "1:4294967295", "-1", "1:", ":1", "1:2:3", "0x1",
    ])
  func nobody(text: String) { #expect(throws: Failure.self) { _ = try find(text) } }
}

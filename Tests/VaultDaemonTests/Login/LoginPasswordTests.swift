import Foundation
import Testing
import VaultTesting

// Logins with a different password than before.
extension LoginTests {
  @Test("after the password was changed opens the vault with the new one") func changed() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      // passwd(1) runs in this way: for the user, with root's rights.
      let changed = try stand.pamtester(
        "chauthtok", typed: [stand.user.password, new, new], identity: ["--ruid=\(stand.user.uid)"])
      #expect(changed.status == 0, "\(changed)")
      try stand.wait("the slot to take the new password") {
        try stand.loginSlot()["kdf_memory"] as? Int != LoginStand.floorMemory
      }
      #expect(try stand.logIn(stand.user.password).status != 0)
      #expect(try stand.logIn(new).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("with a password that has run out opens the vault with the one that follows it") func expired() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      try stand.user.change("chage", "-d0")
      let came = try stand.pamtester(
        "authenticate", "chauthtok(PAM_CHANGE_EXPIRED_AUTHTOK)", "open_session",
        typed: [stand.user.password, stand.user.password, new, new])
      #expect(came.status == 0, "\(came)")
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
      #expect(try stand.loginSlot()["kdf_memory"] as? Int != LoginStand.floorMemory)
      try stand.vault("lock")
      #expect(try stand.logIn(new).status == 0)
      try stand.wait("the vault to open again") { try stand.state() == "unlocked" }
    }
  }

  @Test("after a reset is not tried on the slot, until that has the new password") func reset() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault()
      #expect(try stand.pamtester("chauthtok", typed: [new, new]).status == 0)
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
      #expect(try stand.vault("slot", "list").output.contains("login (stale)"))
      #expect(try stand.login().reason?.contains("vault passwd --login") == true)
      #expect(try stand.logIn(new).status == 0)
      #expect(try stand.state() == "locked")
      let typed = "\(LoginStand.vaultPassword)\n\(new)\n"
      #expect(try stand.vault("passwd", "--login", "--password-stdin", stdin: typed).status == 0)
      #expect(try stand.loginSlot()["stale"] == nil)
      #expect(try stand.login().isPossible == true)
      #expect(try stand.logIn(new).status == 0)
      try stand.wait("the vault to open") { try stand.state() == "unlocked" }
    }
  }

  @Test("marks a slot that does not fit the password, though no change was seen") func unseenChange() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault(login: "an earlier password")
      #expect(try stand.logIn().status == 0)
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
      #expect(try stand.state() == "locked")
      // The vault's own password is not affected.
      #expect(try stand.vault("unlock", "--password-stdin", stdin: LoginStand.vaultPassword + "\n").status == 0)
    }
  }

  @Test("after a change of a password that the slot never had marks it") func wrongOldPassword() throws {
    try LoginStand.with { (stand) throws in
      try stand.makeVault(login: "an earlier password")
      let changed = try stand.pamtester(
        "chauthtok", typed: [stand.user.password, new, new], identity: ["--ruid=\(stand.user.uid)"])
      #expect(changed.status == 0, "\(changed)")
      try stand.wait("the slot to be marked") { try stand.loginSlot()["stale"] as? Bool == true }
    }
  }
}

import Foundation
import Glibc
import Testing
import VaultTesting

/// The store on a small file system of its own.
@Suite(
  "A disk that takes no more",
  .enabled(if: Root.isAtHand, "needs root to mount one"))
struct FullDiskTests {
  /// Stores items until no more fit, and returns their number.
  private func fill(_ sandbox: Sandbox, _ size: Int = 50_000) throws -> Int {
    let block = (0..<size).map { _ in UInt8.random(in: 0...255) }
    for number in 0..<100 {
      let outcome = try sandbox.run(["set", "--kind", "blob", "fill/\(number)"], stdin: block)
      guard outcome.status != 0 else { continue }
      #expect(outcome.status == 74)
      #expect(
        outcome.errors == "vault: cannot write vault.db: disk full; free some space and try again\n", "\(outcome)")
      return number
    }
    Issue.record("a small disk took a hundred items")
    return 0
  }

  @Test("a full disk refuses with 74 and its cause, keeps what was there, and takes more when there is room")
  func full() throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try sandbox.must(["set", "token"], stdin: "old")
      let stored = try fill(sandbox)
      #expect(stored > 0)
      // No line of a batch is to blame for what fails when all of them are written.
      let value = String(repeating: "x", count: 30_000)
      let lines = (1...3).map { #"{"name":"batch/\#($0)","value":"\#(value)"}"# + "\n" }.joined()
      let batch = try sandbox.run(["set", "--batch"], stdin: Array(lines.utf8))
      #expect(batch.errors.hasPrefix("vault: lines 1 to 3: cannot write vault.db: disk full;"), "\(batch)")
      #expect(try sandbox.must(["get", "token"]) == "old")
      #expect(try sandbox.must(["list"]).split(separator: "\n").count == stored + 1)
      #expect(try sandbox.must(["verify"]).contains("unharmed:  \(stored + 1) items"))

      try remount("size=8m")
      try sandbox.must(["set", "--update", "token"], stdin: "new")
      try sandbox.must(["set", "fill/\(stored)"], stdin: "fits now")
      #expect(try sandbox.must(["get", "token"]) == "new")
      // The same daemon kept running; the next daemon must find everything that it wrote.
      #expect(try sandbox.stopDaemon() == 0)
      try sandbox.startDaemon()
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(try sandbox.must(["get", "token"]) == "new")
      #expect(try sandbox.must(["list"]).split(separator: "\n").count == stored + 2)
    }
  }

  @Test("what was edited waits for room") func edited() throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try sandbox.must(["set", "token"], stdin: "old")
      #expect(try fill(sandbox) > 0)
      let text = String(repeating: "new", count: 20_000)
      try sandbox.write("cat \(sandbox.home)/text >\"$1\"\n", to: "editor")
      try sandbox.write(text, to: "text")
      let terminal = try Terminal(
        sandbox, ["edit", "token"], environment: ["VISUAL": nil, "EDITOR": "sh \(sandbox.home)/editor"])
      try terminal.expect("vault: cannot write vault.db: disk full; free some space and try again")
      try terminal.expect("Try again with the same value (y), edit it again (e), or give up (n)? ")
      try remount("size=8m")
      terminal.type("y")
      #expect(try terminal.wait() == 0)
      #expect(try sandbox.must(["get", "token"]) == text)
    }
  }

  @Test("on a disk that is full to the last byte items can be deleted, into the trash and for good") func deletes()
    throws
  {
    try Sandbox.withSmallDisk { sandbox, remount in
      let room = sandbox.store + "/vault.room"
      func hasRoom() -> Bool { unsafe access(room, F_OK) == 0 }
      #expect(!hasRoom(), "it would have been most of what is free")
      #expect(try sandbox.must(["doctor"]).contains("there was too little room to reserve space for `vault rm`"))
      try remount("size=24m")
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(hasRoom())
      let stored = try fill(sandbox, 500_000)
      #expect(stored > 10)
      try sandbox.fillDisk()
      let doctor = try sandbox.must(["doctor"])
      #expect(doctor.contains("warn  space: ") && doctor.contains("and `vault rm` still deletes"))

      for number in 0..<stored - 2 { try sandbox.must(["rm", "fill/\(number)"]) }
      #expect(try sandbox.must(["trash", "list"]).split(separator: "\n").count == stored - 2)
      try sandbox.must(["rm", "--now", "fill/\(stored - 2)"])
      try sandbox.must(["trash", "empty", "--yes"])
      #expect(try sandbox.must(["list"]) == "fill/\(stored - 1)\n")
      // The room of an item deleted for good can be used again.
      try sandbox.must(["set", "token"], stdin: "new")
      #expect(try sandbox.must(["verify"]).contains("unharmed:  2 items"))

      try remount("size=64m")
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(hasRoom())
      #expect(try sandbox.must(["doctor"]).contains("ok    space: "))
    }
  }

  @Test("of a store on a disk that is full to the last byte a backup can be made on another one") func backup() throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try remount("size=24m")
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(try fill(sandbox, 500_000) > 10)
      try sandbox.fillDisk()
      try sandbox.must(["backup", sandbox.home + "/copy"])
      let check = ["backup", "--check", sandbox.home + "/copy", "--password-stdin"]
      #expect(try sandbox.run(check, stdin: Array((password + "\n").utf8)).status == 0)
    }
  }

  @Test("beside a store on a full disk a backup is refused, and leaves the room for deletions", arguments: ["", "- >"])
  func beside(to output: String) throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      let room = sandbox.store + "/vault.room"
      func hasRoom() -> Bool { unsafe access(room, F_OK) == 0 }
      try remount("size=24m")
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      try sandbox.must(["set", "token"], stdin: "kept")
      try sandbox.fillDisk()
      let command = "'\(Sandbox.path(of: "vault"))' backup \(output)'\(sandbox.root)/data/copy'"
      let outcome = try sandbox.run("-c", command, program: "/bin/sh")
      #expect(outcome.status == 74 && outcome.output.isEmpty, "\(outcome)")
      #expect(
        outcome.errors
          == "vault: the disk of the store has no room for a backup beside the store; give a file on another disk\n")
      #expect(hasRoom())
      try sandbox.must(["rm", "--now", "token"])

      try remount("size=64m")
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(hasRoom())
      let copied = try sandbox.run(
        "-c", command.replacingOccurrences(of: "copy'", with: "other'"), program: "/bin/sh")
      #expect(copied.status == 0, "\(copied)")
    }
  }

  @Test("a store on a disk without any room is served, also without its lock file", arguments: [false, true])
  func served(hasLockFile: Bool) throws {
    try Sandbox.withSmallDisk { sandbox, _ in
      try sandbox.must(["set", "token"], stdin: "kept")
      try sandbox.stopDaemon()
      if !hasLockFile { #expect(unsafe unlink(sandbox.store + "/vault.lock") == 0) }
      try sandbox.fillDisk()
      try sandbox.startDaemon()
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(try sandbox.must(["get", "token"]) == "kept")
      #expect(try sandbox.must(["verify"]).contains("unharmed:  1 item"))
    }
  }

  @Test(
    """
    an audit log that is required and cannot be written ends the service until it can; otherwise that is said, and \
    served on
    """,
    arguments: ["required", "on"])
  func auditLog(mode: String) throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try sandbox.must(["set", "token"], stdin: "kept")
      try sandbox.stopDaemon()
      try sandbox.fillDisk()
      try sandbox.startDaemon(config: "audit = \(mode)\n")
      _ = try sandbox.run("unlock", "--password-stdin", stdin: password + "\n")
      let outcome = try sandbox.run("get", "token")
      if mode == "required" {
        #expect(outcome.status == 74 && outcome.output.isEmpty, "\(outcome)")
        #expect(outcome.errors.contains("the audit log, which is required, cannot be written: "), "\(outcome)")
      } else {
        #expect(outcome.output == "kept", "\(outcome)")
        // The entry is written within a second, or `status` says that it cannot be.
        let end = ContinuousClock.now + .seconds(30)
        while try !sandbox.must(["status"]).contains("the audit log cannot be written: "),
          ContinuousClock.now < end
        { usleep(20_000) }
        #expect(try sandbox.must(["status"]).contains("the audit log cannot be written: "))
      }
      try remount("size=8m")
      #expect(try sandbox.must(["get", "token"]) == "kept")
      // The log has an entry for everything that happened meanwhile.
      let log = try sandbox.must(["audit", "--json"])
      #expect(log.contains("\"action\":\"unlock\""), "\(log)")
      #expect(log.split(separator: "\n").count { $0.contains("\"item\":\"token\"") } >= 2, "\(log)")
      #expect(try !sandbox.must(["status"]).contains("cannot be written"))
      #expect(try sandbox.must(["verify"]).contains("unharmed:  1 item"))
    }
  }

  @Test(
    "a daemon that is stopped on a full disk writes its entries into the room kept for it, or tells how many are lost",
    arguments: [true, false])
  func stopped(hasRoom: Bool) throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try remount(hasRoom ? "size=24m" : "size=2m")
      try sandbox.must(["lock"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect((unsafe access(sandbox.store + "/vault.room", F_OK) == 0) == hasRoom)
      try sandbox.must(["set", "token"], stdin: "kept")
      try sandbox.fillDisk()
      let client = try sandbox.client()
      // Each entry is of its own, and so many that the pages already allocated do not hold them.
      for number in 0..<400 {
        let reason = String(repeating: "x", count: 100) + "\(number)"
        #expect(try client.call("Get", ["name": "token", "reason": reason]).error == nil)
      }
      if hasRoom { try sandbox.must(["backup", sandbox.home + "/copy"]) }
      try sandbox.stopDaemon()
      #expect(sandbox.daemonLog.contains("the audit log has lost ") != hasRoom, "\(sandbox.daemonLog)")
      try remount("size=64m")
      func readings() throws -> Int {
        let log = try sandbox.must(["audit", "--json", "-n", "1000"]).split(separator: "\n")
        return log.count { $0.contains(#""action":"get","outcome":"ok""#) }
      }
      try sandbox.startDaemon()
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      if hasRoom { #expect(try readings() == 400) } else { #expect(try readings() < 400) }
      #expect(try sandbox.run("audit", "--verify").status == 0)
      guard hasRoom else { return }
      // The copy was made after its entries were written.
      try sandbox.stopDaemon()
      for name in try FileManager.default.contentsOfDirectory(atPath: sandbox.store) {
        try FileManager.default.removeItem(atPath: "\(sandbox.store)/\(name)")
      }
      try sandbox.startDaemon()
      try sandbox.must(["restore", sandbox.home + "/copy", "--password-stdin"], stdin: password + "\n")
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(try readings() == 400)
    }
  }

  @Test("a required audit log that cannot be written ends the ssh-agent's service too, and no unlock, lock or status")
  func agentLog() throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try remount("size=2m")
      try sandbox.stopDaemon()
      try sandbox.startDaemon(config: sshAgentOn + "audit = required\n")
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      let keys = [try sandbox.makeKey("own"), try sandbox.storeKey("item")]
      #expect(try sandbox.ssh("ssh-add", ["-q", keys[0]]).status == 0)
      let other = try sandbox.makeKey("other")
      func sign(_ code: UInt8) throws {
        for key in keys {
          let blob = try sandbox.publicBlob(key)
          #expect(try sandbox.join().code(.sign(blob, .login(blob, .zeros(32)))) == code, "\(key)")
        }
      }
      try sign(14)
      try sandbox.fillDisk()
      // The pages already allocated may have room for further entries.
      var count = 0
      while try !sandbox.listed().contains("agent refused operation"), count < 500 { count += 1 }
      #expect(count < 500)
      try sign(5)
      #expect(try sandbox.join().code(.extension("query")) == 29, "this question has no entry")
      #expect(try sandbox.ssh("ssh-add", [other]).status != 0)
      #expect(try sandbox.ssh("ssh-add", ["-D"]).status != 0)
      let backup = sandbox.home + "/backup"
      for command in [
        ["list"], ["slot", "list"], ["requests"], ["grants"], ["generate"], ["audit"], ["verify"], ["backup", backup],
      ] {
        let outcome = try sandbox.run(command)
        #expect(outcome.status == 74 && outcome.output.isEmpty, "\(command) \(outcome)")
      }
      #expect(!FileManager.default.fileExists(atPath: backup))
      // These calls do without the log only for a store that has failed, and this store is whole.
      for method in ["Audit", "Verify", "Salvage", "Backup", "RepairAudit"] {
        let outcome = try sandbox.outcome(method)
        #expect(outcome.hasPrefix("StorageFailed "), "\(method) \(outcome)")
      }
      for state in ["locked", "unlocked"] {
        if state == "locked" {
          try sandbox.must(["lock"])
        } else {
          try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
        }
        #expect(try sandbox.must(["status", "--json"]).contains("\"\(state)\""))
      }
      try remount("size=8m")
      #expect(try sandbox.listed().contains(" ssh/item "))
      let audit = try sandbox.sshAudit()
      #expect(audit.count { $0.hasPrefix("use failed ssh signature with SHA256:") } == 2, "\(audit)")
      // The list that found the disk full was refused.
      #expect(audit.contains { $0.hasPrefix("find failed ") }, "\(audit)")
    }
  }

  @Test(
    "while a required audit log cannot be written, programs of the desktop find everything locked, and lose nothing",
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/secret-tool"), "needs libsecret-tools"),
    .enabled(if: SecretServiceStand.hasModule("dbus"), "needs python3-dbus"))
  func desktop() throws {
    let stand = try SecretServiceStand("audit = required\n") { try $0.mountDisk("size=2m,mode=0700") }
    let sandbox = stand.sandbox
    defer {
      sandbox.unmountDisk()
      stand.close()
    }
    let tool = "/usr/bin/secret-tool"
    #expect(try stand.run(tool, "store", "--label=L", "key", "a", stdin: "value").status == 0)
    #expect(try stand.run(tool, "lookup", "key", "a").output == "value")
    try sandbox.fillDisk()
    // The pages already allocated may have room for further entries. The call that finds no more may be any of the
    // program's calls.
    let search = try stand.python(
      """
      import dbus
      bus = dbus.SessionBus()
      root = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
      login = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets/collection/login')
      service = dbus.Interface(root, 'org.freedesktop.Secret.Service')
      def get(o, i, p): return o.Get('org.freedesktop.Secret.' + i, p, dbus_interface='org.freedesktop.DBus.Properties')
      for count in range(2000):
          get(root, 'Service', 'Collections')
          get(login, 'Collection', 'Label')
          found, locked = service.SearchItems({'key': 'a'})
          if locked: break
      get(root, 'Service', 'Collections')
      print(len(found), len(locked), get(login, 'Collection', 'Locked'), get(login, 'Collection', 'Items'))
      """)
    #expect(search == "0 1 1 dbus.Array([], signature=dbus.Signature('o'), variant_level=1)\n", "\(search)")
    let waiting = [
      try stand.begin(tool, "lookup", "key", "a"), try stand.begin(tool, "lookup", "key", "none"),
      try stand.begin(tool, "store", "--label=L", "key", "new", stdin: "n"),
    ]
    #expect(try sandbox.must(["status"]).contains("3 prompts of programs wait"))
    // An unlock gives nothing more.
    try sandbox.must(["lock"])
    try stand.unlock()
    #expect(try sandbox.must(["status"]).contains("3 prompts of programs wait"))
    try sandbox.mountDisk("remount,size=8m")
    let outcomes = try waiting.map { try $0.outcome() }
    #expect(outcomes[0].output == "value", "\(outcomes[0])")
    #expect(outcomes[1].status == 1 && outcomes[1].output.isEmpty, "\(outcomes[1])")
    #expect(outcomes[2].status == 0, "\(outcomes[2])")
    #expect(try stand.run(tool, "lookup", "key", "new").output == "n")
  }

  @Test("of a store on a file system that is mounted read-only is said what to do, and then it is served")
  func readOnly() throws {
    try Sandbox.withSmallDisk { sandbox, remount in
      try sandbox.must(["set", "token"], stdin: "kept")
      try sandbox.stopDaemon()
      try remount("ro")
      try sandbox.startDaemon()
      let refused = try sandbox.run(["get", "token"])
      #expect(refused.status == 74)
      #expect(refused.errors.hasSuffix("; mount it writable, or serve a copy elsewhere\n"), "\(refused)")
      // The daemon has no key of a store that it has not opened.
      try sandbox.must(["lock"])
      try remount("rw")
      // This call makes the daemon look at the store again.
      try sandbox.must(["status"])
      try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
      #expect(try sandbox.must(["get", "token"]) == "kept")
    }
  }
}

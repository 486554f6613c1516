import Foundation
import Glibc
import Testing
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

/// A real user's password through the real pam_unix, asked for by the real helper.
@Suite("Presence", .enabled(if: TestUser.canBeMade, "makes users of the machine, which needs root"))
struct PresenceTests {
  private let stand: PresenceStand
  private let service: PAMService

  init() throws {
    stand = try PresenceStand()
    service = try PAMService(PAMService.password)
  }

  @Test("the right password is a yes, and nothing else is") func passwords() throws {
    defer { clean() }
    let right = try stand.check(service.name) { [password = stand.user.password] _ in .answer(password) }
    #expect(right?.outcome == .succeeded)
    #expect(right?.said == ["secret Password"])
    // A module that reads up to a NUL, or only the first 511 bytes, would accept the last two.
    let wrong = [
      "", "wrong", stand.user.password + "x", String(stand.user.password.dropLast()), stand.user.password + "\0x",
      stand.user.password + String(repeating: "x", count: 600),
    ]
    for answer in wrong {
      #expect(try stand.check(service.name) { _ in .answer(answer) }?.outcome == .failed, "\(answer.count) characters")
    }
  }

  @Test("an expired account or password is told apart from a wrong one") func expired() throws {
    defer { clean() }
    let answer = PresenceStand.Reaction.answer(stand.user.password)
    try stand.user.change("chage", "-E0")
    let account = try stand.check(service.name) { $0.hasPrefix("secret") ? answer : .nothing }
    #expect(account?.outcome == .expired("the account has expired"))
    #expect(account?.said.last?.hasPrefix("error Your account has expired") == true)
    #expect(try stand.check(service.name) { _ in .answer("wrong") }?.outcome == .failed)
    try stand.user.change("chage", "-E-1", "-d0")
    let password = try stand.check(service.name) { $0.hasPrefix("secret") ? answer : .nothing }
    #expect(password?.outcome == .expired("the password has expired; set a new one with passwd(1)"))
  }

  @Test("a locked account and one without a password do not pass") func locked() throws {
    defer { clean() }
    try stand.user.change("usermod", "-L")
    let answer = PresenceStand.Reaction.answer(stand.user.password)
    #expect(try stand.check(service.name) { _ in answer }?.outcome == .failed)
    try stand.user.change("passwd", "-q", "-d")
    let empty = try PAMService("auth required pam_unix.so nodelay nullok\naccount required pam_unix.so\n")
    defer { empty.remove() }
    #expect(try stand.check(empty.name) { _ in .answer("") }?.outcome == .failed)
  }

  @Test("PAM's modules are told who is asked for, who asks, and of which service") func items() throws {
    defer { clean() }
    let file = stand.sandbox.root + "/items"
    let script = try stand.script("echo $PAM_USER $PAM_RUSER $PAM_TTY $PAM_SERVICE >\(file)")
    let told = try PAMService("auth required pam_exec.so \(script)\naccount required pam_unix.so\n")
    defer { told.remove() }
    #expect(try stand.check(told.name)?.outcome == .succeeded)
    let items = try String(contentsOfFile: file, encoding: .utf8)
    #expect(items == "\(stand.user.name) root \(told.name) \(told.name)\n")
  }

  @Test(
    "PAM's modules find no file, no variable and no bus of whoever started the helper, and others find nothing in it")
  func witnessed() throws {
    defer { clean() }
    let root = stand.sandbox.root
    let module = root + "/witness.so"
    try WitnessModule.build(at: module, in: stand.sandbox)
    let witness = try PAMService("auth required \(module) \(root)/found\naccount required pam_permit.so\n")
    defer { witness.remove() }
    let bus = "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(root)/bus"
    // The connection lies between two foreign files, and a third foreign file lies where the connection could be.
    let helper = try stand.script(
      "export \(bus) LD_BIND_NOW=1; exec 3</etc/passwd 5</etc/passwd 9</etc/passwd; exec \"$helper\"")
    #expect(try stand.check(witness.name, through: helper)?.outcome == .succeeded)
    let found = try String(contentsOfFile: root + "/found", encoding: .utf8).split(separator: "\n").map(String.init)
    #expect(found.contains("dumpable 0"))
    let variables = found.filter { $0.hasPrefix("variable ") }
    #expect(variables == ["variable PATH=/usr/sbin:/usr/bin:/sbin:/bin", "variable LANG=C.UTF-8"])
    let descriptors = found.filter { $0.hasPrefix("descriptor ") }.map { $0.split(separator: " ")[2] }
    #expect(descriptors.count == 4 && descriptors[..<2] == ["/dev/null", "/dev/null"], "\(descriptors)")
    #expect(descriptors.last?.hasPrefix("socket:") == true && !descriptors.contains("/etc/passwd"), "\(descriptors)")
  }

  @Test("PAM's modules may say much, and not without end", arguments: [64, 65]) func talkative(count: Int) throws {
    defer { clean() }
    let lines = String(repeating: "auth optional pam_echo.so on and on\n", count: count)
    let service = try PAMService(lines + "auth required pam_permit.so\naccount required pam_permit.so\n")
    defer { service.remove() }
    let result = try stand.check(service.name)
    #expect(
      result?.outcome == (count == 64 ? .succeeded : .broken("the PAM modules asked more than 64 times")), "\(count)")
    #expect(result?.said.count == 64)
  }

  @Test("too many tries, a module that is not there, a service that is not there: each its own outcome")
  func otherOutcomes() throws {
    defer { clean() }
    func outcome(_ text: String) throws -> PresenceCheck.Outcome? {
      let service = try PAMService(text)
      defer { service.remove() }
      return try stand.check(service.name)?.outcome
    }
    #expect(try outcome("auth required pam_debug.so auth=maxtries\naccount required pam_unix.so\n") == .tooManyTries)
    #expect(try outcome("auth required pam_nix.so\naccount required pam_unix.so\n")?.isUnavailable == true)
    #expect(try outcome("auth required pam_debug.so auth=authinfo_unavail\n")?.isUnavailable == true)
    #expect(
      try outcome("auth required pam_debug.so\naccount required pam_debug.so acct=perm_denied\n")?.isUnavailable == true
    )
    #expect(
      try outcome("auth required pam_debug.so\naccount required pam_debug.so acct=new_authtok_reqd\n")?.isExpired
        == true)
    #expect(try outcome("auth required pam_debug.so\naccount required pam_unix.so\n") == .succeeded)
    #expect(try stand.check("vault-test-nix")?.outcome.isUnavailable == true)
    #expect(try stand.check("login")?.outcome.isUnavailable == true)
    #expect(try stand.check(service.name, uid: 4_000_000_000)?.outcome.isUnavailable == true)
  }

  @Test("a module that says yes to another user than the one who was asked for is not believed") func otherUser() throws
  {
    defer { clean() }
    let module = stand.sandbox.root + "/other.so"
    try OtherUserModule.build(at: module, in: stand.sandbox)
    for name in ["root", stand.user.name] {
      let changing = try PAMService("auth required \(module) \(name)\naccount required pam_permit.so\n")
      defer { changing.remove() }
      #expect(
        try stand.check(changing.name)?.outcome
          == (name == "root"
            ? .broken("a PAM module put another user in the place of \(stand.user.name)") : .succeeded))
    }
  }

  @Test("a user without privileges has its own password checked, and no other's") func ordinaryUser() throws {
    defer { clean() }
    let helper = try stand.asUser()
    let own = try stand.check(service.name, through: helper) { [p = stand.user.password] _ in .answer(p) }
    #expect(own?.outcome == .succeeded)
    let wrong = try stand.check(service.name, through: helper) { _ in .answer("wrong") }
    #expect(wrong?.outcome == .failed)
    let another = try stand.check(service.name, uid: 0, through: helper) { [p = stand.user.password] _ in .answer(p) }
    #expect(another?.outcome == .unavailable("running as uid \(stand.user.uid), it cannot check uid 0"))
    #expect(another?.said == [])
  }

  @Test("under NoNewPrivileges it says so, and works through the helper's own unit") func noNewPrivileges() throws {
    defer { clean() }
    let answer = PresenceStand.Reaction.answer(stand.user.password)
    let inside = try stand.check(service.name, through: stand.asUser("--no-new-privs")) { _ in answer }
    #expect(inside?.outcome.reason?.contains("no new privileges are allowed here") == true)
    #expect(inside?.said == [])
    let daemon = try stand.check(service.name, forbidsNewPrivileges: true) { _ in answer }
    guard case .unavailable(_, let advice?)? = daemon?.outcome else { throw SandboxError("\(daemon as Any)") }
    #expect(advice.contains("start vault-pam.socket"))
    let unit = try stand.listen(stand.asUser())
    #expect(try stand.check(service.name, forbidsNewPrivileges: true) { _ in answer }?.outcome == .succeeded)
    #expect(try stand.check(service.name, forbidsNewPrivileges: true) { _ in .answer("no") }?.outcome == .failed)
    withExtendedLifetime(unit) {}
  }

  @Test("as root it serves root and the vault's own account alone") func strangers() throws {
    defer { clean() }
    let unit = try stand.listen(stand.program)
    unsafe chmod(stand.socket, 0o666)
    // The whole conversation of a foreign user who knows the password.
    let request =
      "{\"service\":\"\(service.name)\",\"uid\":\(stand.user.uid)}\0{\"answer\":\"\(stand.user.password)\"}\0"
    let said = try stand.sandbox.run(
      "--reuid=\(stand.user.uid)", "--clear-groups", "socat", "-t10", "-,ignoreeof", "UNIX-CONNECT:" + stand.socket,
      program: "/usr/bin/setpriv", stdin: request)
    #expect(said.output.contains("uid \(stand.user.uid) may not ask"), "\(said)")
    #expect(!said.output.contains("prompt"))
    withExtendedLifetime(unit) {}
  }

  @Test(
    "whose account has the name of another program's, or the name of the vault's and another home, is a stranger too",
    arguments: [("vault", "/var/lib/vault"), ("_vaultd", "/etc/vault.d"), ("_vaultd", "/var/lib/vault")])
  func foreignAccount(name: String, home: String) throws {
    defer { clean() }
    let uid = stand.user.uid
    let helper = try stand.script(
      """
      exec unshare --mount sh -c '
      \(stand.sandbox.otherAccount("\(name):x:\(uid):\(uid)::\(home):/bin/sh"))
      exec "$0"' "$helper"
      """)
    let unit = try stand.listen(helper)
    unsafe chmod(stand.socket, 0o666)
    let said = try stand.sandbox.run(
      "--reuid=\(uid)", "--clear-groups", "socat", "-t10", "-,ignoreeof", "UNIX-CONNECT:" + stand.socket,
      program: "/usr/bin/setpriv", stdin: "{\"service\":\"\(service.name)\",\"uid\":0}\0{\"answer\":\"no\"}\0")
    #expect(
      said.output.contains("uid \(uid) may not ask") == ((name, home) != ("_vaultd", "/var/lib/vault")), "\(said)")
    #expect(said.output.contains("outcome"), "\(said)")
    withExtendedLifetime(unit) {}
  }

  @Test("it can be told beforehand what will not work") func availability() throws {
    defer { clean() }
    func reason(_ service: String, _ program: String?, forbids: Bool = false) throws -> String? {
      try stand.availability(of: service, program, forbidsNewPrivileges: forbids)
    }
    #expect(try reason(service.name, stand.program) == nil)
    #expect(try reason("vault-test-nix", stand.program)?.contains("/etc/pam.d/vault-test-nix is missing") == true)
    #expect(try reason(service.name, nil) == "vault-pam is not installed")
    #expect(try reason(service.name, "/nowhere/vault-pam") == "vault-pam is not installed")
    #expect(try reason(service.name, stand.program, forbids: true)?.contains("start vault-pam.socket") == true)
    let unit = try stand.listen(stand.program)
    #expect(try reason(service.name, nil, forbids: true) == nil)
    withExtendedLifetime(unit) {}
  }

  private func clean() {
    service.remove()
    stand.close()
  }
}

extension PresenceCheck.Outcome {
  var isUnavailable: Bool { if case .unavailable = self { true } else { false } }
  var isExpired: Bool { if case .expired = self { true } else { false } }
  var isBroken: Bool { if case .broken = self { true } else { false } }
}

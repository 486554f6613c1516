import Testing
import VaultSigning

@testable import VaultSSH

/// The cases of OpenSSH's regress/agent-restrict.sh, and further cases of its ssh-agent.c.
@Suite("The hosts that a key is for") struct DestinationConstraintsTests {
  /// Makes a step from `ssh-add -h`'s notation: `a`, `user@a`, `a>b` or `a>user@b`; a host after `%` has a certificate.
  private func step(_ text: String) -> DestinationConstraint {
    func host(_ text: some StringProtocol) -> DestinationConstraint.Host {
      let parts = text.split(separator: "@")
      let name = String(parts[parts.count - 1])
      let isAuthority = name.hasPrefix("%")
      return .init(
        user: parts.count > 1 ? String(parts[0]) : "", name: "host_\(name)",
        keys: [
          .init(blob: hostBlob("other")), .init(blob: hostBlob(isAuthority ? "ca" : name), isAuthority: isAuthority),
        ])
    }
    let hops = text.split(separator: ">")
    return hops.count == 2
      ? DestinationConstraint(from: host(hops[0]), to: host(hops[1])) : DestinationConstraint(to: host(hops[0]))
  }

  private func constraints(_ steps: String...) -> DestinationConstraints { .init(steps.map(step)) }

  private func session(_ index: Int) -> [UInt8] { [UInt8](repeating: UInt8(index), count: 32) }

  /// Makes the bindings of a connection over these hosts, which logs in to the last host unless that forwards the
  /// agent, too.
  private func bindings(_ hosts: String, isForwarding: Bool = false) throws -> SessionBindings {
    var bindings = SessionBindings()
    let hosts = hosts.split(separator: " ").map(String.init)
    for (index, host) in hosts.enumerated() {
      let isForwarding = isForwarding || index < hosts.count - 1
      try bindings.add(
        SessionBind(hostKey: hostBlob(host), sessionID: session(index), signature: [], isForwarding: isForwarding))
    }
    return bindings
  }

  /// Makes a login over the last session of `bindings`.
  private func login(
    _ bindings: SessionBindings, user: String = "ana", host: [UInt8]?? = .none, session: [UInt8]? = nil
  ) throws -> UserAuthentication {
    let last = try #require(bindings.hops.last)
    let host = host ?? last.hostKey
    let data = sshBytes {
      $0.string(session ?? last.sessionID)
      $0.byte(50)
      $0.string(user)
      $0.string("ssh-connection")
      $0.string(host == nil ? "publickey" : "publickey-hostbound-v00@openssh.com")
      $0.boolean(true)
      $0.string("ssh-ed25519")
      $0.string(hostBlob("user"))
      if let host { $0.string(host) }
    }
    return try UserAuthentication(unsafe data.span.bytes)
  }

  private func signs(_ constraints: DestinationConstraints, over hosts: String, user: String = "ana") throws -> Bool {
    let bindings = try bindings(hosts)
    let login = try login(bindings, user: user)
    return (try? constraints.permitSigning(login, over: bindings)) != nil
  }

  /// Returns true if the key signs for each step of a way over several hosts, and is listed on each host but the last.
  private func goes(_ constraints: DestinationConstraints, over way: String, user: String = "ana") throws -> Bool {
    let hosts = way.split(separator: " ")
    return try hosts.indices.allSatisfy { index in
      let reached = hosts[...index].joined(separator: " ")
      guard try signs(constraints, over: reached, user: user) else { return false }
      let isSeen = constraints.permitsListing(over: try bindings(reached, isForwarding: true))
      return index == hosts.count - 1 || isSeen
    }
  }

  @Test("a key for one host signs there, as anybody, nowhere else, and is not seen over a forwarded agent") func basic()
    throws
  {
    let constraints = constraints("a")
    #expect(try signs(constraints, over: "a") && signs(constraints, over: "a", user: "root"))
    #expect(try !signs(constraints, over: "b") && !signs(constraints, over: "a b") && !signs(constraints, over: "a a"))
    #expect(try constraints.permitsListing(over: bindings("a")))
    #expect(try !constraints.permitsListing(over: bindings("a", isForwarding: true)))
    #expect(try !constraints.permitsListing(over: bindings("b")))
    #expect(try !constraints.permitsListing(over: bindings("b", isForwarding: true)))
  }

  @Test(
    "a user is a pattern", arguments: [("ana", true), ("*", true), ("a?a", true), ("--BADUSER", false), ("an", false)])
  func users(pattern: String, isPermitted: Bool) throws {
    let constraints = constraints("\(pattern)@a")
    #expect(try signs(constraints, over: "a") == isPermitted)
    // A listing has no user to match.
    #expect(try constraints.permitsListing(over: bindings("a")))
  }

  @Test("a way over several hosts needs each step, with users too") func multihop() throws {
    #expect(try goes(constraints("a", "a>b", "b>c", "c>d", "d>e"), over: "a b c d e"))
    #expect(try goes(constraints("a", "a>ana@b", "b>ana@c", "c>ana@d", "d>ana@e"), over: "a b c d e"))
    #expect(try goes(constraints("a", "a>*@b", "b>*@c", "c>*@d", "d>*@e"), over: "a b c d e"))
    #expect(try !goes(constraints("a", "a>*@b", "b>*@c", "c>--BADUSER@d", "d>*@e"), over: "a b c d e"))
    #expect(try !goes(constraints("a", "a>b", "c>d", "d>e"), over: "a b c d e"))
    #expect(try !goes(constraints("a>b", "b>c"), over: "a b c"))
    #expect(try !constraints("a", "b>c").permitsListing(over: bindings("a", isForwarding: true)))
  }

  @Test("a way may have circles where each of its steps is permitted") func cycles() throws {
    #expect(try !goes(constraints("a", "a>b", "b>c", "c>d", "d>e"), over: "a b a a c d e"))
    #expect(try goes(constraints("a", "a>b", "b>c", "c>d", "d>e", "b>a", "a>a", "a>c"), over: "a b a a c d e"))
  }

  @Test(
    "two hops: what is permitted from where",
    arguments: [
      ("a", "a", true, true), ("a", "b", false, false), ("a b", "a", true, true), ("a b", "b", true, true),
      ("a b", "a b", false, false), ("a a>b", "a", true, true), ("a a>b", "a b", true, true),
      ("a a>b", "b", false, false), ("a>b", "a b", false, false), ("a a>root@b", "a b", false, true),
      ("root@a a>b", "a b", true, true), ("root@a a>b", "a", false, true), ("a a>b a>c", "a c", true, true),
      ("a a>b b>c", "a c", false, false), ("b a>b", "a b", false, false),
    ])
  func twoHops(steps: String, way: String, isSigning: Bool, isListed: Bool) throws {
    let constraints = DestinationConstraints(steps.split(separator: " ").map { step(String($0)) })
    #expect(try signs(constraints, over: way) == isSigning)
    #expect(try constraints.permitsListing(over: bindings(way)) == isListed)
  }

  @Test("the route names the first host and the last as the constraints do") func route() throws {
    let constraints = constraints("a", "a>b", "b>c")
    let one = try bindings("a")
    #expect(try constraints.permitSigning(login(one), over: one) == .init(through: nil, to: "host_a"))
    let three = try bindings("a b c")
    #expect(try constraints.permitSigning(login(three), over: three) == .init(through: "host_a", to: "host_c"))
  }

  @Test("a login is for the session and the host of the last bind; beyond the first hop it names the host")
  func hostBound()
    throws
  {
    let constraints = constraints("a", "a>b")
    func isPermitted(_ bindings: SessionBindings, _ login: UserAuthentication?) -> Bool {
      (try? constraints.permitSigning(login, over: bindings)) != nil
    }
    let one = try bindings("a")
    let two = try bindings("a b")
    #expect(try isPermitted(one, login(one)) && isPermitted(one, login(one, host: .some(nil))))
    #expect(try isPermitted(two, login(two)) && !isPermitted(two, login(two, host: .some(nil))))
    #expect(
      try !isPermitted(one, login(one, host: hostBlob("b"))) && !isPermitted(two, login(two, host: hostBlob("a"))))
    #expect(
      try !isPermitted(one, login(one, session: session(9))) && !isPermitted(two, login(two, session: session(0))))
    #expect(!isPermitted(one, nil))
    // The last session forwards the agent and logs nobody in.
    let forwarding = try bindings("a", isForwarding: true)
    #expect(try !isPermitted(forwarding, login(forwarding)))
  }

  @Test(
    "a client of this machine that bound nothing sees a key and signs nothing with it; after a failed bind it sees none"
  )
  func unbound() throws {
    let constraints = constraints("a")
    var bindings = SessionBindings()
    let login = try login(try self.bindings("a"))
    #expect(constraints.permitsListing(over: bindings))
    #expect((try? constraints.permitSigning(login, over: bindings)) == nil)
    bindings.fail()
    #expect(!constraints.permitsListing(over: bindings))
    #expect((try? constraints.permitSigning(login, over: bindings)) == nil)
    // A failed bind also ends the effect of earlier binds.
    bindings = try self.bindings("a")
    #expect(
      constraints.permitsListing(over: bindings) && (try? constraints.permitSigning(login, over: bindings)) != nil)
    bindings.fail()
    #expect(!constraints.permitsListing(over: bindings))
    #expect((try? constraints.permitSigning(login, over: bindings)) == nil)
  }

  @Test("an authority matches no host, neither its certificates nor one that has its key") func authorities() throws {
    let constraints = constraints("%d")
    #expect(try !signs(constraints, over: "d") && !signs(constraints, over: "ca"))
    let name = "login to a host with a certificate"
    guard case .bind(let bind?) = try agentRequest(try RecordedConnection.frame(name, type: 27)) else {
      throw UnexpectedRequest()
    }
    var bindings = SessionBindings()
    try bindings.add(bind)
    let data = try RecordedConnection.data(name)
    let login = try UserAuthentication(unsafe data.span.bytes)
    // The same holds if the certificate itself is listed as a key.
    for isAuthority in [false, true] {
      let key = DestinationConstraint.Key(blob: bind.hostKey, isAuthority: isAuthority)
      let constraints = DestinationConstraints([.init(to: .init(name: "host_d", keys: [key]))])
      #expect(!constraints.permitsListing(over: bindings))
      #expect((try? constraints.permitSigning(login, over: bindings)) == nil)
    }
  }

  @Test("OpenSSH's agent decided the same over a forwarded agent") func recorded() throws {
    guard case .add(let added) = try agentRequest(try RecordedConnection.frame("constrain", type: 25)) else {
      throw UnexpectedRequest()
    }
    let constraints = try #require(added.constraints.destinations)
    let first = try RecordedConnection.data("from here to a")
    let key = try UserAuthentication(unsafe first.span.bytes).signer
    var decided = 0
    for connection in RecordedConnection.all.drop(while: { $0.name != "from here to a" }) {
      var bindings = SessionBindings()
      for (frame, reply) in connection.exchanges {
        decided += 1
        switch try agentRequest(frame) {
        case .bind(let bind): #expect(((try? bindings.add(#require(bind))) != nil) == (reply == [6]))
        case .list:
          let isListed = reply.indices.contains { reply[$0...].starts(with: key) }
          #expect(constraints.permitsListing(over: bindings) == isListed, "\(connection)")
        case .sign(let asked) where asked.key == key:
          let data = Array(frame[asked.data])
          let login = try UserAuthentication(unsafe data.span.bytes)
          let isSigned = reply.first == 14
          #expect(((try? constraints.permitSigning(login, over: bindings)) != nil) == isSigned, "\(connection)")
        default: decided -= 1
        }
      }
    }
    #expect(decided >= 19)
  }
}

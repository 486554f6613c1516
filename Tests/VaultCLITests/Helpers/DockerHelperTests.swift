import Foundation
import Testing
import VaultTesting

@Suite("docker's credential store") struct DockerHelperTests {
  private let hub = "https://index.docker.io/v1/"
  private let hubItem = "docker/https:%2F%2Findex.docker.io%2Fv1%2F"

  private func stand() throws -> HelperStand { try HelperStand() }

  private func docker(_ stand: HelperStand, _ action: String, _ stdin: String = "") throws -> Outcome {
    try stand.run("docker-credential-vault", [action], stdin: stdin)
  }

  @Test("stores, gets, lists and erases, in docker's JSON") func roundTrip() throws {
    let stand = try stand()
    defer { stand.close() }
    let credentials = #"{"ServerURL":"\#(hub)","Username":"ana","Secret":"p\"\\ü\t"}"# + "\n"
    let stored = try docker(stand, "store", credentials)
    #expect(stored.status == 0 && stored.output.isEmpty && stored.errors.isEmpty, "\(stored)")
    #expect(try stand.sandbox.must(["get", hubItem]) == "p\"\\ü\t")
    #expect(try stand.sandbox.must(["get", hubItem, "--field", "username"]) == "ana")
    #expect(try docker(stand, "get", hub + "\n").output == credentials)
    #expect(try docker(stand, "store", #"{"ServerURL":"ghcr.io","Username":"<token>","Secret":"t"}"#).status == 0)
    #expect(try docker(stand, "list", "unused").output == #"{"ghcr.io":"<token>","\#(hub)":"ana"}"# + "\n")
    #expect(try docker(stand, "erase", hub).status == 0)
    #expect(try stand.names("docker") == ["docker/ghcr.io"])
    #expect(try docker(stand, "version").output.hasPrefix("docker-credential-vault (vault) v"))
  }

  @Test("what is stored again is stored once, and another user takes the place of the first") func again() throws {
    let stand = try stand()
    defer { stand.close() }
    for _ in 1...2 {
      #expect(try docker(stand, "store", #"{"ServerURL":"r","Username":"ana","Secret":"1"}"#).status == 0)
    }
    #expect(try stand.version("docker/r") == "1")
    #expect(try docker(stand, "store", #"{"ServerURL":"r","Username":"bob","Secret":"1"}"#).status == 0)
    #expect(try docker(stand, "list").output == #"{"r":"bob"}"# + "\n")
    #expect(try docker(stand, "get", "r").output == #"{"ServerURL":"r","Username":"bob","Secret":"1"}"# + "\n")
  }

  @Test("errors are docker's own words on standard output, and exit code 1")
  func errors() throws {
    let stand = try stand()
    defer { stand.close() }
    try stand.sandbox.must(["set", "docker/nobody"], stdin: "1")
    try stand.sandbox.must(
      ["set", "--batch", "--expired"],
      stdin: #"{"name":"docker/old","value":"1","attributes":{"username":"a"},"expires":1000000000}"# + "\n")
    for (action, stdin, said) in [
      ("get", "none", "credentials not found in native keychain"),
      ("get", "old", "credentials not found in native keychain"),
      ("get", "", "no credentials server URL"), ("get", " \n", "no credentials server URL"),
      ("erase", "none", "credentials not found in native keychain"), ("erase", "", "no credentials server URL"),
      ("store", #"{"ServerURL":"","Username":"a","Secret":"s"}"#, "no credentials server URL"),
      ("store", #"{"ServerURL":"nobody","Username":"a"}"#, "no credentials secret"),
      ("store", #"{"ServerURL":"nobody","Username":"a","Secret":null}"#, "no credentials secret"),
      ("store", #"{"ServerURL":"nobody","Username":"a","Secret":""}"#, "no credentials secret"),
      ("store", #"{"ServerURL":"nobody","Username":"a","Secret":12}"#, "no credentials secret"),
      ("store", #"{"ServerURL":"nobody","Username":"a","Secret":["s"]}"#, "no credentials secret"),
      ("store", #"{"ServerURL":"r","Secret":"s"}"#, "no credentials username"),
      ("frob", "", "Unknown credential action `frob`"),
    ] {
      let outcome = try docker(stand, action, stdin)
      #expect(outcome.status == 1 && outcome.output == said + "\n" && outcome.errors.isEmpty, "\(action): \(outcome)")
    }
    // Standard error is for the person who set the item.
    let nobody = try docker(stand, "get", "nobody")
    #expect(nobody.status == 1 && nobody.output == "no credentials username\n", "\(nobody)")
    #expect(nobody.errors.contains("`vault set docker/nobody --update --keep-value --attr username=USER`"), "\(nobody)")
    #expect(try stand.run("docker-credential-vault", []).output.hasPrefix("Usage: docker-credential-vault <store|"))
    #expect(try docker(stand, "list").output == #"{"nobody":""}"# + "\n")
    // A `store` without a secret has not replaced the item.
    #expect(try stand.sandbox.must(["get", "docker/nobody"]) == "1")
  }

  @Test("JSON that is cut off anywhere stores nothing") func cuts() throws {
    let stand = try stand()
    defer { stand.close() }
    let whole = #"{"ServerURL":"r","Username":"a","Secret":"s\u00fc"}"#
    for count in 0..<whole.utf8.count {
      #expect(try docker(stand, "store", String(whole.prefix(count))).status == 1)
    }
    let long = try docker(stand, "store", whole + String(repeating: " ", count: 2 << 20))
    #expect(long.status == 1 && long.output.contains("more than 2097152 bytes"), "\(long)")
    #expect(try stand.names("docker") == [])
  }

  @Test("locked, with nobody to ask, it says so in docker's way") func locked() throws {
    let stand = try stand()
    defer { stand.close() }
    #expect(try docker(stand, "store", #"{"ServerURL":"r","Username":"ana","Secret":"1"}"#).status == 0)
    try stand.sandbox.must(["lock"])
    let locked = try docker(stand, "get", "r")
    #expect(locked.status == 1 && locked.output.contains("locked") && locked.errors.isEmpty, "\(locked)")
    #expect(try stand.sandbox.stopDaemon() == 0)
    for (action, stdin) in [("get", "r"), ("list", ""), ("erase", "r")] {
      let cold = try docker(stand, action, stdin)
      #expect(cold.status == 1 && cold.output.contains("locked"), "\(action): \(cold)")
    }
  }

  // MARK: Real programs

  @Test(
    "docker itself logs in and out with it",
    .enabled(if: OtherProgram.path("docker") != nil, OtherProgram.why("docker")))
  func program() throws {
    let stand = try stand()
    defer { stand.close() }
    let home = stand.sandbox.home
    try FileManager.default.createDirectory(atPath: home + "/served/v2", withIntermediateDirectories: true)
    try stand.sandbox.write("{}", to: "served/v2/index.html")
    let server = try GuardedServer(stand.sandbox, home + "/served", wanted: GuardedServer.basic("ana", "hunter2"))
    try FileManager.default.createDirectory(atPath: home + "/.docker", withIntermediateDirectories: true)
    try stand.sandbox.write(HelperManual.example("docker", "credsStore", in: stand), to: ".docker/config.json")
    let docker = try #require(OtherProgram.path("docker"))
    let registry = "127.0.0.1:\(server.port)"
    let nowhere: [String: String?] = ["DOCKER_HOST": "unix://\(home)/no-docker"]
    try stand.must(docker, ["login", "-u", "ana", "--password-stdin", registry], stdin: "hunter2", nowhere)
    #expect(try stand.sandbox.must(["get", "docker/\(registry)"]) == "hunter2")
    #expect(try !String(contentsOfFile: home + "/.docker/config.json", encoding: .utf8).contains("hunter2"))
    // Without docker's daemon, the login with stored credentials gets no further than a message that they exist.
    let again = try stand.run(docker, ["login", registry], nowhere)
    #expect((again.output + again.errors).contains("existing credentials... [Username: ana]"), "\(again)")
    try stand.must(docker, ["logout", registry], nowhere)
    #expect(try stand.names("docker") == [])
    // Credentials that were stored with the scheme and a slash are the same registry's.
    let spelled = #"{"ServerURL":"https://\#(registry)/","Username":"bob","Secret":"hunter2"}"#
    #expect(try self.docker(stand, "store", spelled).status == 0)
    let other = try stand.run(docker, ["login", registry], nowhere)
    #expect((other.output + other.errors).contains("existing credentials... [Username: bob]"), "\(other)")
    try stand.must(docker, ["logout", registry], nowhere)
    #expect(try stand.names("docker") == [])
  }

  @Test(
    "Python's docker stores, gets, lists and erases with it",
    .enabled(if: OtherProgram.hasPackage("docker"), OtherProgram.why("PyPI's docker")))
  func client() throws {
    let stand = try stand()
    defer { stand.close() }
    let script = """
      import docker.credentials, json
      store = docker.credentials.Store("vault")
      try:
          store.get("ghcr.io")
      except docker.credentials.errors.CredentialsNotFound:
          print("not found")
      store.store("ghcr.io", "ana", "hunter2 ü")
      print(json.dumps(store.get("ghcr.io"), ensure_ascii=False), store.list())
      store.erase("ghcr.io")
      print(store.list())
      for one, other in [("ghcr.io", "https://ghcr.io/"), ("https://ghcr.io/", "ghcr.io")]:
          store.store(one, "ana", one)
          print(store.get(other)["Secret"])
          store.erase(other)
      print(store.list())

      """
    #expect(
      try stand.must(
        "/usr/bin/python3", ["-c", script], ["PYTHONPATH": OtherProgram.python, "PYTHONIOENCODING": "utf-8"]) == """
          not found
          {"ServerURL": "ghcr.io", "Username": "ana", "Secret": "hunter2 ü"} {'ghcr.io': 'ana'}
          {}
          ghcr.io
          https://ghcr.io/
          {}

          """)
  }

  @Test("the manual's item for one registry is what docker gets") func manual() throws {
    let stand = try stand()
    defer { stand.close() }
    let command = try HelperManual.example("docker", "vault set", in: stand)
    try stand.must("/bin/sh", ["-c", command], stdin: "hunter2")
    #expect(
      try docker(stand, "get", "ghcr.io").output == #"{"ServerURL":"ghcr.io","Username":"ana","Secret":"hunter2"}"#
        + "\n")
  }
}

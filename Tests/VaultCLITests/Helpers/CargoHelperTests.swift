import Foundation
import Testing
import VaultTesting

@Suite("cargo's credential provider") struct CargoHelperTests {
  private static let registry = #""registry":{"index-url":"sparse+https://r.example.org/","name":"r"}"#
  private static let item = "cargo/sparse+https:%2F%2Fr.example.org%2F"

  private func cargo(_ stand: HelperStand, _ lines: String...) throws -> [String] {
    let outcome = try stand.run(
      "cargo-credential-vault", ["--cargo-plugin"], stdin: lines.map { $0 + "\n" }.joined())
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    let answers = outcome.output.split(separator: "\n").map(String.init)
    #expect(answers.first == #"{"v":[1]}"#)
    return Array(answers.dropFirst())
  }

  @Test("stores, gives and forgets a token, one answer a line") func roundTrip() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let get = #"{"v":1,\#(Self.registry),"kind":"get","operation":"read","args":[]}"#
    let logout = #"{"v":1,\#(Self.registry),"kind":"logout","args":[]}"#
    #expect(
      try cargo(
        stand, get, #"{"v":1,\#(Self.registry),"kind":"login","token":"t0k\u0065n","args":[]}"#, get, logout, logout)
        == [
          #"{"Err":{"kind":"not-found"}}"#, #"{"Ok":{"kind":"login"}}"#,
          #"{"Ok":{"kind":"get","token":"t0ken","cache":"session","operation_independent":true}}"#,
          #"{"Ok":{"kind":"logout"}}"#, #"{"Err":{"kind":"not-found"}}"#,
        ])
    try stand.sandbox.must(["set", Self.item, "--kind", "api-key", "--expires", "2100-01-01"], stdin: "t")
    #expect(
      try cargo(stand, get) == [
        #"{"Ok":{"kind":"get","token":"t","cache":"expires","expiration":4102444800,"operation_independent":true}}"#
      ])
  }

  @Test("the end of the line that cargo has read a token from is dropped", arguments: [#"\n"#, #"\r\n"#])
  func lineEnd(end: String) throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let login = #"{"v":1,\#(Self.registry),"kind":"login","token":"t0ken\#(end)","args":[]}"#
    #expect(try cargo(stand, login) == [#"{"Ok":{"kind":"login"}}"#])
    #expect(try stand.sandbox.must(["get", Self.item]) == "t0ken")
  }

  @Test("what it does not understand is an error of the protocol, and it goes on") func errors() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let answers = try cargo(
      stand, "{", #"{"v":2,\#(Self.registry),"kind":"get"}"#, #"{"v":1,\#(Self.registry),"kind":"frob"}"#,
      #"{"v":1,"kind":"get"}"#, #"{"v":1,\#(Self.registry),"kind":"login"}"#,
      #"{"v":1,\#(Self.registry),"kind":"login","token":"a\nb"}"#,
      #"{"v":1,\#(Self.registry),"kind":"get","args":["x"]}"#)
    try #require(answers.count == 7)
    for (index, answer) in answers.enumerated() {
      let kind =
        index == 2 ? #"{"Err":{"kind":"operation-not-supported"}}"# : #"{"Err":{"kind":"other","message":"vault: "#
      #expect(answer.hasPrefix(kind), "\(answer)")
    }
    #expect(answers[5].contains("holds a line break"))
    #expect(try stand.names("cargo") == [])
    let whole = #"{"v":1,\#(Self.registry),"kind":"login","token":"t","args":[]}"#
    for count in 1..<whole.utf8.count {
      #expect(try cargo(stand, String(whole.prefix(count))).first?.hasPrefix(#"{"Err":"#) == true)
    }
  }

  @Test("locked, with nobody to ask, the answer says so, and it waits where cargo's settings say so") func locked()
    throws
  {
    let stand = try HelperStand()
    defer { stand.close() }
    try stand.sandbox.must(["set", Self.item, "--kind", "api-key"], stdin: "t")
    try stand.sandbox.must(["lock"])
    let get = #"{"v":1,\#(Self.registry),"kind":"get","operation":"read","args":["--wait","0"]}"#
    #expect(try cargo(stand, get).first?.contains("locked") == true)
    let waiting = Begun(
      stand.sandbox, ["helper", "cargo", "--cargo-plugin"], stdin: get.replacing(#""0""#, with: #""60s""#) + "\n")
    try stand.sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    #expect(try waiting.outcome().output.contains(#""token":"t""#))
  }

  /// The reason why the installed cargo cannot be used; nil if it can.
  private static let obstacle: String? = {
    guard let cargo = OtherProgram.path("cargo") else { return "needs cargo" }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: cargo)
    process.arguments = ["--version"]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try? process.run()
    let words = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self).split(separator: " ")
    process.waitUntilExit()
    let numbers = words.count > 1 ? words[1].split(separator: ".").compactMap { Int($0) } : []
    guard numbers.count > 1 else { return "cargo does not run here" }
    return (numbers[0], numbers[1]) >= (1, 74) ? nil : "cargo \(words[1]) knows no credential providers; 1.74 does"
  }()

  @Test("cargo itself logs in, asks a registry and logs out", .enabled(if: obstacle == nil, "\(obstacle ?? "")"))
  func program() throws {
    let stand = try HelperStand()
    defer { stand.close() }
    let home = stand.sandbox.home
    for folder in ["/.cargo", "/served/api/v1"] {
      try FileManager.default.createDirectory(atPath: home + folder, withIntermediateDirectories: true)
    }
    let server = try GuardedServer(stand.sandbox, home + "/served", wanted: "t0ken")
    let url = "http://127.0.0.1:\(server.port)"
    try stand.sandbox.write(#"{"dl":"\#(url)/dl","api":"\#(url)","auth-required":true}"#, to: "served/config.json")
    try stand.sandbox.write(#"{"crates":[],"meta":{"total":0}}"#, to: "served/api/v1/crates")
    try stand.sandbox.write(
      try HelperManual.example("cargo", "global-credential-providers", in: stand)
        + "[registries.local]\nindex = \"sparse+\(url)/\"\n", to: ".cargo/config.toml")
    let cargo = try #require(OtherProgram.path("cargo"))
    let machine = ProcessInfo.processInfo.environment
    let environment: [String: String?] = [
      "CARGO_HOME": home + "/.cargo",
      "RUSTUP_HOME": machine["RUSTUP_HOME"] ?? (machine["HOME"] ?? "") + "/.rustup",
    ]
    #expect(try stand.run(cargo, ["search", "--registry", "local", "x"], environment).status != 0)
    try stand.must(cargo, ["login", "--registry", "local"], stdin: "t0ken\n", environment)
    #expect(try stand.sandbox.must(["get", "cargo/sparse+http:%2F%2F127.0.0.1:\(server.port)%2F"]) == "t0ken")
    #expect(!FileManager.default.fileExists(atPath: home + "/.cargo/credentials.toml"))
    try stand.must(cargo, ["search", "--registry", "local", "x"], environment)
    try stand.must(cargo, ["logout", "--registry", "local"], environment)
    #expect(try stand.names("cargo") == [])
  }
}

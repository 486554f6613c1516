import Foundation
import Glibc
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("A subject with a program") struct GivenSubjectTests {
  /// A folder with a program, links to it, and files that no process runs.
  private struct Files {
    let sandbox: Sandbox
    let folder: String

    init() throws {
      sandbox = try Sandbox()
      let root = try sandbox.run(["-f", sandbox.root], program: "/usr/bin/readlink")
      folder = root.output.trimmingCharacters(in: .newlines) + "/programs"
      let lines = """
        mkdir -p real && cp /usr/bin/true real/tool-1 && ln -s real bin && ln -s tool-1 real/tool
        ln -s tool-2 real/no
        echo text >real/text && printf '#!/bin/sh\\n' >real/script && chmod 755 real/script && mkdir real/a,b
        cp /usr/bin/true real/a,b/tool && ln -s a,b/tool real/comma
        latin=$(printf 'caf\\351') && cp /usr/bin/true "real/$latin" && ln -s "$latin" real/latin
        """
      let made = try sandbox.run(
        ["-c", "set -e; mkdir \(folder); cd \(folder); \(lines)"], program: "/bin/sh")
      try #require(made.status == 0, "\(made)")
    }
  }

  @Test("has the path that the kernel reports: without links, wherever they stand in it")
  func links() throws {
    let files = try Files()
    defer { files.sandbox.close() }
    let (folder, real) = (files.folder, "user:ana,exe:\(files.folder)/real/tool-1")
    for path in ["bin/tool", "real/tool", "bin/../bin/./tool", "real/tool-1"] {
      let subject = try GivenSubject("user:ana,exe:\(folder)/\(path)")
      #expect(subject.text == real && subject.obstacle == nil, "\(path): \(subject)")
    }
    // A relative path stays as it is, and so does a subject without exe:.
    for text in ["user:ana", "exe:tool", "unit:a.service,user:exe:/x", "ana,", ""] {
      #expect(try GivenSubject(text).text == text)
    }
    #expect(throws: Failure.self) { try GivenSubject("user:ana,exe:\(folder)/real/comma") }
    #expect(throws: Failure.self) { try GivenSubject("user:ana,exe:\(folder)/real/latin") }
  }

  @Test(
    "tells why no process runs that file",
    arguments: [
      ("bin/absent", "real/absent", "no such file"), ("bin/no", "real/tool-2", "no such file"),
      ("none/tool", "none/tool", "no such file"), ("bin", "real", "folder"), ("bin/text", "real/text", "executable"),
      ("bin/script", "real/script", "its interpreter"),
    ])
  func obstacles(path: String, resolved: String, reason: String) throws {
    let files = try Files()
    defer { files.sandbox.close() }
    let subject = try GivenSubject("user:ana,exe:\(files.folder)/\(path)")
    #expect(subject.text == "user:ana,exe:\(files.folder)/\(resolved)")
    #expect(subject.obstacle?.contains(reason) == true, "\(subject)")
  }

  @Test("gets its grant for the file behind a link, and the client says so")
  func grant() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.configure("pam-service = vault-test-none\n")
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["set", "web"], stdin: "hunter2")
    let (program, link) = (Sandbox.path(of: "other-process"), sandbox.root + "/link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: program)
    let user = "user:\(geteuid())"
    func change(_ arguments: String..., expecting lines: String...) throws {
      let terminal = try Terminal(sandbox, arguments)
      try terminal.expect("assword")
      terminal.type(password)
      #expect(try terminal.wait() == 0, "\(terminal.screen)")
      // A long line is continued below.
      let screen = terminal.screen.replacing("\r", with: "").replacing("\n… ", with: " ")
      for line in lines { #expect(screen.contains(line), "\(screen)") }
    }
    func outcome() throws -> String? {
      let process = try OtherProcess(in: sandbox)
      defer { process.end() }
      let client = try process.connect()
      try client.begin("Get", ["name": "web"])
      return try client.reply().outcome
    }
    #expect(try outcome() == "hunter2")
    // Without a grant for the item itself, the program is confined and gets nothing.
    try change("grant", "\(user),exe:\(link)", "other", expecting: "its processes have only their grants")
    #expect(try outcome() != "hunter2")
    #expect(try sandbox.run("can", "\(user),exe:\(link)", "get", "web").status == 77)
    try change("grant", "\(user),exe:\(link)", "web", expecting: "is resolved to")
    #expect(try outcome() == "hunter2")
    #expect(try sandbox.run("can", "\(user),exe:\(link)", "get", "web").status == 0)
    #expect(try sandbox.must(["grants", "--for", "\(user),exe:\(link)"]).contains("/other-process\tweb\tget"))
    try change("revoke", "\(user),exe:\(link)", "web", expecting: "may no longer")
    #expect(try outcome() != "hunter2")
    // A program that is not installed yet: the grant is given, with a warning even where nobody watches.
    let forget = "`vault grants forget \(user),exe:"
    try change("grant", "\(user),exe:\(link)-2", "web", expecting: "at present: there is no such file", forget)
    let can = try sandbox.run("can", "\(user),exe:\(link)-2", "get", "web")
    #expect(can.status == 0 && can.errors.contains("at present: there is no such file"), "\(can)")
    // A name that was mistyped stays confined until it is forgotten.
    try change(
      "revoke", "\(user),exe:\(link)-2", expecting: "may no longer", "has no grant left", "`vault grants forget user:")
    #expect(try sandbox.must(["grants", "--confined"]).contains(",exe:\(link)-2\n"))
    #expect(try sandbox.must(["grants", "--confined", "--json"]).contains(#",exe:\#(link)-2"}"#))
  }
}

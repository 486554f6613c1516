import Foundation
import Testing
import VaultTesting

/// The whole way of developers' files: from the programs that wrote them to the helpers that answer those programs.
@Suite("vault import of developers' files") struct ImportDotfilesTests {
  /// Makes a folder with the files.
  private static func folder(_ files: [(name: String, text: String)], in sandbox: Sandbox) throws -> String {
    let folder = sandbox.root + "/dotfiles"
    for (name, text) in files {
      let path = "\(folder)/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    return folder
  }

  private static func ask(_ sandbox: Sandbox, _ words: [String], _ input: String) throws -> String {
    let outcome = try sandbox.run(["helper"] + words, stdin: Array(input.utf8))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
    return outcome.output
  }

  @Test("the helpers find what was imported") func helpers() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let folder = try Self.folder(
      [
        (".git-credentials", "https://ana:p%40ss@Example.org:443\nhttps://bob:x@git.example/team/repo.git\n"),
        (
          ".docker/config.json",
          "{\"auths\":{\"https://index.docker.io/v1/\":{\"auth\":\"YW5hOnMzY3JldA==\"},"
            + "\"quay.io\":{\"identitytoken\":\"idtok\"}},\"credsStore\":\"desktop\"}"
        ),
        (".pypirc", "[pypi]\nusername = __token__\npassword = pypi-AgE\n"),
        (
          ".aws/credentials",
          "[prod]\naws_access_key_id = AKIA1\naws_secret_access_key = secret\n[sess]\naws_access_key_id = ASIA1\n"
            + "aws_secret_access_key = s\naws_session_token = t\nexpiration = 2200-01-31T12:00:00Z\n"
        ),
        (".netrc", "machine h.example login ana password n3trc\n"),
        (".npmrc", "//registry.npmjs.org/:_authToken=npm_1\n"),
        (".kube/config", "users: [{name: ci, user: {token: tok}}]\ncontexts: []\n"),
        ("app/.env", "API_KEY=\"k e y\"\n"), ("README", "text"),
      ], in: sandbox)
    let outcome = try sandbox.must(["import", "--yes", folder])
    let formats = "netrc, git-credentials, npmrc, pypirc, kubeconfig, docker, aws, env"
    #expect(outcome.contains("dotfiles: files of credentials: \(formats)"))
    #expect(outcome.contains("docker-credential-desktop keeps them"))
    let git = try Self.ask(sandbox, ["git", "get"], "protocol=https\nhost=example.org\n")
    #expect(git == "username=ana\npassword=p@ss\n")
    let path = try Self.ask(sandbox, ["git", "get"], "protocol=https\nhost=git.example\npath=team/repo.git\n")
    #expect(path == "username=bob\npassword=x\n")
    let hub = try Self.ask(sandbox, ["docker", "get"], "https://index.docker.io/v1/")
    #expect(hub.contains(#""Username":"ana","Secret":"s3cret""#))
    #expect(try Self.ask(sandbox, ["docker", "get"], "quay.io").contains(#""Username":"<token>","Secret":"idtok""#))
    let pypi = ["keyring", "get", "https://upload.pypi.org/legacy/", "__token__"]
    #expect(try Self.ask(sandbox, pypi, "") == "pypi-AgE\n")
    #expect(try Self.ask(sandbox, ["aws", "prod"], "").contains(#""AccessKeyId":"AKIA1","SecretAccessKey":"secret""#))
    let session = try Self.ask(sandbox, ["aws", "sess"], "")
    #expect(session.contains(#""SessionToken":"t""#) && session.contains("2200-01-31T12:00:00Z"))
    #expect(try Self.ask(sandbox, ["kubectl", "ci"], "").contains(#""token":"tok""#))
    #expect(try sandbox.must(["find", "url~**h.example**"]) == "netrc/h.example/ana\n")
    #expect(try sandbox.must(["get", "npm/registry.npmjs.org"]) == "npm_1")
    let variables = try sandbox.write("API_KEY=vault:env/app/API_KEY\n", to: "app.env")
    #expect(try sandbox.must(["run", "--env-file", variables, "--", "printenv", "API_KEY"]) == "k e y\n")
    #expect(try sandbox.must(["import", "--yes", folder]).contains("no item to store"))
  }

  @Test("a folder with .netrc and .ssh is one of dotfiles, and what is not taken is said at the end")
  func several() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    var files: [(name: String, text: String)] = [
      (".netrc", "machine h.example login ana password n3trc\n"), (".ssh/config", "Host *\n"),
    ]
    let home = try Self.folder(files, in: sandbox)
    let words = ["-q", "-t", "ed25519", "-N", "", "-f", "\(home)/.ssh/id"]
    #expect(try sandbox.run(words, program: "/usr/bin/ssh-keygen").status == 0)
    let whole = try sandbox.run(["import", "--yes", home])
    #expect(whole.status == 0 && whole.output.contains("dotfiles: files of credentials: ssh, netrc"), "\(whole)")
    #expect(!whole.errors.contains("keep what was not taken"), "\(whole)")
    #expect(try sandbox.must(["list", "netrc"]) == "netrc/h.example/ana\n")
    #expect(try sandbox.must(["list", "ssh"]) == "ssh/id\n")
    files = [("notes", "x"), (".npmrc", "//h/:_authToken=t\n"), (".pypirc", "password = x\n")]
    _ = try Self.folder(files, in: sandbox)
    let part = try sandbox.run(["import", "--yes", home])
    #expect(part.status == 65 && part.output.contains("`.pypirc`: line 1: it belongs to no section"), "\(part)")
    #expect(part.errors.contains("but keep what was not taken from it: 1 field, 1 file"), "\(part)")
    #expect(try sandbox.must(["get", "npm/h"]) == "t")
    // A trial ends as the import.
    #expect(try sandbox.run(["import", "--dry-run", home]).status == 65)
  }

  @Test("what has no credentials ends no import with an error") func settings() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let folder = try Self.folder(
      [
        (".aws/config", "[profile sso]\nsso_start_url = https://x\n[profile p]\nregion = eu\n"),
        (".aws/credentials", "[p]\naws_access_key_id = A\naws_secret_access_key = s\n"),
        (".netrc", "machine x login bob\nmachine y login bob password z account acc\n"),
      ], in: sandbox)
    let outcome = try sandbox.run(["import", "--yes", folder])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try sandbox.must(["get", "netrc/y/bob/account"]) == "acc")
    #expect(try !sandbox.must(["show", "netrc/y/bob"]).contains("acc\n"))
  }

  @Test("a key of ssh without a passphrase is a key of the ssh-agent") func keys() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let folder = try Self.folder([("config", "Host *\n")], in: sandbox)
    for (name, form) in [("id_openssh", "RFC4716"), ("id_pem", "PEM"), ("id_pkcs8", "PKCS8")] {
      let type = form == "RFC4716" ? "ed25519" : "ecdsa"
      let words = ["-q", "-t", type, "-m", form, "-N", "", "-C", "ana", "-f", "\(folder)/\(name)"]
      #expect(try sandbox.run(words, program: "/usr/bin/ssh-keygen").status == 0)
    }
    let words = ["-q", "-t", "ed25519", "-N", "secret", "-f", "\(folder)/id_protected"]
    #expect(try sandbox.run(words, program: "/usr/bin/ssh-keygen").status == 0)
    let outcome = try sandbox.must(["import", "--yes", folder])
    #expect(
      outcome.contains("4 items stored: 3 of kind ssh-key, 1 of kind note")
        && outcome.contains("protected by its passphrase"))
    for name in ["id_openssh", "id_pem", "id_pkcs8"] {
      let made = try sandbox.must(["pubkey", "ssh/\(name)", "--format", "openssh"])
      let line = try String(contentsOfFile: "\(folder)/\(name).pub", encoding: .utf8)
      #expect(made.split(separator: " ").prefix(2) == line.split(separator: " ").prefix(2))
    }
  }
}

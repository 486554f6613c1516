import Foundation
import Testing
import VaultTesting

@testable import VaultCLI

@Suite("The commands that messages advise") struct HintTests {
  @Test("name the machine's vault where that was asked, and otherwise not") func line() {
    #expect(Hint.line("unlock", isSystem: true) == "vault --system unlock")
    #expect(Hint.line("unlock", isSystem: false) == "vault unlock")
    #expect(Hint.vault("unlock") == "`vault unlock`")
  }

  @Test("are the machine's vault's by an option of this program alone") func option() {
    for (arguments, isSystem) in [
      (["vault", "--system", "get", "a"], true), (["vault", "get", "a", "--system"], true),
      (["git-credential-vault", "--system", "get"], true), (["vault", "get", "a"], false),
      (["vault", "run", "--", "systemctl", "--system"], false), (["--system", "get"], false), ([], false),
      (["vault", "get", "a", "--socket", "/run/vault/socket"], true),
      (["vault", "--socket=/run/vault/socket", "get", "a"], true), (["vault", "get", "a", "--socket"], false),
      (["vault", "run", "--", "x", "--socket=/run/vault/socket"], false),
    ] {
      #expect(Hint.isSystem(arguments) == isSystem, "\(arguments)")
    }
    #expect(Hint.isSystem(["vault", "get", "a"], variable: "/run/vault/socket"))
    #expect(!Hint.isSystem(["vault", "--socket", "/run/s", "get", "a"], variable: "/run/vault/socket"))
  }

  @Test("come from one place, so that none of them forgets whose vault was asked for") func literals() throws {
    let folder = Repository.root.appending(path: "Sources/VaultCLI")
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    // Help, the manual, a mark in files, and a command on another machine are no advice about a vault.
    let help = #/valueName: |help: |abstract: |discussion: |"Change the |`vault help(er)?\b/#
    let others = #/in vault\(1\)|there"|the output of |let mark =/#
    for file in files {
      let lines = try String(contentsOf: folder.appending(path: file), encoding: .utf8).split(separator: "\n")
      for line in lines where line.contains(/"[^"]*`vault [a-z][^"]*"/) && !line.contains(/^ *\/\//) {
        #expect(line.contains(help) || line.contains(others), "\(file): \(line); see Hint")
      }
    }
    #expect(files.count > 100)
  }

  @Test("are put so into the daemon's own advice, once, and nothing else of it is changed") func text() {
    let advice = "`vault verify` says what is wrong, `vault --system salvage` saves `vault` and vault\u{1B}[31m"
    #expect(
      Hint.text(advice, isSystem: true).hasPrefix(
        "`vault --system verify` says what is wrong, `vault --system salvage` saves `vault` and vault"))
    #expect(Hint.text(advice, isSystem: false).hasPrefix("`vault verify` says what is wrong, `vault --system salvage`"))
    #expect(!Hint.text(advice, isSystem: true).contains("\u{1B}"))
  }
}

import Foundation
import Testing
import VaultTesting

/// The sources that programs of the user's own open, with the real `vault`.
@Suite("vault import through other programs") struct ImportProgramsTests {
  private static let hasAge = ["age", "age-keygen"].allSatisfy { program in
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)")
  }

  /// Runs a command of a shell in the home folder.
  @discardableResult private static func shell(
    _ sandbox: Sandbox, _ command: String, _ environment: [String: String?] = [:]
  ) throws -> Outcome {
    let outcome = try sandbox.run(
      ["-c", "cd; \(command)"], program: "/bin/sh", environment: environment)
    try #require(outcome.status == 0, "\(command): \(outcome)")
    return outcome
  }

  // MARK: passage

  @Test("a store of passage is decrypted by age with the user's identities", .enabled(if: hasAge, "needs age"))
  func passage() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try Self.shell(
      sandbox,
      """
      mkdir -p .passage store/web other && age-keygen -o .passage/identities 2>/dev/null
      age-keygen -y .passage/identities >store/.age-recipients
      printf 'first secret\\nuser: ana\\n' | age -R store/.age-recipients -o store/web/mail.age
      printf 'second secret' | age -R store/.age-recipients -o store/bank.age
      cp store/bank.age other && age-keygen 2>/dev/null >strange && echo text >store/README
      age-keygen -y strange >strange.pub && echo lost | age -R strange.pub -o store/strange.age
      """)
    let store = sandbox.home + "/store"
    let outcome = try sandbox.run(["import", "--yes", store])
    #expect(outcome.status == 65 && outcome.output.hasPrefix("passage: password store, 2 files\n"), "\(outcome)")
    #expect(outcome.output.contains("not decrypted: `strange.age`: no identity matched any of the recipients"))
    #expect(outcome.output.contains("passed over in the folder: 1 (names that do not end in .age)"))
    #expect(try sandbox.must(["get", "web/mail"]) == "first secret")
    #expect(try sandbox.must(["list"]) == "bank\nweb\nweb/mail\n")
    // A store without recipients of its own is recognized by the names of its files.
    #expect(try sandbox.must(["import", "--dry-run", sandbox.home + "/other"]).hasPrefix("passage: "))
    let missing = try sandbox.run(
      ["import", "--yes", store], environment: ["PASSAGE_IDENTITIES_FILE": "/nonexistent"])
    #expect(missing.status == 69 && missing.errors.contains("cannot open the identities of passage"), "\(missing)")
    let absent = try sandbox.run(["import", "--yes", store], environment: ["PASSAGE_AGE": "no-such-age"])
    #expect(absent.status == 69 && absent.errors.contains("no-such-age is not installed"), "\(absent)")
  }

  @Test("age asks once for the passphrase of identities that are encrypted") func identities() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // A program in place of age, because age asks on a terminal alone. It counts how often it opens the identities.
    let age = """
      #!/bin/sh
      [ "$2" = -i ] || { echo asked >>"$HOME/asked"; sed 1d; exit; }
      [ "$(cat "$3")" = the-key ] && sed 1d
      """
    try sandbox.write(age, to: "fake-age")
    try Self.shell(
      sandbox,
      """
      chmod 755 fake-age && mkdir store && touch store/.age-recipients
      for name in a b; do printf 'age-encryption.org/v1\\nsecret %s' $name >store/$name.age; done
      printf 'age-encryption.org/v1\\nthe-key' >identities
      """)
    let environment = [
      "PASSAGE_AGE": sandbox.home + "/fake-age", "PASSAGE_IDENTITIES_FILE": sandbox.home + "/identities",
    ]
    let outcome = try sandbox.run(["import", "--yes", sandbox.home + "/store"], environment: environment)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try sandbox.must(["get", "b"]) == "secret b")
    #expect(try String(contentsOfFile: sandbox.home + "/asked", encoding: .utf8) == "asked\n")
  }

  // MARK: Wallets

  /// A program in place of kwallet-query that answers as that of Debian 12 does, with version 5.103 of the library:
  /// with an empty folder it lists the folders alone, it prints a message in place of an entry that it cannot read,
  /// and its exit code is 0 then; `FAILS` makes it that of a later version.
  private static let query = """
    #!/bin/sh
    for wallet; do :; done
    [ "$wallet" = kdewallet ] || { echo "Wallet $wallet not found"; exit 1; }
    folder=${2#--folder=}
    case "$1 $folder" in
    "--list-entries ") printf 'Passwords\\nForm Data\\n' ;;
    "--list-entries Passwords") printf 'binary\\nmail\\nwith/slash 100%%\\n' ;;
    "--list-entries Form Data") echo site ;;
    "--read-password=mail Passwords") echo 'first secret' ;;
    "--read-password=with/slash 100% Passwords") printf 'one\\ntwo\\n' ;;
    "--read-password=site Form Data") printf '{\\n    "pass": "pw",\\n    "user": "ana"\\n}\\n\\n' ;;
    *) echo "Failed to read entry ${1#--read-password=} value from the $wallet wallet."; exit ${FAILS:-0} ;;
    esac
    """

  @Test("a wallet is read entry by entry, and no message is taken for a password", arguments: [nil, "4"])
  func wallet(_ fails: String?) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.write(Self.query, to: "kwallet-query")
    try Self.shell(sandbox, "mkdir bin && chmod 755 kwallet-query && mv kwallet-query bin")
    let environment: [String: String?] = ["PATH": sandbox.home + "/bin:/usr/bin:/bin", "FAILS": fails]
    func take(_ arguments: String...) throws -> Outcome {
      try sandbox.run(["import"] + arguments + ["--from", "kwallet"], environment: environment)
    }
    let outcome = try take("--yes", "kdewallet")
    #expect(outcome.status == 65 && outcome.output.hasPrefix("kwallet: wallet of KDE, 3 entries\n"), "\(outcome)")
    #expect(
      outcome.output.contains(
        "not read: `Passwords/binary`: Failed to read entry binary value from the kdewallet wallet"))
    #expect(outcome.errors.contains("1 entry could not be read"))
    #expect(try sandbox.must(["get", "Passwords/mail"]) == "first secret")
    #expect(try sandbox.must(["get", "Passwords/with∕slash 100%"]) == "one\ntwo")
    #expect(try sandbox.must(["get", "Form Data/site"]) == "pw")
    #expect(try take("--yes", "kdewallet").output.contains("no item to store"))
    let other = try take("--yes", "other")
    #expect(other.status == 69 && other.errors.contains("Wallet other not found"), "\(other)")
    let absent = try sandbox.run(
      ["import", "--yes", "--from", "kwallet", "kdewallet"], environment: ["PATH": sandbox.home])
    #expect(absent.status == 69 && absent.errors.contains("kwallet-query is not installed"), "\(absent)")
  }
}

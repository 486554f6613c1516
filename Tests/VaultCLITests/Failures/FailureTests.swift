import Glibc
import Testing
import VaultClient
import VaultModel
import VaultProcess
import VaultTesting
import VaultWire

@testable import VaultCLI

@Suite("Failures") struct FailureTests {
  @Test(
    "each fault of the daemon has its exit code",
    arguments: [
      (Fault.noVault, Exit.configuration), (.vaultExists, .exists), (.locked(state: "cold", cause: "start"), .retry),
      (.timedOut, .retry), (.unanswered(number: 5), .retry), (.noSuchRequest(number: 5), .missing),
      (.noSuchRequest(number: nil), .missing), (.noSuchItem(name: "a"), .missing),
      (.noSuchVersion(name: "a", version: 2), .missing),
      (.noSuchSlot(id: 3), .missing), (.lastSlot, .denied), (.alreadyExists(name: "a", failed: nil), .exists),
      (.expired(name: "a", expires: 0), .invalid), (.invalidName(name: "..", reason: "r", failed: nil), .invalid),
      (.invalidValue(kind: "wifi", reason: "r", failed: nil), .invalid),
      (.wrongKind(name: "a", kind: "note"), .invalid),
      (.invalidQuery(reason: "r", position: 3), .usage),
      (.authenticationFailed(method: "password", retryAfterMilliseconds: 1000), .denied),
      (.mistypedRecoveryCode, .invalid), (.backingOff(method: "password", retryAfterMilliseconds: 1), .retry),
      (.methodUnavailable(method: "recovery", reason: "r"), .configuration), (.rekeying, .retry), (.cancelled, .denied),
      (.rekeyRests, .retry), (.noSuchDeposit(number: 5), .missing),
      (.accountExpired(reason: "r"), .denied), (.tooManyTries, .denied), (.presenceFailed(reason: "r"), .denied),
      (.presenceRequired(name: "a", require: "biometry"), .denied),
      (.noSuchConversation, .retry), (.weakSecret(reason: "r"), .invalid), (.tooLarge(limit: 1), .invalid),
      (.tooMuch(reason: "r"), .invalid), (.tooManyConnections(uid: 1, limit: 2), .retry),
      (.tooManyRequests(uid: 1), .retry),
      (.denied(reason: "r", request: nil), .denied), (.denied(reason: "r", request: 5), .denied),
      (.corrupt(reason: "r", newer: false), .invalid), (.corrupt(reason: "r", newer: true), .invalid),
      (.storageFailed(reason: "r"), .io), (.misconfigured(reason: "r"), .configuration), (.busy(reason: "r"), .retry),
      (.outOfMemory, .retry),
      (.invalidBackup(reason: "r"), .invalid),
      (.service(.permissionDenied), .denied), (.service(.invalidParameter(parameter: "for")), .usage),
      (.service(.methodNotFound(method: "m")), .software), (.unknown("org.example.Strange"), .software),
    ])
  func faults(fault: Fault, exit: Exit) { check(Failure(fault), exit) }

  @Test(
    "each failure of the client has its exit code",
    arguments: [
      (ClientError.noRuntimeDirectory, Exit.configuration), (.relativeRuntimeDirectory("x"), .configuration),
      (.impossibleSocket("x", remedy: "y"), .configuration), (.notUTF8(variable: "XDG_RUNTIME_DIR"), .configuration),
      (.unsafeSocket("r"), .denied), (.emptySocketPath(variable: "VAULT_SOCKET"), .usage),
      (.foreignFolder(ForeignFolder(variable: "XDG_DATA_HOME", path: "/h", owner: 1, user: 0)), .configuration),
      (.noDaemon("/run/s"), .unavailable), (.daemonFailed(status: 78, message: "vaultd: bad; mend it"), .configuration),
      (.daemonFailed(status: 139, message: ""), .unavailable), (.disconnected, .unavailable),
      (.protocolViolation("r"), .software), (.fault(.timedOut), .retry), (.timedOut, .retry),
      (.tooLarge(limit: 1), .invalid), (.system("vaultd", errno: 2), .unavailable),
      (.system("connect", errno: 13), .denied), (.system("connect", errno: 1), .denied),
      (.system("recv", errno: 5), .io),
      (.answerTooLarge(limit: 256 << 20), .invalid), (.notText(name: "a"), .invalid),
    ])
  func client(error: ClientError, exit: Exit) { check(Failure(error), exit) }

  @Test("an item that expired by the newest time in the store alone says so, and not that it wants a new value")
  func expiredAhead() {
    let ahead = Failure(Fault.expired(name: "a", expires: Int64(time(nil)) + 864_000))
    #expect(
      ahead.exit == .invalid
        && ahead.event.contains("by the newest time in the store, and the clock is behind that time"))
    #expect(ahead.advice == "set the clock, or if it is right, run `vault clock repair`")
    #expect(Failure(Fault.expired(name: "a", expires: 1)).advice?.contains("--update") == true)
  }

  @Test("a store that cannot be trusted has one advice, unless the daemon has a better one") func damagedStore() {
    let failure = Failure(Fault.corrupt(reason: "vault.db is not a database", newer: false))
    #expect(failure.message.contains("move the store's folder aside as it is, and restore a backup; `vault salvage`"))
    let better = Failure(Fault.corrupt(reason: "r", newer: false, advice: "`vault verify` says what is wrong"))
    #expect(better.message == "the store cannot be trusted: r; `vault verify` says what is wrong")
  }

  /// Expects a message of the form “what happened; what to do”: one line, lower case, no final stop.
  private func check(_ failure: Failure, _ exit: Exit) {
    #expect(failure.exit == exit)
    let parts = failure.message.split(separator: ";", maxSplits: 1)
    #expect(parts.count == 2, "\(failure.message) says not what to do")
    #expect(!failure.message.contains("\n") && !failure.message.hasSuffix("."))
    let isOfVariable = ["XDG_", "VAULT_"].contains { failure.message.hasPrefix($0) }
    #expect(failure.message.first?.isUppercase == false || isOfVariable)
  }

  @Test("attributes that cannot be read are not taken for none, and nothing is stored without them")
  func unreadAttributes() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let daemon = try ScriptedDaemon(
      sandbox,
      [
        "Show": [#"{"error":"io.vaultd.Vault.StorageFailed","parameters":{"reason":"r"}}"#],
        "Set": [#"{"parameters":{"version":2}}"#],
      ])
    defer { daemon.close() }
    let outcome = try sandbox.run(
      ["set", "web", "--update", "--attr", "a=b", "--socket", daemon.socket], stdin: Array("v".utf8))
    #expect(outcome.status == 74 && outcome.errors.contains("the store could not be written or read"), "\(outcome)")
  }

  @Test(
    "a daemon that did not start is quoted with its reason, and not with its log",
    arguments: [
      (
        "2026-11-23T22:00:00+0000 warning vaultd: [VaultDaemon] slow\nvaultd: no; do it",
        "vaultd did not start: no; do it"
      ),
      ("vaultd: no; do it\ntrailing", "vaultd did not start: no; do it"),
      ("/bin/vaultd: error while loading\nmore", "vaultd did not start: /bin/vaultd: error while loading"),
      ("", "vaultd ended with status 73; run it by hand to see why"),
    ])
  func daemonReason(_ said: String, _ event: String) {
    #expect(Failure(ClientError.daemonFailed(status: 73, message: said)) == Failure(.exists, event))
  }

  @Test("text from elsewhere cannot move the cursor")
  func printable() {
    #expect(Printable.text("a\u{1B}[2Jb\n\u{202E}c") == "a\\u{1b}[2Jb\\u{a}\\u{202e}c")
    #expect(Printable.text("Zoë/鍵") == "Zoë/鍵")
    #expect(Printable.quoted(String(repeating: "n", count: 100)).count == 82)
    #expect(Printable.text(String(repeating: "n", count: 1000)).count == 301)
  }

  @Test("the parser's words become one line of ours")
  func usage() {
    #expect(UsageError.message("Missing expected argument '<name>'") == "missing expected argument '<name>'")
    #expect(UsageError.message("One.\n  Two.") == "one. Two")
    #expect(UsageError.message("") == "the command line is wrong")
  }
}

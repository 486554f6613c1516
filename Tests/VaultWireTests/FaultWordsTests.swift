import Testing
import VaultWire

@Suite("The words about errors") struct FaultWordsTests {
  @Test("are one entry per error: the event, the advice, and in brackets the event for a log if it differs")
  func table() {
    let rows = (FaultSamples.vault + FaultSamples.service).map { fault in
      let words = fault.words()
      let log = words.journal == words.event ? "" : " [\(words.journal)]"
      return "\(FaultSamples.shortName(fault)): \(words.event)\(words.advice.map { "; \($0)" } ?? "")\(log)"
    }
    let expected = Self.rows.split(separator: "\n").map(String.init)
    #expect(rows.count == expected.count)
    for (row, line) in zip(rows, expected) { #expect(row == line) }
  }

  @Test("name no item in a log, whatever the error is", arguments: FaultSamples.vault)
  func journal(_ fault: Fault) throws {
    guard case .string(let name)? = try FaultSamples.parameters(fault)["name"] else { return }
    #expect(!fault.words().journal.contains("`"), "\(name)")
  }

  @Test(
    "advise commands on the machine's vault to a reader who works on it, and the reader's own clock and dates count")
  func readers() {
    let reader = FaultReader(isSystem: true, isAttended: true, now: 5) { "second \($0)" }
    #expect(Fault.noVault.words(reader).advice == "make one with `vault --system init`")
    #expect(Fault.denied(reason: "r", request: nil).words(reader).advice == "ask an administrator")
    #expect(Fault.denied(reason: "r", request: nil).words().advice == "ask the owner of the vault")
    #expect(Fault.misconfigured(reason: "run `vault verify`").words(reader).event == "run `vault --system verify`")
    #expect(Fault.cancelled.words(reader).event == "canceled; nothing was changed")
    #expect(Fault.expired(name: "a", expires: 5).words(reader).event == "`a` expired on second 5")
    #expect(Fault.expired(name: "a", expires: 6).words(reader).advice?.contains("set the clock") == true)
  }

  @Test("tell that only another item would help by a fact, which an older daemon does not send")
  func anotherItem() throws {
    let reason = "the use of an item never changes, and this one is for ssh"
    let told = Fault.invalidValue(kind: "", reason: reason, anotherItem: true).words()
    #expect(told.event == reason && told.advice == "make another item")
    let older = try FaultSamples.decode(
      "io.vaultd.Vault.InvalidValue", ["kind": .string("ssh-key"), "reason": .string(reason)])
    #expect(older.words().event == "not a valid value for kind ssh-key: \(reason)")
    #expect(older.words().advice == "correct it or give another --kind")
  }

  @Test("leave the advice about a busy daemon to its reason, if something has ended the call") func interrupted() {
    let reason = "the slots were changed meanwhile; try again"
    let told = Fault.busy(reason: reason).words()
    #expect(told.event == reason && told.advice == nil)
    // Words that only look as if something had ended are no advice.
    let other = Fault.busy(reason: "a backup is made meanwhile").words()
    #expect(other.advice == "try again when that is done")
  }

  @Test("add no general advice to a reason that ends with advice") func ownAdvice() {
    let reason = "its lines are indented; remove that"
    let told = Fault.invalidValue(kind: "tls-key", reason: reason).words()
    #expect(told.event == "not a valid value for kind tls-key: \(reason)" && told.advice == nil)
    #expect(Fault.storageFailed(reason: "read-only; mount it writable").words().advice == nil)
    #expect(Fault.storageFailed(reason: "disk I/O error").words().advice?.contains("health") == true)
  }

  private static let rows = """
    NoVault: there is no vault yet; make one with `vault init`
    VaultExists: there is already a vault, and it stays as it is; open it with `vault unlock`
    Locked: the vault is locked (not unlocked since the daemon started); open it with `vault unlock`
    TimedOut: nobody unlocked the vault, or showed presence, during the wait; open it with `vault unlock`
    Unanswered: nobody answered the request during the wait; ask an administrator for `vault approve 7`
    NoSuchRequest: there is no request 123456, or it is gone; see `vault requests`
    NoSuchItem: no item `a/é` (the integrity of the store is not confirmed); see `vault verify` [there is no such \
    item]
    NoSuchVersion: `a` has no version 2; the newest ten are kept; see `vault history` [there is no version 2]
    NoSuchSlot: there is no slot 3; see `vault slot list`
    LastSlot: no password and no recovery code would be left, and the other ways in may end by themselves; add a \
    recovery code with `vault slot add recovery` first
    NoSuchGrant: user:1 has no such grant; see `vault grants`
    InvalidGrant: r; see vault-access(7)
    AlreadyExists: `a` already exists; use --update to store a new version of it [there is already an item of this \
    name]
    Expired: `a` expired on 2023-11-14T22:13:20Z; store a new value with --update, or use this one with --expired \
    [the item has expired]
    InvalidName: `..` is not a valid item name: dots; choose another [dots]
    InvalidValue: short; make another item
    WrongKind: `a` is of kind note; only totp items have codes [the item is of another kind]
    WrongUse: `a` is a key for jwt; a key is used only for the purpose that `vault set --use` gave it [the key is for \
    another use]
    NeverRead: `a` is a key that is never read, and only a generated key can replace it; use it with the command for \
    its use, which `vault show` says, or make a new one with `vault set --update --generate STYLE` [its key is \
    never read, and only a generated key can replace it]
    NotOnTheseTerms: `a` makes no such token: too long; ask for less, or change the item's attributes [too long]
    InvalidQuery: invalid query at byte 7: what; see `vault help find` [what]
    AuthenticationFailed: wrong password; try again in 1 s [the secret was not accepted]
    MistypedRecoveryCode: the recovery code is mistyped: it is not complete, or its checksum does not match; \
    check it and type it again
    BackingOff: too soon after the last attempt; try again in 60 s
    MethodUnavailable: `password` cannot be used: none; do [none]
    Rekeying: the vault is being given a new key, and until that is done, no way in can be changed and no backup is \
    made; wait for it with `vault rekey`, or give it up with `vault rekey --cancel`
    RekeyRests: the vault is being given a new key, which pauses while it is locked; unlock it, then deposit the \
    value again
    NoSuchDeposit: there is no deposit 4; see `vault deposits`
    Cancelled: the person who was asked declined to answer, or did not give the right password; ask again in a minute
    NoSuchConversation: the question is no longer open; start again
    AccountExpired: since May; `vault unlock --method password` still opens the vault
    TooManyTries: too many wrong attempts; wait, or use `vault unlock --method password`
    PresenceFailed: could not check who is there: crashed; use `vault unlock --method password`
    PresenceRequired: `a` requires biometry, and nobody was asked; run it on a terminal [the item asks for a person \
    each time]
    WeakSecret: short; choose another
    TooLarge: the limit is 1 MiB per item; store less, or store it in parts [the value has more than 1048576 bytes]
    TooMuch: many; do it in several parts
    TooManyConnections: the daemon has reached its limit of 256 clients, and most of them belong to uid 1000; end \
    some of them, or try again later
    TooManyRequests: the processes of uid 4294967294 ask for too much at once; try again later
    Denied: denied: not yours; ask an administrator for `vault approve 8` [not yours]
    Corrupt: bad; do [bad]
    StorageFailed: the store could not be written or read: full; check the disk's space and health, then try again \
    [full]
    Misconfigured: mode; correct that and try again (`vault doctor` helps)
    Busy: a; try again when that is done
    OutOfMemory: there is not enough memory to check or make the secret; the secret may be right; free some memory, or \
    raise the limit of vaultd, and try again
    InvalidBackup: the backup cannot be restored: b; use another copy of it [b]
    InvalidFrame: the daemon answered `io.vaultd.Vault.InvalidFrame`, which this program does not know; update this \
    program
    InterfaceNotFound: the daemon has a different version (org.varlink.service.InterfaceNotFound); restart it, or \
    update this program
    MethodNotFound: the daemon has a different version (org.varlink.service.MethodNotFound); restart it, or update \
    this program
    MethodNotImplemented: the daemon has a different version (org.varlink.service.MethodNotImplemented); restart it, \
    or update this program
    InvalidParameter: the daemon does not accept `p`; correct it
    PermissionDenied: the daemon denies this; ask the owner of the vault
    ExpectedMore: the daemon has a different version (org.varlink.service.ExpectedMore); restart it, or update this \
    program
    """
}

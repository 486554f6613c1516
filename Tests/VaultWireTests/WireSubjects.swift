import Testing
import VaultBytes
import VaultWire

/// A type of ``Wire`` with samples that together fill every field, and the way back from JSON.
struct WireSubject: Sendable, CustomTestStringConvertible {
  /// The struct of the interface's definition that it must match.
  let definition: String
  /// JSON as the type writes it. The samples together have every field.
  let samples: [String]
  /// Decodes a frame and encodes the value again, without secrets.
  let decode: @Sendable (borrowing Frame) throws(ParameterError) -> String
  /// Returns true if each sample, decoded, equals the value that it was made from.
  let isFaithful: @Sendable () throws -> Bool

  var testDescription: String { definition }

  init<T: WireValue & Hashable>(_ definition: String, _ values: T...) {
    self.definition = definition
    samples = values.map { value in written { value.write(to: &$0) } }
    decode = { frame throws(ParameterError) in
      let value = try T(frame, frame.root)
      return written { value.write(to: &$0) }
    }
    isFaithful = {
      try values.allSatisfy { value in
        let frame = try frame(written { value.write(to: &$0) })
        return try T(frame, frame.root) == value
      }
    }
  }

  /// Makes the subject of a conversation's replies, which end with `last`.
  init<T: WireValue & Hashable>(_ definition: String, endingWith last: T) {
    let question = Wire.Question(conversation: "id", prompt: Self.prompt)
    self.init(definition, Wire.Reply<T>.question(question), .last(last))
  }

  /// Makes the subject of a type with a secret: `write` writes `full` with the secret, and `read` finds the secret.
  init<T: WireValue & Hashable>(
    _ definition: String, _ full: T, _ secrets: [[UInt8]] = [Array("päss\"\\\n".utf8), [0, 255, 10]],
    write: @escaping @Sendable (T, inout JSONWriter, RawSpan) -> Void,
    read: @escaping @Sendable (T, borrowing Frame) throws(ParameterError) -> SecretBuffer?
  ) {
    self.definition = definition
    samples = secrets.map { secret in written { write(full, &$0, unsafe secret.span.bytes) } }
    decode = { frame throws(ParameterError) in
      let value = try T(frame, frame.root)
      _ = try read(value, frame)
      return written { value.write(to: &$0) }
    }
    isFaithful = {
      for secret in secrets {
        let frame = try frame(written { write(full, &$0, unsafe secret.span.bytes) })
        let value = try T(frame, frame.root)
        // Written without its secret, the value equals the original one.
        let bare = try VaultWireTests.frame(written { value.write(to: &$0) })
        guard try T(bare, bare.root) == full, try read(value, frame)?.array == secret else { return false }
      }
      return true
    }
  }

  static let item = Wire.Item(
    name: "owm/appid", kind: "api-key", attributes: ["owner": "ana", "": "\"\n"], accessible: "always",
    require: "none", reuse: 60, version: 3, created: -1, modified: .max, expires: 1_893_456_000, size: 1 << 20,
    deleted: 5, deletion: 7, left: 9, creator: "user:1", writer: "user:2,unit:a.service", use: "sign",
    keyType: "p256", keyBits: 3072, neverRead: true, keyring: keyring, code: codeTerms)
  static let keyring = Wire.Keyring(
    id: "0123456789abcdef", order: "18446744073709551615", label: "a\nb\u{1}", contentType: "text/plain",
    attributes: [
      Wire.KeyringAttribute(key: "", value: "\t"), Wire.KeyringAttribute(key: "e\u{301}", value: "1"),
      Wire.KeyringAttribute(key: "\u{e9}", value: "2"),
    ], created: 0, modified: 253_402_300_799)
  static let foreignItem = Wire.ForeignItem(
    collection: "login", source: "/org/freedesktop/secrets/collection/login/1", label: "a\nb", contentType: "",
    attributes: keyring.attributes, created: 1, modified: 2)
  static let codeTerms = Wire.CodeTerms(
    issuer: "Example", account: "ana", digits: 6, algorithm: "SHA1", period: 30, counter: 1, steam: true)
  static let version = Wire.Version(version: 2, created: 1, size: 0, current: true, writer: "user:1")
  static let slot = Wire.Slot(
    id: 1, kind: "password", label: "é", created: 5, kdfMemory: 1 << 30, kdfPasses: 3, keystore: "tpm2", users: [1000],
    stale: true)
  static let prompt = Wire.Prompt(style: "confirm", method: "recovery", text: "Type it", number: 7)
  static let method = Wire.Method(name: "password", available: false, possible: true, reason: "because", advice: "wait")
  static let warning = Wire.Warning(about: "sleep", text: "t", advice: "a", since: 1_900_000_000)
  static let generator = Wire.Generator(style: "phrase", length: 6, symbols: false)
  static let newItem = Wire.NewItem(
    name: "a", generate: generator, kind: "note", use: "mac", attributes: ["a": "b"], accessible: "always",
    require: "password", reuse: 30, expires: 7, update: true, neverRead: true)
  static let set = Wire.SetParameters(
    name: "a", generate: generator, kind: "note", use: "mac", attributes: [:], accessible: "always",
    require: "password", reuse: 30, expires: 7, update: false, neverRead: true, interactive: true)
  static let progress = Wire.Progress(done: 1, of: 2)
  static let integrity = Wire.Integrity(state: "checking", done: 1, of: 2)
  static let finding = Wire.Finding(kind: "replayed", item: 7, name: "a", text: "older")
  static let verification = Wire.Verification(
    records: 9, unharmed: 3, harmed: 2, omitted: 1, unchecked: ["always"], reason: "locked", changed: ["when-unlocked"])
  static let permission = Wire.Permission(
    subject: "user:1", items: "a/*", rights: ["get", "set"], credential: "c", until: 9, created: 1, used: 2,
    active: true)
  static let access = Wire.Access(subject: "user:1", rights: ["get"])
  static let auditEntry = Wire.AuditEntry(
    number: 1, time: 2, action: "get", outcome: "ok", door: "socket", uid: 1000, user: "ana", pid: 3, unit: "a.service",
    executable: "/usr/bin/é", item: "a", detail: "d", purpose: "\"\n", count: 4, of: 1,
    watches: true, now: "b/é", gone: true, byName: true)
  static let auditFault = Wire.AuditFault(first: 1, last: 2, text: "t")
  static let request = Wire.Request(
    number: 123_456, state: "pending", subject: "user:1", right: "get", name: "a", missing: true, reason: "r", uid: 1,
    user: "u", pid: 2, started: 9, unit: "x.service", executable: "/x", count: 3, first: 4, last: 5, uses: 6, until: 7,
    by: 8)
  static let source = Wire.RightsSource(rights: ["get", "use"], some: true, grant: permission, approval: request)
  static let keyringPrompt = Wire.KeyringPrompt(
    number: 123_456, task: "unlock", waitsFor: "later", since: 1, uid: 2, user: "u", pid: 3, unit: "x.service",
    executable: "/x", app: "a")
  static let empty = Wire.Empty()

  static let asker = Wire.Asker(
    uid: 1, user: "u", pid: 2, started: 3, unit: "x.service", executable: "/x", terminal: "/dev/pts/3",
    chain: ["x", "sh"], reason: "r", task: "t")
  static let inquiry = Wire.Inquiry(
    number: 123_456, about: "presence", askers: [asker, asker], count: 3, name: "a", missing: true, subject: "user:1",
    right: "get", require: "biometry", reuse: 60, idle: 300, age: 3600)
  static let agent = Wire.Agent(
    number: 1, uid: 2, user: "u", pid: 3, unit: "x.service", faces: ["terminal"], since: 4)
  static let watcher = Wire.Watcher(uid: 2, user: "u", pid: 3, unit: "x.service", notice: "n", since: 4)

  static let busOwner = Wire.BusOwner(pid: 3, program: "é", own: true)
  static let keyringCollection = Wire.KeyringCollection(id: "login", label: "é", isDefault: true, items: 4)
  static let sshAgent = Wire.SSHAgent(on: true, socket: "s", keys: 1, added: 2, locked: true)

  static let all: [WireSubject] =
    types + reading + writing + keys + deposits + grants + attending + audit + conversations

  private static let attending = [
    WireSubject("Asker", asker), WireSubject("Inquiry", inquiry), WireSubject("Agent", agent),
    WireSubject("SSHAgent", sshAgent),
    WireSubject("BusOwner", busOwner), WireSubject("KeyringCollection", keyringCollection),
    WireSubject("SecretService.in", Wire.SecretServiceParameters(reload: true)),
    WireSubject(
      "SecretService.out",
      Wire.SecretServiceReply(
        on: true, name: "n", bus: "unix:path=/b", connected: true, owner: busOwner, activatable: true, problem: "p",
        advice: "a", excluded: true, collections: [keyringCollection, keyringCollection], prompts: 2)),
    WireSubject("JoinBus.in", Wire.JoinBusParameters(address: "unix:path=/b")), WireSubject("JoinBus.out", empty),
    WireSubject("Watcher", watcher),
    WireSubject("Attend.in", Wire.AttendParameters(faces: ["terminal", "pinentry"])),
    WireSubject(
      "Attend.out",
      Wire.AttendReply(
        event: "notice", time: 1, agent: 2, inquiry: inquiry, number: 3, why: "answered", notice: "locking",
        cause: "idle", at: 4, asker: asker)),
    WireSubject("Confirm.in", Wire.ConfirmParameters(inquiry: 123_456)),
    WireSubject("Confirm.out", empty),
    WireSubject("Dismiss.in", Wire.DismissParameters(inquiry: 123_456, unable: true)),
    WireSubject("Dismiss.out", empty),
  ]

  private static let types = [
    WireSubject("Item", item), WireSubject("CodeTerms", codeTerms), WireSubject("Version", version),
    WireSubject("Keyring", keyring), WireSubject("KeyringAttribute", keyring.attributes[0]),
    WireSubject("Slot", slot),
    WireSubject("Method", method), WireSubject("Warning", warning), WireSubject("Progress", progress),
    WireSubject("Generator", generator), WireSubject("Integrity", integrity), WireSubject("Finding", finding),
    WireSubject("Verification", verification), WireSubject("Permission", permission), WireSubject("Access", access),
    WireSubject("Prompt", prompt, [Array("XXXXX-é".utf8)]) { value, writer, code in
      value.write(to: &writer, secret: code)
    } read: { value, frame throws(ParameterError) in
      value.code.flatMap { frame.secret($0) }
    },
    WireSubject("ForeignItem", foreignItem) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject("NewItem", newItem) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
  ]

  private static let reading = [
    WireSubject("Status.in", empty),
    WireSubject(
      "Status.out",
      Wire.StatusReply(
        state: "locked", cause: "idle", since: 1, locksAt: 2, locksBecause: "age", locksOn: ["sleep"], vault: "id",
        items: 3, namesHidden: true, integrity: integrity, rekey: progress, problem: "p", store: "/s",
        methods: [method, method], warnings: [warning, warning], agents: [agent, agent],
        watchers: [watcher, watcher], requests: 5, prompts: 8,
        backup: 6, unconfirmed: 9, sshAgent: sshAgent, audit: "on", trash: 7, version: "1", pid: 4)),
    WireSubject("Reload.in", empty),
    WireSubject("Reload.out", Wire.ReloadReply(file: "f", missing: false, changed: ["a", "b"], later: ["c"])),
    WireSubject(
      "Get.in",
      Wire.GetParameters(
        name: "a", version: 1, waitMilliseconds: 2, reason: "r", interactive: true, expired: false, ask: true,
        describe: true)),
    WireSubject("Get.out", Wire.GetReply(name: "a", version: 1, item: item)) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject(
      "Code.in",
      Wire.CodeParameters(
        name: "a", waitMilliseconds: 2, reason: "r", interactive: true, expired: false, ask: true)),
    WireSubject(
      "Code.out", Wire.CodeReply(name: "a", until: 60, period: 30, counter: 7), [Array("123456".utf8)]
    ) { value, writer, code in
      value.write(to: &writer, secret: code)
    } read: { value, frame throws(ParameterError) in
      value.code.flatMap { frame.secret($0) }
    },
    WireSubject("Show.in", Wire.ShowParameters(name: "a", interactive: true)),
    WireSubject("Show.out", Wire.ShowReply(item: item)),
    WireSubject("Find.in", Wire.FindParameters(query: "a=b", limit: 1, after: "00ff", trash: true, interactive: false)),
    WireSubject("Find.out", Wire.FindReply(items: [item, item], next: "a place", faulty: true)),
    WireSubject("Children.in", Wire.ChildrenParameters(prefix: "a/b", limit: 1, interactive: true)),
    WireSubject("Children.out", Wire.ChildrenReply(names: ["a/b/", "a/bc"])),
    WireSubject("Attributes.in", Wire.AttributesParameters(key: "a", limit: 1, interactive: true)),
    WireSubject("Attributes.out", Wire.AttributesReply(texts: ["é", "b"])),
    WireSubject("History.in", Wire.HistoryParameters(name: "a", interactive: true)),
    WireSubject("History.out", Wire.HistoryReply(versions: [version])),
    WireSubject("ListSlots.in", empty), WireSubject("ListSlots.out", Wire.ListSlotsReply(slots: [slot])),
    WireSubject("Verify.in", empty),
    WireSubject(
      "Verify.out", Wire.VerifyReply(progress: integrity, findings: [finding, finding], result: verification)),
    WireSubject("Monitor.in", Wire.MonitorParameters(after: "c")),
    WireSubject(
      "Monitor.out",
      Wire.MonitorReply(
        event: "item", time: 1, state: "s", cause: "c", name: "n", change: "moved", to: "t", number: 5, version: 2,
        cursor: "p", missed: true)),
    WireSubject(
      "Receipt.in",
      Wire.ReceiptParameters(
        name: "n", version: 2, succeeded: false, held: true, detail: "d", notice: "o", since: "p")),
    WireSubject("Receipt.out", empty),
  ]

  private static let writing = [
    WireSubject("Set.in", set) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject("Generate.in", Wire.GenerateParameters(recipe: generator)),
    WireSubject("Generate.out", Wire.GenerateReply(), [Array("a-é".utf8)]) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      value.value.flatMap { frame.secret($0) }
    },
    WireSubject(
      "Copy.in", Wire.CopyParameters(from: "a", to: "b", replace: true, expired: false, made: true, interactive: true)),
    WireSubject("Copy.out", Wire.CopyReply(version: 1, openTo: [access])),
    WireSubject("Set.out", Wire.SetReply(version: 1, pastExpiry: 1, openTo: [access, access])),
    WireSubject("SetMany.in", Wire.SetManyParameters(items: [newItem, newItem], interactive: true)),
    WireSubject(
      "ImportCollection.in",
      Wire.ImportCollectionParameters(
        source: "/a", label: "", default: true, trial: false, made: 1, interactive: true)),
    WireSubject(
      "ImportCollection.out", Wire.ImportCollectionReply(collection: "login", made: true, default: false)),
    WireSubject(
      "ImportItems.in",
      Wire.ImportItemsParameters(items: [foreignItem, foreignItem], trial: true, interactive: true)),
    WireSubject("ImportItems.out", Wire.ImportItemsReply(outcomes: ["new", "known"])),
    WireSubject("Export.in", Wire.ExportParameters(to: "the keyring", items: 5, interactive: true)),
    WireSubject("Export.out", empty),
    WireSubject("BeginImport.in", Wire.BeginImportParameters(from: "kdbx", items: 5, interactive: true)),
    WireSubject("BeginImport.out", empty),
    WireSubject("SetMany.out", Wire.SetManyReply(versions: [1, 2], openTo: [access])),
    WireSubject("Delete.in", Wire.DeleteParameters(names: ["a", "b"], now: true, interactive: true)),
    WireSubject("Delete.out", Wire.DeleteReply(kept: 60)),
    WireSubject("Undelete.in", Wire.UndeleteParameters(name: "a", interactive: true)),
    WireSubject("Undelete.out", Wire.UndeleteReply(openTo: [access])),
    WireSubject("EmptyTrash.in", Wire.EmptyTrashParameters(after: "00ff", through: 7, interactive: true)),
    WireSubject("EmptyTrash.out", Wire.EmptyTrashReply(deleted: 3, next: "a place")),
    WireSubject("RestoreVersion.in", Wire.RestoreVersionParameters(name: "a", version: 2, interactive: true)),
    WireSubject("RestoreVersion.out", Wire.RestoreVersionReply(version: 3)),
    WireSubject("Move.in", Wire.MoveParameters(from: "a", to: "b", interactive: true)),
    WireSubject("Move.out", empty), WireSubject("Lock.in", empty), WireSubject("Lock.out", empty),
  ]

  private static let grants = [
    WireSubject(
      "Grant.in",
      Wire.GrantParameters(
        subject: "user:1", items: "a", rights: ["get"], credential: "c", until: 7, interactive: true)),
    WireSubject("Grant.out", Wire.GrantReply(replaced: permission, confined: true)),
    WireSubject("Revoke.in", Wire.RevokeParameters(subject: "user:1", items: "a", interactive: true)),
    WireSubject("Revoke.out", Wire.RevokeReply(revoked: [permission], unstored: "locked")),
    WireSubject("Grants.in", Wire.GrantsParameters(subject: "user:1", name: "a", unused: 7)),
    WireSubject("Grants.out", Wire.GrantsReply(grants: [permission], confined: ["unit:a.service"], unconfirmed: 3)),
    WireSubject("Can.in", Wire.CanParameters(subject: "user:1", right: "get", name: "a")),
    WireSubject("Can.out", Wire.CanReply(allowed: true, sources: [source])),
    WireSubject("Rights.in", Wire.RightsParameters(subject: "user:1", items: "a/*", name: "a")),
    WireSubject("Rights.out", Wire.RightsReply(rights: ["get", "use"], some: ["set"], sources: [source], more: 3)),
    WireSubject("RightsSource", source),
    WireSubject("WhoMay.in", Wire.WhoMayParameters(name: "a")),
    WireSubject("WhoMay.out", Wire.WhoMayReply(access: [access])),
    WireSubject("ConfirmGrants.in", Wire.ConfirmGrantsParameters(interactive: true)),
    WireSubject("ConfirmGrants.out", Wire.ConfirmGrantsReply(grants: 3)),
    WireSubject("RepairAudit.in", empty),
    WireSubject("AuditAside", Wire.AuditAside(first: 1, last: 2, since: 3, until: 4)),
    WireSubject(
      "RepairAudit.out", Wire.RepairAuditReply(aside: [Wire.AuditAside(first: 1, last: 2, since: 3, until: 4)])),
    WireSubject("ForgetSubject.in", Wire.ForgetSubjectParameters(subject: "unit:a.service", interactive: true)),
    WireSubject("ForgetSubject.out", empty),
    WireSubject("RepairClock.in", Wire.RepairClockParameters(interactive: true)),
    WireSubject("RepairClock.out", Wire.RepairClockReply(newest: 5, clock: 4)),
    WireSubject("Request", request), WireSubject("Requests.in", empty),
    WireSubject("KeyringPrompt", keyringPrompt),
    WireSubject(
      "Requests.out", Wire.RequestsReply(requests: [request, request], prompts: [keyringPrompt, keyringPrompt])),
    WireSubject("Refuse.in", Wire.RefuseParameters(number: 5, interactive: true)),
    WireSubject("Refuse.out", Wire.RefuseReply(prompt: keyringPrompt)),
    WireSubject(
      "Approve.in",
      Wire.ApproveParameters(
        number: 5, uses: 2, for: 3, session: true, pid: 4, started: 6, always: true, interactive: true)),
    WireSubject("Approve.out", Wire.ApproveReply(subject: "user:1", right: "get", name: "a")),
    WireSubject("Deny.in", Wire.DenyParameters(number: 5, always: true, interactive: true)),
    WireSubject("Deny.out", Wire.DenyReply(subject: "user:1", name: "a")),
    WireSubject("ForgetDenial.in", Wire.ForgetDenialParameters(subject: "user:1", name: "a", interactive: true)),
    WireSubject("ForgetDenial.out", empty),
  ]

  private static let deposits = [
    WireSubject(
      "DepositInfo",
      Wire.DepositInfo(
        number: 1, waiting: false, reason: "r", name: "a", kind: "note", accessible: "always", size: 2, time: 3,
        depositor: "user:1", sealed: true)),
    WireSubject(
      "Deposit.in",
      Wire.DepositParameters(name: "a", kind: "note", attributes: ["a": "b"], accessible: "always", reason: "r")
    ) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject("Deposit.out", Wire.DepositReply(number: 1, waiting: true, version: 2, kept: "r")),
    WireSubject(
      "SealDeposit.in",
      Wire.SealDepositParameters(key: "k", name: "a", kind: "note", attributes: ["a": "b"], accessible: "always")
    ) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.value, value.data)
    },
    WireSubject("SealDeposit.out", Wire.SealDepositReply(box: "b", fingerprint: "f")),
    WireSubject("DepositSealed.in", Wire.DepositSealedParameters(box: "b", reason: "r")),
    WireSubject(
      "DepositSealed.out", Wire.DepositSealedReply(number: 1, waiting: true, version: 2, kept: "r", name: "a")),
    WireSubject("Deposits.in", empty),
    WireSubject(
      "Deposits.out", Wire.DepositsReply(deposits: [Wire.DepositInfo(number: 1, waiting: true)])),
    WireSubject("SettleDeposit.in", Wire.SettleDepositParameters(number: 1, accept: true, interactive: true)),
    WireSubject("SettleDeposit.out", Wire.SettleDepositReply(name: "a", version: 2)),
  ]

  private static let restores = [Wire.AuditRestore(since: 1, until: 2), Wire.AuditRestore(until: 3)]

  private static let audit = [
    WireSubject("AuditEntry", auditEntry), WireSubject("AuditFault", auditFault),
    WireSubject("AuditMark", Wire.AuditMark(entry: 1, link: "00ff")),
    WireSubject("AuditRestore", Wire.AuditRestore(since: 1, until: 2)),
    WireSubject("AuditGaps", Wire.AuditGaps(begin: 1, off: true, lost: false, restores: restores)),
    WireSubject(
      "Audit.in",
      Wire.AuditParameters(
        since: 1, until: 2, items: "a/*", item: "a", subject: "user:1", denied: true, door: "socket", action: "get",
        last: 10,
        check: true, noted: [Wire.AuditMark(entry: 1, link: "00ff")], follow: true, interactive: true)),
    WireSubject(
      "Audit.out",
      Wire.AuditReply(
        entries: [auditEntry, auditEntry], progress: progress, faults: [auditFault, auditFault], total: 9, unvouched: 1,
        cut: 3, link: "00ff", compared: 4, uncompared: 5, otherNames: 2,
        gaps: Wire.AuditGaps(begin: 1, off: true, lost: false, restores: restores))),
  ]

  private static let conversations = [
    WireSubject(
      "Init.in",
      Wire.InitParameters(recovery: true, keystore: "file", insecure: true, offer: true, kdfMemory: 1, kdfPasses: 2)),
    WireSubject(
      "Authenticate.in", Wire.AuthenticateParameters(name: "a", reason: "r", interactive: true, inquiry: 123_456)),
    WireSubject(
      "Unlock.in", Wire.UnlockParameters(method: "password", for: 900, reason: "r", interactive: true)),
    WireSubject(
      "ChangePassword.in",
      Wire.ChangePasswordParameters(method: "m", kind: "k", kdfMemory: 1, kdfPasses: 2, slot: 3)),
    WireSubject("MarkStale.in", empty), WireSubject("MarkStale.out", empty),
    WireSubject(
      "AddSlot.in",
      Wire.AddSlotParameters(
        kind: "pam", label: "l", method: "m", keystore: "tpm2", users: [0], insecure: false, kdfMemory: 1, kdfPasses: 2)
    ),
    WireSubject("RemoveSlot.in", Wire.RemoveSlotParameters(id: 1, method: "m")),
    WireSubject("Salvage.in", empty),
    WireSubject(
      "Salvage.out", Wire.SalvageReply(progress: integrity, losses: [finding, finding], saved: 1, omitted: 2)),
    WireSubject("Backup.in", Wire.BackupParameters(salvaged: true, confirms: true)),
    WireSubject("Backup.out", Wire.BackupReply(size: 1, unchecked: ["always"])),
    WireSubject("Rekey.in", Wire.RekeyParameters(method: "m", cancel: false)),
    WireSubject("Restore.in", Wire.RestoreParameters(header: "AAAA", method: "recovery", check: true)),
    WireSubject("Respond.in", Wire.RespondParameters(conversation: "id", number: 2)) { value, writer, secret in
      value.write(to: &writer, secret: secret)
    } read: { value, frame throws(ParameterError) in
      try frame.content(value.answer, value.data)
    },
    WireSubject("Respond.out", empty),
  ]

  /// The replies of conversations; their definitions have the fields of both kinds of reply, all optional.
  static let replies = [
    WireSubject("Init.out", endingWith: empty), WireSubject("Authenticate.out", endingWith: empty),
    WireSubject("Unlock.out", endingWith: empty), WireSubject("ChangePassword.out", endingWith: empty),
    WireSubject("RemoveSlot.out", endingWith: empty),
    WireSubject("AddSlot.out", endingWith: Wire.AddSlotReply(slot: 2)),
    WireSubject(
      "Rekey.out", endingWith: Wire.RekeyReply(done: 1, of: 2, slots: [1], leftOut: [2], cancelled: true)),
    WireSubject("Restore.out", endingWith: Wire.RestoreReply(leftOut: [slot])),
  ]

  /// The subjects of org.varlink.service.
  static let service = [
    WireSubject("GetInfo.in", empty),
    WireSubject(
      "GetInfo.out", Wire.GetInfoReply(vendor: "v", product: "p", version: "1", url: "u", interfaces: ["a", "b"])),
    WireSubject("GetInterfaceDescription.in", Wire.GetInterfaceDescriptionParameters(interface: "i")),
    WireSubject("GetInterfaceDescription.out", Wire.GetInterfaceDescriptionReply(description: "d")),
  ]
}

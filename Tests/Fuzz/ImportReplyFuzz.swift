import VaultBytes
import VaultModel
import VaultWire

@testable import VaultCLI

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzImportReply(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseImportReply(UnsafeRawBufferPointer(start: start, count: count).bytes)
    return 0
  }
#endif

/// Reads any bytes as the replies of `vault-import`, and plans the import of the entries in them. Whatever they are,
/// the plan has names, attributes and values that the vault takes, it accounts for each field, and after it a second
/// import stores nothing. Returns true if the replies come to an end and make sense.
func exerciseImportReply(_ bytes: RawSpan) -> Bool {
  var reader = FrameReader(limit: ImportReply.frameLimit)
  var received = ReceivedEntries()
  do {
    try reader.append(bytes)
    while let frame = try reader.next() {
      guard let reply = ImportReply(frame) else { return false }
      switch consume reply {
      case .asks: continue
      case .failed: return false
      case .format(let format): try received.take(format)
      case .entry(let entry): try received.take(entry)
      case .field(let field, let value): try received.take(field, value)
      case .done(let totals):
        let format = try received.finish(totals)
        precondition(ImportNaming.part(ImportMapping.source(format, file: "a")) != nil)
        check(received.entries, totals)
        return true
      }
    }
  } catch { return false }
  return false
}

private func check(_ entries: [SourceEntry], _ totals: ImportTotals) {
  let mapped = PlannedSource.map(entries, into: ["a"])
  var vault = PlannedVault()
  let plan = vault.plan(mapped, ImportTerms(withTrash: true))
  precondition(ImportAccount(plan).totals == totals)
  var names: Set<ItemName> = []
  for step in plan.steps {
    precondition(names.insert(step.name).inserted && step.name.text.hasPrefix("a/"))
    let attributes = step.attributes(run: "run")
    precondition((try? Attributes.validate(attributes)) != nil && step.item.versionCount <= 10)
    for field in step.item.versions + [step.item.value] {
      let isTaken = field.value.withBytes { FittingKind.accepts($0, step.item.kind, attributes) }
      precondition(isTaken, "the vault would refuse a value of kind \(step.item.kind)")
    }
  }
  vault.store(plan)
  let again = vault.plan(PlannedSource.map(entries, into: ["a"]), ImportTerms(withTrash: true))
  precondition(again.steps.isEmpty, "a second import stores items")
}

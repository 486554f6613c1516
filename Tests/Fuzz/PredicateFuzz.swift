import VaultModel

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzPredicate(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    let text = unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    _ = exercisePredicate(text, now: times[count & 3])
    return 0
  }
#endif

/// The limits of time and a day between them, in Unix seconds.
let times: [Int64] = [.min, 0, 1_795_264_565, .max]

/// Reads any text as a query. A valid query must search without a trap and describe itself correctly; an invalid one
/// must give a position within the text. Returns true if it was read.
func exercisePredicate(_ text: String, now: Int64) -> Bool {
  do throws(QueryError) {
    let query = try Query(parsing: text)
    for item in items where query.matches(item, now: now) { check(query, found: item) }
    return true
  } catch {
    precondition((0...text.utf8.count).contains(error.position) && !error.reason.isEmpty)
    return false
  }
}

/// Requires that an index that trusts the query's description of itself still finds `item`.
private func check(_ query: Query, found item: ItemInfo) {
  if let name = query.exactName { precondition(item.name == name) }
  if let folder = query.folder { precondition(item.name.folders.contains { $0.utf8.elementsEqual(folder.utf8) }) }
  if let kind = query.kind { precondition(item.kind == kind) }
  for (key, value) in query.equalities {
    precondition(item.attributes[key]?.utf8.elementsEqual(value.utf8) == true)
  }
}

private let items: [ItemInfo] = {
  let names = ["iothome/express.key", "a/b/c", "a", "Grüße/€ 🔑", String(repeating: "a", count: 64)]
  let attributes = [
    ["owner": "ana", "site": "north \"wing\""], [:], ["a": "b", "c": ""], ["xdg:schema": "café"], [:],
  ]
  return zip(names, attributes).enumerated().compactMap { index, pair in
    guard let name = try? ItemName(pair.0) else { return nil }
    return ItemInfo(
      name: name, kind: ItemKind.allCases[index], attributes: pair.1, policy: Policy(), created: Int64(index),
      modified: 1_795_264_565, expires: index == 0 ? nil : Int64(index) << 40,
      versions: [VersionInfo(number: index + 1, created: 0, size: 1 << (index * 8))])
  }
}()

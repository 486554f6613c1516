import VaultCore
import VaultModel

// The work of each stage of a rekey, in steps of a given number of records.
extension Rekey {
  /// The number of rows that take as long as one record, because they are not sealed anew.
  private static let plainRows = 8

  private var copy: ItemCopy { ItemCopy(source: source, target: target) }

  func walkItems(_ records: Int) throws(VaultError) {
    try begin()
    var left = records
    isWalkOver = true
    var failure: VaultError?
    try source.noticing { () throws(VaultError) in
      try source.database.each(after: position) { (number: Int64, row: Result<Row, VaultError>) throws(VaultError) in
        let row = try row.get()
        do throws(VaultError) { left -= try walk(row, number) } catch {
          failure = error
          return false
        }
        isWalkOver = left > 0 && !tags.isFull
        return isWalkOver
      }
    }
    if let failure { throw failure }
    if tags.isFull || isWalkOver {
      try commit()
      stage = .tags
    }
    try commitWhenDue()
  }

  /// Copies the item in a row, and returns the number of records that it counts as.
  private func walk(_ row: Row, _ number: Int64) throws(VaultError) -> Int {
    let result = try copy.copy(row, taggedAtOnce: false)
    for tag in try target.tags(of: result.head.item) { tags.add(tag, number, row.columns.accessible) }
    position = number
    walked += 1
    if result.isCopied { count(result.head) }
    return Self.weight(of: result)
  }

  /// The number of records that an item counts as in a step. An item with long values counts as several.
  private static func weight(of result: ItemCopy.Result) -> Int {
    result.head.item.versions.reduce(1) { $0 + $1.size / recordSize }
  }

  func writeTags(_ records: Int) throws(VaultError) {
    try begin()
    for _ in 0..<records {
      guard let next = tags.next() else {
        try commit()
        stage = !isWalkOver ? .items : isResumed ? .leftovers : .audit
        return
      }
      try copy.put(next.tag, row: next.row, next.accessible)
      written.records += 1
    }
    try commitWhenDue()
  }

  func walkLeftovers(_ records: Int) throws(VaultError) {
    try begin()
    var found: [Int64] = []
    try target.database.each(after: leftover) { (item: Int64, row: Result<Row, VaultError>) throws(VaultError) in
      _ = try row.get()
      found.append(item)
      return found.count < records
    }
    for item in found {
      leftover = item
      let isThere = try source.noticing { () throws(VaultError) in
        try source.database.withHead(item) { (_: Row) in true }
      }
      if isThere == nil {
        try copy.remove(item)
        written.records += 1
      }
    }
    try commitWhenDue()
    if found.count < records {
      try commit()
      stage = .audit
    }
  }

  func copyAudit(_ records: Int) throws(VaultError) {
    try begin()
    let isCopied = try target.copyAudit(of: source, rows: records * Self.plainRows, nil)
    written.records += records
    if isCopied {
      try commit()
      stage = .deposits
    }
    try commitWhenDue()
  }

  func copyDeposits(_ records: Int) throws(VaultError) {
    // A row whose number somebody else chose gets another number, for which all numbers must be known.
    let isKnown = try source.noticing { () throws(VaultError) in
      try source.checkDeposits(records: records * Self.plainRows)
    }
    guard isKnown else { return }
    let copy = deposits ?? DepositCopy(from: source, to: target)
    deposits = copy
    try begin()
    guard copy.isCleared else {
      copy.isCleared = try target.clearDeposits(records: records * Self.plainRows)
      return try commit()
    }
    var left = records
    let isOver = try copy.walk(&left)
    count(records - left)
    if isOver {
      try commit()
      stage = .grants
    }
    try commitWhenDue()
  }

  func copyGrants(_ records: Int) throws(VaultError) {
    let copy = grants ?? GrantCopy(from: source, to: target)
    grants = copy
    try begin()
    guard copy.isCleared else {
      copy.isCleared = try target.clearGrants(records: records * Self.plainRows)
      written.records += records
      return try commitWhenDue()
    }
    if try copy.walk(records, &written) {
      try commit()
      stage = .changed(isChecked: false)
    }
    try commitWhenDue()
  }

  /// Counts deposits with a weight of `weight` records as written.
  private func count(_ weight: Int) {
    written.records += weight
    written.bytes += weight * Self.recordSize
  }

  func copyChanged(_ records: Int, _ isChecked: Bool) throws(VaultError) -> Bool {
    var left = records
    while left > 0, let item = source.touched?.popFirst() {
      try begin()
      let result = try copy.bring(item)
      if let result { count(result.head) }
      left -= result.map { Self.weight(of: $0) } ?? 1
    }
    while left > 0, let deposits, let number = source.touchedDeposits?.popFirst() {
      try begin()
      let weight = try deposits.bring(number)
      count(weight)
      left -= weight
    }
    while left > 0, let grants, let number = source.touchedGrants?.popFirst() {
      try begin()
      try grants.bring(number, &written)
      left -= 1
    }
    guard source.countOfTouched == 0 else {
      try commitWhenDue()
      return false
    }
    // The check of the second store compares its items with these facts.
    try begin()
    raiseFacts()
    // The log is copied now, so that the end has little left to copy, however much was written during the check.
    let isCopied = try target.copyAudit(of: source, rows: records * Self.plainRows, nil)
    guard isCopied else {
      written.records += records
      try commitWhenDue()
      return false
    }
    try commit()
    if isChecked {
      if isFolded { return true }
      // The end folds in both logs, which are short then.
      isFolded = true
      source.foldLog()
      return false
    }
    target.beginVerification()
    stage = .check
    return false
  }

  func check(_ records: Int) throws(VaultError) {
    guard let result = try target.continueVerification(records: records) else { return }
    guard result.isOK else {
      throw .secondStore(result.findings.first?.text ?? "keys are missing")
    }
    stage = .changed(isChecked: true)
  }
}

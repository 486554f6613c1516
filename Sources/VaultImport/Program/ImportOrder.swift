internal import VaultBytes
internal import VaultWire

/// The files to read and the name of their format, as `vault` sends them, part by part.
struct ImportOrder {
  /// The name of the format; nil if the program is to recognize it.
  let format: String?
  private(set) var files: [Source.File] = []
  /// The file of which parts are missing.
  private var open: (path: String, modified: Int64?, count: Int)?
  private var bytes: [UInt8] = []
  /// The bytes of all files together.
  private var total = 0

  init(format: String?) { self.format = format }

  /// True if no part is missing.
  var isWhole: Bool { open == nil }

  /// Begins a file of `count` bytes; false if a part of the file before it is missing.
  ///
  /// - Throws: ``ImportFailure`` if the files exceed the limits.
  mutating func begin(_ path: String, count: Int, modified: Int64?) throws(ImportFailure) -> Bool {
    guard isWhole, count >= 0 else { return false }
    guard files.count < ImportCall.most.files else {
      throw ImportFailure(.tooLarge, "there are more than \(ImportCall.most.files) files")
    }
    guard count <= ImportCall.most.bytes - total else {
      throw ImportFailure(.tooLarge, "the files have more than \(ImportCall.most.bytes >> 20) MiB together")
    }
    total += count
    open = (path, modified, count)
    // The memory is taken once and never moves: there is no room for two copies of the largest file.
    bytes.reserveCapacity(count)
    closeIfWhole()
    return true
  }

  /// Adds the next bytes of the file; false if it does not have as many.
  mutating func add(_ part: borrowing SecretBuffer) -> Bool {
    guard let open, part.count > 0, part.count <= ImportCall.longestPart, part.count <= open.count - bytes.count
    else { return false }
    part.withBytes { part in
      // The span is valid for the call, which copies it.
      unsafe part.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
    }
    closeIfWhole()
    return true
  }

  private mutating func closeIfWhole() {
    guard let (path, modified, count) = open, bytes.count == count else { return }
    files.append(Source.File(path, bytes, modified: modified))
    bytes = []
    open = nil
  }
}

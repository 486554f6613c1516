import VaultWire

@testable import VaultImport

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzZip(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseZip(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Unpacks any bytes as a zip archive. Whatever it contains keeps to the rules: no two files share bytes or a name, and
/// all together have no more bytes than is allowed. Returns true if all files are whole.
func exerciseZip(_ bytes: [UInt8]) -> Bool {
  let limit = ExpansionLimit(bytes: 1 << 20, ratio: 256, free: 256 << 10)
  do throws(ImportFailure) {
    var archive = try ZipArchive(bytes, limit: limit)
    let members = archive.members
    precondition(Set(members.map(\.name)).count == members.count)
    precondition(members.reduce(0) { $0 + $1.size } <= limit.bytes)
    let taken = members.map(\.whole).sorted { $0.lowerBound < $1.lowerBound }
    precondition(zip(taken, taken.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
    for member in members {
      precondition(!member.name.hasPrefix("/") && !member.name.split(separator: "/").contains(".."))
      let content = try archive.content(of: member)
      precondition(content.count == member.size)
    }
    return !members.isEmpty
  } catch {
    precondition(!error.reason.isEmpty && error.code != .failed)
    return false
  }
}

import VaultBytes
import VaultModel

@testable import VaultCLI

#if !SWIFT_PACKAGE
  @c(LLVMFuzzerTestOneInput)
  public func fuzzHelper(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // libFuzzer lends `count` bytes for the call.
    _ = unsafe exerciseHelper(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
  }
#endif

/// Reads any bytes in three ways: as another program's name, which must have exactly one spelling as a part of an
/// item's name; as such a part; and as input from git, which must be refused at a line that exists, or concern items in
/// git's folder. Returns true if git's input was understood.
func exerciseHelper(_ bytes: [UInt8]) -> Bool {
  let segment = NameSegment.encode(bytes)
  precondition(NameSegment.decode(segment) == bytes && !segment.contains("/"))
  precondition(segment.utf8.count > ItemName.maximumBytes || (try? ItemName(segment)) != nil)
  if let text = String(validating: bytes, as: UTF8.self), let name = NameSegment.decode(text) {
    precondition(NameSegment.encode(name).utf8.elementsEqual(bytes))
  }
  do throws(GitAttributes.Problem) {
    // Bytes have no padding: all are initialized.
    let said = try GitAttributes(parsing: unsafe bytes.span.bytes)
    for key in GitAttributes.Key.allCases {
      precondition(said.name(key)?.contains { $0 == 0 || $0 == 0x0A } != true)
    }
    guard let place = GitPlace(said) else { return true }
    precondition(place.names.first == place.name && place.names.count == place.folders.count)
    for (folder, name) in zip(place.folders, place.names) {
      precondition(name.hasPrefix("git/") && name.hasPrefix(folder + "/"))
      precondition((3...4).contains(name.utf8.count { $0 == UInt8(ascii: "/") }))
      precondition(place.user(of: name)?.name == said.name(.username) ?? [])
      precondition(place.user(of: "\(name)/\(GitPlace.refreshToken)") == nil)
      precondition(name.utf8.count > ItemName.maximumBytes || (try? ItemName(name)) != nil)
    }
    return true
  } catch {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).count
    precondition((1...lines).contains(error.line) && !error.reason.isEmpty)
    return false
  }
}

import CLinux
import CPAM

/// Bytes in their own memory, wiped when the value's life ends: a password, or a frame that carries one.
///
/// The memory is kept out of core files and, if the limits allow it, out of swap. It does not grow: bytes that do not
/// fit make it ``isBroken``. It takes nothing from the heap, which the child of ``vault_clone()`` must not touch.
@safe struct WipedBytes: ~Copyable {
  private struct Header {
    var count: Int
    var isBroken: Bool
    var owner: uid_t
  }

  private static let size = 16 * 1024
  /// The most bytes of a password: more than any PAM conversation carries (PAM_MAX_RESP_SIZE is 512).
  private static let longestPassword = 2048

  private let base: UnsafeMutableRawPointer
  private var isOurs = true

  /// Makes an empty buffer; nil when there is no memory.
  init?(owner: uid_t = 0) {
    let mapped = unsafe mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    // MAP_FAILED, a macro that Swift cannot import, is the address of all ones.
    guard let mapped = unsafe mapped, UInt(bitPattern: mapped) != .max else { return nil }
    unsafe mlock(mapped, Self.size)
    unsafe madvise(mapped, Self.size, MADV_DONTDUMP)
    unsafe base = mapped
    unsafe header.initialize(to: Header(count: 0, isBroken: false, owner: owner))
  }

  /// Copies the text that PAM holds as `item`; nil when PAM holds no text or one longer than any password, or when
  /// there is no memory.
  init?(item: Int32, _ pamh: OpaquePointer, owner: uid_t) {
    var found: UnsafeRawPointer?
    guard unsafe pam_get_item(pamh, item, &found) == PAM_SUCCESS, let found = unsafe found else { return nil }
    let count = unsafe strlen(found.assumingMemoryBound(to: CChar.self))
    guard (1...Self.longestPassword).contains(count) else { return nil }
    self.init(owner: owner)
    unsafe append(UnsafeRawBufferPointer(start: found, count: count))
  }

  /// Takes over the memory that ``release()`` gave away.
  init(adopting base: UnsafeMutableRawPointer) { unsafe self.base = base }

  deinit {
    guard isOurs else { return }
    unsafe explicit_bzero(base, Self.size)
    unsafe munmap(base, Self.size)
  }

  /// Gives the memory away, unwiped, to the caller, who must adopt it again.
  mutating func release() -> UnsafeMutableRawPointer {
    isOurs = false
    return unsafe base
  }

  /// Copies the bytes and the owner; nil when there is no memory.
  func copy() -> WipedBytes? {
    guard var copy = WipedBytes(owner: owner) else { return nil }
    unsafe copy.append(bytes)
    return copy
  }

  // The mapping begins with the header; the bytes follow it.
  private var header: UnsafeMutablePointer<Header> { unsafe base.assumingMemoryBound(to: Header.self) }
  private var start: UnsafeMutableRawPointer { unsafe base + MemoryLayout<Header>.stride }
  private static var capacity: Int { size - MemoryLayout<Header>.stride }

  var count: Int { unsafe header.pointee.count }
  /// True when something did not fit.
  var isBroken: Bool { unsafe header.pointee.isBroken }
  /// The uid of the user whose password it is.
  var owner: uid_t { unsafe header.pointee.owner }
  /// The bytes, valid until this value changes.
  var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(start: start, count: count) }

  subscript(index: Int) -> UInt8 { unsafe bytes[index] }

  mutating func clear() {
    unsafe explicit_bzero(start, count)
    unsafe header.pointee.count = 0
    unsafe header.pointee.isBroken = false
  }

  mutating func append(_ byte: UInt8) {
    guard count < Self.capacity else {
      unsafe header.pointee.isBroken = true
      return
    }
    unsafe start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    unsafe header.pointee.count += 1
  }

  mutating func append(_ bytes: UnsafeRawBufferPointer) {
    for index in bytes.indices { unsafe append(bytes[index]) }
  }

  mutating func append(_ text: StaticString) {
    unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends a C string, without its NUL.
  mutating func append(string: UnsafePointer<CChar>) {
    unsafe append(UnsafeRawBufferPointer(start: string, count: strlen(string)))
  }

  /// The memory itself, ``room`` bytes aligned for any type, for contents other than text.
  var raw: UnsafeMutableRawPointer { unsafe start }
  /// The number of bytes that fit.
  var room: Int { Self.capacity }

  /// The first place of `text` at or after `from`; nil when there is none.
  func find(_ text: StaticString, from: Int = 0) -> Int? {
    let length = text.utf8CodeUnitCount
    guard length > 0, count - from >= length else { return nil }
    for at in from...(count - length) where unsafe memcmp(start + at, text.utf8Start, length) == 0 { return at }
    return nil
  }
}

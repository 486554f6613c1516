internal import CSodium
internal import Glibc
internal import Synchronization

/// A piece of memory from `sodium_malloc`: a guard page on either side, and the pages between them locked into RAM if
/// the kernel has room for that. A buffer in it ends at the beginning of the guard page.
///
/// To map and unmap a piece takes twelve system calls, more time than a signature. So all small pieces have one size,
/// and a piece that is given back is wiped and kept for the next buffer.
@safe struct SecurePage: @unchecked Sendable {
  /// The size of a small piece in bytes: with libsodium's canary before it, one page of memory on most processors.
  private static let usual = 4096 - 16
  /// The highest number of pieces that are kept for the next buffers.
  private static let most = 32

  private let base: UnsafeMutableRawPointer
  private let size: Int
  /// False if the kernel did not lock the piece into RAM.
  let isLocked: Bool

  private static let kept = Mutex<[SecurePage]>([])

  /// Takes a piece with room for `count` bytes, which are all zero.
  ///
  /// Traps only when the process is out of memory, as every Swift allocation does.
  static func take(count: Int) -> SecurePage {
    guard count <= usual else { return SecurePage(size: count) }
    return kept.withLock { $0.popLast() } ?? SecurePage(size: usual)
  }

  private init(size: Int) {
    Sodium.start()
    guard let base = unsafe sodium_malloc(size) else { preconditionFailure("out of memory") }
    unsafe self.base = base
    self.size = size
    // `sodium_malloc` has locked the pages, or has failed to and does not tell. A second lock costs one short call and
    // takes no room within the limit.
    isLocked = unsafe mlock(base, size) == 0
    unsafe sodium_memzero(base, size)
  }

  /// The address of the last `count` bytes, which end at the guard page.
  @unsafe func start(count: Int) -> UnsafeMutableRawPointer { unsafe base + (size - count) }

  /// Gives the piece back. Its user wrote at most the last `count` bytes; these are wiped before anything
  /// else can get them.
  func giveBack(count: Int) {
    unsafe sodium_memzero(start(count: count), count)
    // An unlocked piece is not kept, because the kernel may have room to lock the next one.
    let isKept =
      size == Self.usual && isLocked
      && Self.kept.withLock { kept in
        guard kept.count < Self.most else { return false }
        kept.append(self)
        return true
      }
    if !isKept { unsafe sodium_free(base) }
  }

  /// Unmaps the pieces that are kept.
  static func unmapKept() {
    let pages = kept.withLock { kept in
      defer { kept = [] }
      return kept
    }
    for page in pages { unsafe sodium_free(page.base) }
  }
}

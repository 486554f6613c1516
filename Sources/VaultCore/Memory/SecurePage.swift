internal import CSodium
internal import Glibc
internal import Synchronization

/// A piece of memory from `sodium_malloc`: a guard page on either side, and the pages between locked into RAM where the kernel
/// has room for that. A buffer in it ends where the guard page begins.
///
/// To map one and unmap it takes twelve system calls, more time than a signature. So small ones have one size, and are kept
/// for the next when they are given back, with every byte wiped.
@safe struct SecurePage: @unchecked Sendable {
  /// The size of the small ones in bytes: with libsodium's canary before it, a page of memory as most processors have it.
  private static let usual = 4096 - 16
  /// The most that are kept for the next.
  private static let most = 32

  private let base: UnsafeMutableRawPointer
  private let size: Int
  /// False when the kernel did not lock it into RAM.
  let isLocked: Bool

  private static let kept = Mutex<[SecurePage]>([])

  /// Takes one with room for `count` bytes; all of them are zero.
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
    // `sodium_malloc` has locked the pages, or failed to and told nobody. Locking them again costs one short call, and
    // no room within the limit.
    isLocked = unsafe mlock(base, size) == 0
    unsafe sodium_memzero(base, size)
  }

  /// The first of the last `count` bytes, behind which the guard page begins.
  @unsafe func start(count: Int) -> UnsafeMutableRawPointer { unsafe base + (size - count) }

  /// Gives it back, of which nobody uses more than the last `count` bytes: they are wiped before anything else can get them.
  func giveBack(count: Int) {
    unsafe sodium_memzero(start(count: count), count)
    // The kernel may have room for another by then.
    let isKept =
      size == Self.usual && isLocked
      && Self.kept.withLock { kept in
        guard kept.count < Self.most else { return false }
        kept.append(self)
        return true
      }
    if !isKept { unsafe sodium_free(base) }
  }

  /// Unmaps those that are kept.
  static func unmapKept() {
    let pages = kept.withLock { kept in
      defer { kept = [] }
      return kept
    }
    for page in pages { unsafe sodium_free(page.base) }
  }
}

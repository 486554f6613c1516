internal import CGivenFiles
internal import Glibc
internal import NIOCore
internal import VaultService

/// The files that other programs pass over a bus, and the threads that may have to wait for them.
///
/// To close a file, or to write to it, may take for ever, because the program that passed the file may serve the file's
/// file system. So neither is done on the loop. sd-bus gets placeholders of the files, see given_files.h.
@safe final class GivenFiles {
  /// The most threads. A file that never answers keeps one of them for ever.
  private static let mostThreads = 4
  /// The most files that wait to be closed. Beyond this number, no further files are taken.
  private static let mostClosing = Int(VAULT_GIVEN_MOST)
  /// The most descriptors: for the files that wait to be closed and the files of one message, each with its
  /// placeholder.
  static let mostDescriptors = 2 * Int(VAULT_GIVEN_MOST + VAULT_GIVEN_AT_ONCE)

  private let loop: any EventLoop
  private let register: OpaquePointer
  private var idle: [WorkerThread] = []
  private var threads = 0
  /// The work that waits for a thread.
  private var waiting: [(WorkerThread) -> Void] = []
  /// The number of files that are not closed yet.
  private var closing = 0
  /// The number of callers that expect a file.
  private var expecting = 0

  /// - Parameter loop: the loop of the bus.
  init(on loop: any EventLoop) throws(SystemError) {
    guard let register = unsafe vault_given_new() else { throw SystemError(call: "calloc") }
    self.loop = loop
    unsafe self.register = unsafe register
  }

  // A file of a message that somebody still keeps stays open. Only tests end a bus before the process ends.
  deinit { unsafe vault_given_free(register) }

  /// Exchanges the files that come through this socket for placeholders from now on; -1 stands for no socket.
  func watch(_ socket: Int32) { unsafe vault_given_watch(register, socket) }

  /// Takes files from now on. While nobody expects any, the messages that carry some are dropped.
  func expect() { accept(expecting + 1, closing) }

  /// Takes no files any more, unless somebody else expects some.
  func expectNoMore() { accept(expecting - 1, closing) }

  private func accept(_ expecting: Int, _ closing: Int) {
    (self.expecting, self.closing) = (expecting, closing)
    unsafe vault_given_accept(register, expecting > 0 && closing < Self.mostClosing)
  }

  /// Closes the files whose messages are gone. Call this each time messages were dispatched.
  func sweep() {
    while case let file = unsafe vault_given_left(register), file >= 0 { close(file) }
  }

  /// Closes a file, and runs `then` afterwards, or at once if all threads are busy.
  func close(_ file: Int32, then: @escaping () -> Void = {}) {
    accept(expecting, closing + 1)
    let waits = !idle.isEmpty || threads < Self.mostThreads
    run {
      Glibc.close(file)
    } then: { [self] _ in
      accept(expecting, closing - 1)
      if waits { then() }
    }
    if !waits { then() }
  }

  /// Runs `work`, which may have to wait for a given file, in a thread as soon as one is free, and `then` on the loop.
  func run<T: Sendable>(_ work: @escaping @Sendable () -> T, then: @escaping (T) -> Void) {
    waiting.append { [self] thread in
      thread.run(work) { [self] result in
        idle.append(thread)
        then(result)
        next()
      }
    }
    next()
  }

  private func next() {
    while !waiting.isEmpty, let thread = thread() { waiting.removeFirst()(thread) }
  }

  private func thread() -> WorkerThread? {
    if let thread = idle.popLast() { return thread }
    guard threads < Self.mostThreads else { return nil }
    threads += 1
    return WorkerThread(telling: loop)
  }
}

extension BusMessage {
  /// Takes a file out of the message; the caller has to close it. A message gives each file once.
  func file() throws(BusError) -> Int32 {
    let file = vault_given_take(try descriptor())
    guard file >= 0 else { throw BusError(name: "", text: "the file was taken before, or there was none") }
    return file
  }
}

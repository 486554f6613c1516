internal import CLinux
internal import Glibc

/// The service manager's store, which keeps a service's descriptors for its next process (`FileDescriptorStoreMax=`).
///
/// sd_notify(3) is not used: it would wait for a manager that does not read, and the whole daemon would wait with it.
struct DescriptorStore {
  private static let message: StaticString = "FDSTORE=1\nFDNAME=credential"

  /// Nil when there is no manager, so that nothing is kept.
  private let socket: Int32?

  /// - Parameter address: the value of `NOTIFY_SOCKET`.
  init(_ address: String?) {
    let connected = address.map { unsafe vault_connect_notifications($0) } ?? -1
    socket = connected >= 0 ? connected : nil
  }

  /// Gives the manager a copy of a descriptor. The manager drops it by itself once the socket is shut down.
  ///
  /// - Returns: false when the manager takes nothing for now, so that the caller may try again.
  func keep(_ descriptor: Int32) -> Bool {
    guard let socket else { return true }
    let text = unsafe UnsafeRawPointer(Self.message.utf8Start).assumingMemoryBound(to: CChar.self)
    // A literal ends with a NUL, and the pointer is valid for the call.
    return unsafe vault_send_descriptor(socket, text, descriptor) == 0 || errno != EAGAIN
  }
}

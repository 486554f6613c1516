internal import CSystemd
internal import Glibc

/// The place where the service manager keeps descriptors for a service until its next process (`FileDescriptorStoreMax=`).
enum DescriptorStore {
  /// Hands a descriptor over, and closes it here. The manager drops it by itself once the socket is shut down; where there is no
  /// manager, nothing keeps it.
  static func keep(_ descriptor: Int32) {
    var descriptor = descriptor
    // The descriptor is lent for the call, which sends a copy.
    _ = unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=credential", &descriptor, 1)
    close(descriptor)
  }
}

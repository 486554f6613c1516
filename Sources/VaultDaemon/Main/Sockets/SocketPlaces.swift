internal import CLinux
internal import Glibc

/// The places of the daemon's sockets in the file system. Nobody can connect to a socket that has lost its place: its
/// file was removed or replaced, or the folder above it was removed, moved, unmounted or covered.
struct SocketPlaces {
  private struct Place {
    let path: String
    let device: dev_t
    let inode: ino_t

    init?(_ path: String) {
      var status = stat()
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return nil }
      (self.path, device, inode) = (path, status.st_dev, status.st_ino)
    }

    /// True while the path leads to the same socket. The daemon has the socket open, so no other file gets its number.
    var isHeld: Bool {
      guard let now = Place(path) else { return false }
      return now.device == device && now.inode == inode
    }
  }

  private let places: [Place]

  /// Notes where the sockets are. A path at which there is no socket is left out.
  init(_ paths: [String]) { places = paths.compactMap(Place.init) }

  /// The path of the first socket.
  var first: String? { places.first?.path }

  /// The path of the first socket, if it has lost its place.
  var lost: String? { places.first.flatMap { $0.isHeld ? nil : $0.path } }

  /// Removes the sockets. What others have put in their place stays: it may be the socket of the next daemon.
  func remove() { for place in places where place.isHeld { unsafe unlink(place.path) } }
}

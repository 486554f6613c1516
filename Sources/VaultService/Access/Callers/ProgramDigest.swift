/// The SHA-256 of the file that a caller's process runs, as far as it is known.
package enum ProgramDigest: Hashable, Sendable {
  /// Nobody has asked for the digest, or the file is being read.
  case unread
  /// The file could not be read in time, or was changed meanwhile. Any digest that a grant names may be the file's.
  case uncertain
  /// The digest, in hexadecimal; nil if the daemon may not read the file, or the file is too long to be named by a
  /// grant.
  case known(String?)
}

internal import CLinux
internal import Glibc

/// Creates the directory of a new vault, with mode 0700, and its parent directories.
package enum StorePath {
  package static func make(_ path: String) throws(SystemError) {
    var made = ""
    for part in path.split(separator: "/") {
      made += "/" + part
      if unsafe mkdir(made, 0o700) != 0 && errno != EEXIST { throw SystemError(call: "mkdir \(made)") }
    }
  }
}

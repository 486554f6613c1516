import Testing
import VaultTesting

// A file system in memory that has the sandbox's store, and that can be full.
extension Sandbox {
  private var data: String { root + "/data" }

  /// Runs `body` with a vault that is unlocked, whose store lies on a file system of 1 MiB; `remount` changes the
  /// options of that.
  static func withSmallDisk(_ body: (Sandbox, _ remount: (String) throws -> Void) throws -> Void) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    try sandbox.mountDisk("size=1m,mode=0700")
    defer { sandbox.unmountDisk() }
    try sandbox.startDaemon()
    try sandbox.must(["init", "--password-stdin"] + floorOptions, stdin: password + "\n")
    try sandbox.must(["unlock", "--password-stdin"], stdin: password + "\n")
    try body(sandbox) { try sandbox.mountDisk("remount,\($0)") }
  }

  /// Mounts the file system, or mounts it again with other options.
  func mountDisk(_ options: String) throws {
    let outcome = try run("-t", "tmpfs", "-o", options, "vault-test", data, program: "/usr/bin/mount")
    #expect(outcome.status == 0, "\(outcome)")
  }

  /// Stops the daemon, which has files open on the file system, and unmounts it.
  func unmountDisk() {
    _ = try? stopDaemon()
    _ = try? run("--lazy", data, program: "/usr/bin/umount")
  }

  /// Fills the file system to its last page, and that page to its last byte.
  func fillDisk() throws {
    let pad = "cat /dev/zero >$0/pad; head -c 8192 /dev/zero | dd of=$0/last bs=1"
    let outcome = try run("-c", pad, data, program: "/bin/sh")
    #expect(outcome.errors.contains("No space left on device"), "\(outcome)")
  }
}

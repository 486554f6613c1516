import Foundation
import Glibc
import Testing
import VaultTesting

/// Hosts that the real ssh logs in to. Each host is an sshd that serves one connection over its standard streams, with
/// keys, settings and an account of its own in a mount namespace: it neither reads nor changes anything of the machine.
struct SSHHosts {
  private static let unpacked = Repository.root.appending(path: ".build/openssh-server/usr/sbin/sshd").path
  private static let program = [unpacked, "/usr/sbin/sshd"].first { FileManager.default.isExecutableFile(atPath: $0) }
  static let isPossible = Root.isAtHand && program != nil
  static let need: Comment = "needs root, for a mount namespace, and sshd, which `make test-deps` unpacks in .build"

  let sandbox: Sandbox
  var knownHosts: String { sandbox.home + "/.ssh/known_hosts" }

  /// Makes hosts with these names and these types of host keys, which accept the public keys of `authorized`.
  ///
  /// - Parameter isHashed: true if known_hosts hashes the names.
  init(
    _ sandbox: Sandbox, _ hosts: [(name: String, type: [String])], authorized: [String], isHashed: Bool = false
  ) throws {
    self.sandbox = sandbox
    try FileManager.default.createDirectory(atPath: sandbox.home + "/.ssh", withIntermediateDirectories: true)
    let root = sandbox.root
    // Copy only the files that sshd and the programs behind it read, not all of /etc, where other tests' files come and
    // go.
    try FileManager.default.createDirectory(atPath: root + "/etc", withIntermediateDirectories: true)
    let wanted = ["group", "nsswitch.conf", "ld.so.cache", "alternatives"].map { "/etc/" + $0 }
    let copied = try sandbox.run(["-a"] + wanted + [root + "/etc"], program: "/bin/cp")
    try #require(copied.status == 0, "\(copied)")
    try write(
      "ana:x:0:0::\(sandbox.home):/bin/sh\nsshd:x:65534:65534::/nonexistent:/usr/sbin/nologin\n", to: "etc/passwd")
    try write("ana:*:19000::::::\nsshd:*:19000::::::\n", to: "etc/shadow")
    try write(authorized.map { $0 + "\n" }.joined(), to: "authorized")
    var known = ""
    for (name, type) in hosts {
      let key = try sandbox.makeKey("key-of-" + name, type)
      known += "\(name) \(try sandbox.publicKey(key))\n"
      try write(
        """
        HostKey \(key)
        AuthorizedKeysFile \(root)/authorized
        StrictModes no
        UsePAM no
        PidFile none
        PermitRootLogin yes
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        UseDNS no
        LogLevel VERBOSE

        """, to: name + ".conf")
      let sshd = "\(Self.program ?? "") -i -e -f \(root)/\(name).conf 2>>\(root)/\(name).log"
      try Executable.write(
        """
        #!/bin/sh
        exec unshare --mount /bin/sh -c '
          mount --bind \(root)/etc /etc && mount -t tmpfs none /run && mkdir /run/sshd && exec \(sshd)'

        """, to: proxy(name))
    }
    try write(known, to: "home/.ssh/known_hosts")
    if isHashed { _ = try sandbox.ssh("ssh-keygen", ["-q", "-H", "-f", knownHosts]) }
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: sandbox.root + "/" + path))
  }

  private func proxy(_ name: String) -> String { sandbox.root + "/sshd-" + name }

  /// The arguments of an ssh that logs in to a host with the keys of the agent that the environment names.
  ///
  /// - Parameter key: the path of the only key to try; nil to try all keys.
  func arguments(_ host: String, key: String? = nil, _ options: [String] = [], _ command: String) -> [String] {
    let identity = key.map { ["-o", "IdentitiesOnly=yes", "-i", $0 + ".pub"] } ?? []
    return [
      "-F", "none", "-o", "UserKnownHostsFile=" + knownHosts, "-o", "GlobalKnownHostsFile=none", "-o",
      "StrictHostKeyChecking=yes", "-o", "BatchMode=yes", "-o", "ProxyCommand=" + proxy(host), "-l", "ana",
    ] + identity + options + [host, command]
  }

  /// Logs in, runs a command there and waits for its end.
  func login(_ host: String, key: String? = nil, _ options: [String] = [], _ command: String = "echo in") throws
    -> Outcome
  {
    try sandbox.ssh("ssh", arguments(host, key: key, options, command))
  }

  /// A command line for a remote shell that logs in to a further host with the forwarded agent.
  func hop(to host: String, _ options: [String], _ command: String) -> String {
    "ssh " + arguments(host, options, command).map { "'" + $0 + "'" }.joined(separator: " ")
  }

  /// The logs of the hosts, for the message of a failed test.
  func account() -> String {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: sandbox.root)) ?? []
    return files.filter { $0.hasSuffix(".log") }.sorted()
      .map { $0 + ":\n" + ((try? String(contentsOfFile: sandbox.root + "/" + $0, encoding: .utf8)) ?? "") }.joined()
  }
}

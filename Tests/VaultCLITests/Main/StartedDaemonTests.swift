import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("A daemon that the client starts") struct StartedDaemonTests {
  @Test("holds no lock of the script's open, and finds nothing in its environment but where things are")
  func inherits() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let line = """
      cd; exec 9>lock 12</etc/passwd; flock 9
      export LD_PRELOAD=/nonexistent/evil.so NOTIFY_SOCKET=@foreign LISTEN_FDS=1 TZ=:/nonexistent MALLOC_TRACE=/tmp/x \
      SECRET=hunter2 LC_TIME=C
      vault init --password-stdin \(floorOptions.joined(separator: " ")) 2>/dev/null
      """
    let outcome = try sandbox.run("-c", line, program: "/bin/bash", stdin: password + "\n")
    #expect(outcome.status == 0, "\(outcome)")
    let free = try sandbox.run("--nonblock", sandbox.home + "/lock", "true", program: "/usr/bin/flock")
    #expect(free.status == 0, "the script has ended, and its lock has not")

    let pid = try #require(sandbox.daemonPid)
    let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ")).split(separator: 0)
    let names = Set(environment.map { String(decoding: $0.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self) })
    #expect(
      names == [
        "PATH", "HOME", "LANG", "LC_TIME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
        "XDG_STATE_HOME", "DBUS_SYSTEM_BUS_ADDRESS",
      ])
    for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd") {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)")
      #expect(target != "/etc/passwd" && target?.hasSuffix("/lock") != true)
    }
  }

  @Test("stands in the directory of the user's login where XDG_RUNTIME_DIR is not set", .enabled(if: Root.isAtHand))
  func withoutVariable() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let script = """
      mount -t tmpfs none /run/user && mkdir /run/user/0 && mount --bind \(sandbox.runtime) /run/user/0 || exit 1
      export PATH=\(Sandbox.programs):$PATH
      chmod 755 /run/user/0
      vault status 2>&1; echo $?
      XDG_RUNTIME_DIR=relative vault get web 2>&1
      XDG_RUNTIME_DIR=relative vault status 2>&1
      XDG_RUNTIME_DIR=relative vault doctor 2>/dev/null | grep '^fail'
      vault doctor 2>/dev/null | grep '^fail'
      chmod 700 /run/user/0
      echo \(password) | vault init --password-stdin \(floorOptions.joined(separator: " ")) >/dev/null 2>&1 || exit 2
      echo \(password) | vault unlock --password-stdin || exit 3
      vault doctor | grep -o '/run/user/0/vault/socket'
      XDG_RUNTIME_DIR=relative vault doctor 2>/dev/null | grep 'ignored'
      echo s | vault set web && vault __complete -- we get
      EDITOR=dirname vault edit web | cut -d- -f1
      """
    let outcome = try sandbox.run(
      ["--mount", "/bin/sh", "-c", script], program: "/usr/bin/unshare", environment: ["XDG_RUNTIME_DIR": nil])
    #expect(
      outcome.output == """
        vault: XDG_RUNTIME_DIR is not set, so there is no place for the socket; log in through a session, or give \
        --socket, or --system for the machine's vault
        78
        vault: XDG_RUNTIME_DIR is `relative`, which is not an absolute path, so there is no place for the socket; set \
        XDG_RUNTIME_DIR to another folder with a short absolute path, or give --socket
        vault: XDG_RUNTIME_DIR is `relative`, which is not an absolute path, so there is no place for the socket; set \
        XDG_RUNTIME_DIR to another folder with a short absolute path, or give --socket
        fail  socket: XDG_RUNTIME_DIR is `relative`, which is not an absolute path, so there is no place for the \
        socket; set XDG_RUNTIME_DIR to another folder with a short absolute path, or give --socket
        fail  socket: XDG_RUNTIME_DIR is not set, so there is no place for the socket; log in through a session, or \
        give --socket, or --system for the machine's vault
        /run/user/0/vault/socket
        warn  socket: XDG_RUNTIME_DIR is `relative`, which is not an absolute path and is ignored; set it to an \
        absolute path
        =web
        /run/user/0/vault

        """, "\(outcome)")
    let pid = try #require(sandbox.daemonPid)
    let environment = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/environ")).split(separator: 0)
    #expect(environment.contains { $0.elementsEqual("XDG_RUNTIME_DIR=/run/user/0".utf8) })
  }

  @Test("is refused while another has the store, and the client names that one") func secondDaemon() throws {
    let sandbox = try Sandbox.withVault(unlocked: false)
    defer { sandbox.close() }
    unsafe mkfifo(sandbox.store + "/backoff", 0o600)
    let other = sandbox.root + "/other"
    #expect(unsafe mkdir(other, 0o700) == 0)
    let refused = try sandbox.run(["get", "web"], environment: ["XDG_RUNTIME_DIR": other])
    #expect(refused.status == 73)
    #expect(
      refused.errors.hasPrefix(
        "vault: process \(sandbox.daemonPid ?? 0) serves this vault, but does not listen at \(other)"), "\(refused)")
  }

  @Test("may be that of another client, which was there first")
  func otherWasFirst() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.must(["lock"])
    let ended = try sandbox.run(
      "-c",
      "kill \(try #require(sandbox.daemonPid)); while vault status >/dev/null 2>&1; do :; done; flock "
        + "\(sandbox.store)/vault.lock true",
      program: "/bin/sh")
    #expect(ended.status == 0, "\(ended)")
    // The daemon that the client starts comes too late: another daemon already serves the store, and listens by the
    // time the late one reports its failure.
    let programs = sandbox.root + "/bin"
    let script = """
      #!/bin/sh
      mkfifo \(sandbox.root)/ready
      \(Sandbox.path(of: "vaultd")) --ready-fd 4 3>&- 4>\(sandbox.root)/ready >/dev/null 2>&1 &
      head -c 1 \(sandbox.root)/ready >/dev/null
      echo 'vaultd: another one serves the store' >&2
      exit 73

      """
    let made = try sandbox.run(
      "-c",
      "mkdir \(programs) && cp \(Sandbox.path(of: "vault")) \(programs) && cat >\(programs)/vaultd && chmod 755 "
        + "\(programs)/vaultd",
      program: "/bin/sh", stdin: script)
    #expect(made.status == 0, "\(made)")
    let outcome = try sandbox.run("get", "web", program: programs + "/vault")
    #expect(outcome.status == 75 && outcome.errors.contains("the vault is locked"), "\(outcome)")
  }

  @Test("takes back what the script set for itself: niceness, scheduling, personality, soft limits")
  func burdens() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let burdens = [
      "-n", "300", "--", "/usr/bin/nice", "-n", "7", "/usr/bin/chrt", "--batch", "0", "/usr/bin/ionice", "-c", "3",
      "/usr/bin/setarch", "--addr-no-randomize", "/usr/bin/prlimit", "--fsize=1000000:", "--cpu=1000:", "--nofile=100:",
    ]
    let outcome = try sandbox.run(
      burdens + [Sandbox.path(of: "vault"), "init", "--password-stdin"] + floorOptions, program: "/usr/bin/choom",
      stdin: Array((password + "\n").utf8))
    #expect(outcome.status == 0, "\(outcome)")
    let pid = try #require(sandbox.daemonPid)
    func text(_ name: String) throws -> String { try String(contentsOfFile: "/proc/\(pid)/\(name)", encoding: .utf8) }
    // proc(5): the fields behind the name begin with the third. The 19th is the niceness, the 41st the scheduling
    // policy.
    let fields = try text("stat").split(separator: ")")[1].split(separator: " ")
    #expect(fields[38] == "0")
    // Without privileges the daemon cannot reset its niceness.
    if Root.isAtHand { #expect(fields[16] == "0") }
    let priority = try sandbox.run("-p", String(pid), program: "/usr/bin/ionice")
    #expect(!priority.output.contains("idle"), "\(priority)")
    #expect(try text("oom_score_adj") == "0\n")
    #expect(try text("personality") == "00000000\n")
    // These are the addresses of programs without address randomization, on x86-64 and on arm64.
    let maps = try text("maps")
    #expect(!maps.hasPrefix("555555554000-") && !maps.hasPrefix("aaaaaaaa0000-"))
    for limit in try text("limits").split(separator: "\n").dropFirst() {
      let columns = limit.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) }
      if ["Max file size", "Max cpu time"].contains(columns[0]) { #expect(columns[1] == columns[2], "\(limit)") }
      if columns[0] == "Max open files" { #expect(columns[1] != "100", "\(limit)") }
    }
  }
}

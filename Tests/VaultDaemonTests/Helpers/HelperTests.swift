import Foundation
import Glibc
import Testing
import VaultBytes
import VaultModel
import VaultTesting
import VaultWire

@testable import VaultDaemon
@testable import VaultService

@Suite("Helper programs") struct HelperTests {
  /// Asks a script that stands in for a helper, and returns the error; the script's process must be gone by then.
  private func ask(_ script: String, within seconds: Int64 = 60) throws -> KeystoreError? {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe symlink(ScriptedHelper.path, sandbox.home + "/vault-tpm2")
    try sandbox.write("echo $$ >\(sandbox.root)/pid\n\(script)\n", to: "script")
    let stand = try KeystoreStand(sandbox, programs: sandbox.home)
    let error = KeystoreStand.error { try stand.ask("vault-tpm2", within: seconds) }
    if let text = try? String(contentsOfFile: sandbox.root + "/pid", encoding: .utf8),
      let pid = pid_t(text.trimmingCharacters(in: .newlines))
    {
      // The loop reaps the helper; kill(2) would still find a zombie.
      let deadline = Date(timeIntervalSinceNow: 30)
      while kill(pid, 0) == 0, Date() < deadline { sched_yield() }
      #expect(kill(pid, 0) != 0, "the helper is still there")
    } else {
      Issue.record("the helper did not start")
    }
    return error
  }

  @Test(
    "one that crashes, gives up or goes away is told from the others",
    arguments: [
      ("kill -SEGV $$", "vault-tpm2 was ended by signal 11 before it answered"),
      ("exit 3", "vault-tpm2 ended with exit code 3 and no answer"),
      ("exec 0</dev/null; exec sleep 1000", "vault-tpm2 closed the connection without an answer"),
    ])
  func ends(_ script: String, _ reason: String) throws {
    let error = try ask(script, within: 60)
    #expect(error?.reason == reason)
  }

  @Test("one that hangs is ended after its time") func hangs() throws {
    let error = try ask("exec sleep 1000", within: 1)
    #expect(error == KeystoreError(.unavailable, "vault-tpm2 did not answer within 1 s"))
  }

  @Test(
    "one that floods or talks nonsense is ended",
    arguments: [
      ("exec yes >&0", "vault-tpm2 sent something that is not a frame"),
      ("printf 'nonsense\\0' >&0; exec sleep 1000", "vault-tpm2 sent something that is not a frame"),
      ("printf '{}\\0' >&0; exec sleep 1000", "vault-tpm2 does not follow its protocol"),
      ("printf '{\"key\":\"c2hvcnQ=\"}\\0' >&0; exec sleep 1000", "vault-tpm2 does not follow its protocol"),
    ])
  func nonsense(_ script: String, _ reason: String) throws {
    let error = try ask(script)
    #expect(error?.reason == reason)
  }

  @Test("it gets one descriptor, few variables, ordinary signals and no directory to keep") func surroundings() throws {
    let error = try ask(
      """
      found=$(ls /proc/self/fd | tr '\\n' ' '; env | cut -d= -f1 | sort | tr '\\n' ' '; pwd -P | tr '\\n' ' '; grep -E \
      '^Sig(Blk|Ign):' /proc/self/status | tr -d '\\t' | tr '\\n' ' ' | sed 's/ $//')
      printf '{"error":"refused","reason":"%s"}\\0' "$found" >&0
      """)
    let reason = try #require(error?.reason)
    // The C library itself uses the signals of the two lowest bits of SigIgn's upper half.
    #expect(reason.hasSuffix("0000000") && reason.contains(" / SigBlk:0000000000000000 SigIgn:"), "\(reason)")
    // Descriptor 3 is the directory that `ls` lists; the shell itself sets HOME, PWD and the like.
    let words = Set(reason.split(separator: " ").map(String.init).filter { !$0.hasPrefix("Sig") })
    #expect(
      words.isSubset(of: [
        "0", "1", "2", "3", "/", "HOME", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "TSS2_LOG", "XDG_RUNTIME_DIR", "_",
      ]), "\(words)")
    #expect(words.isSuperset(of: ["0", "1", "2", "HOME", "PATH"]))
  }

  @Test("one that is called off is ended and answers nothing") func cancelled() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe symlink(ScriptedHelper.path, sandbox.home + "/vault-tpm2")
    try sandbox.write("printf '{\"error\":\"refused\",\"reason\":\"no\"}\\0' >&0", to: "script")
    #expect(try KeystoreStand(sandbox, programs: sandbox.home).askAndCancel("vault-tpm2") == false)
  }

  @Test("the machine sleeps when one that was called off, and what was in its memory, is gone") func reaped() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe symlink(ScriptedHelper.path, sandbox.home + "/vault-tpm2")
    let file = sandbox.root + "/pid"
    try sandbox.write("echo $$ >\(file).new; mv \(file).new \(file); exec sleep 1000", to: "script")
    let stand = try KeystoreStand(sandbox, programs: sandbox.home)
    let pid = { @Sendable () -> pid_t? in
      (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { pid_t($0.trimmingCharacters(in: .newlines)) }
    }
    let isAtWork = { pid() != nil }
    let left = try stand.callOff("vault-tpm2", once: isAtWork) { pid().map { kill($0, 0) } ?? 0 }
    #expect(left == -1, "the helper was still there")
  }

  @Test(
    "at the daemon's end one that ends by itself, once it is hung up on, is let finish what it does",
    arguments: [false, true])
  func letFinish(callingOff: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    #expect(try end("cat <&0 >/dev/null; echo finished >\(sandbox.root)/done", callingOff, sandbox))
    #expect(FileManager.default.fileExists(atPath: sandbox.root + "/done"))
  }

  @Test("at the daemon's end one that does not end by itself is killed", arguments: [false, true])
  func killed(callingOff: Bool) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    #expect(try end("exec sleep 1000", callingOff, sandbox))
  }

  /// Starts a script that stands in for a helper, and ends it as the daemon does at its own end. Returns true if the
  /// script had ended by the time that call returned.
  private func end(_ script: String, _ callingOff: Bool, _ sandbox: Sandbox) throws -> Bool {
    unsafe symlink(ScriptedHelper.path, sandbox.home + "/vault-tpm2")
    let file = sandbox.root + "/pid"
    try sandbox.write("echo $$ >\(file).new; mv \(file).new \(file)\n\(script)\n", to: "script")
    let stand = try KeystoreStand(sandbox, programs: sandbox.home)
    try stand.endAll("vault-tpm2", callingOff: callingOff) { FileManager.default.fileExists(atPath: file) }
    let text = try String(contentsOfFile: file, encoding: .utf8)
    let pid = try #require(pid_t(text.trimmingCharacters(in: .newlines)))
    // The script may already have been reaped.
    let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    return state?.contains(") Z ") ?? true
  }

  @Test("one that is not installed is named") func missing() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let stand = try KeystoreStand(sandbox, programs: sandbox.home)
    #expect(
      KeystoreStand.error { try stand.ask("vault-tpm2", within: 60) }
        == KeystoreError(.unavailable, "vault-tpm2 is not installed"))
    try sandbox.write("", to: "vault-tpm2")
    #expect(
      KeystoreStand.error { try stand.ask("vault-tpm2", within: 60) }
        == KeystoreError(.unavailable, "\(sandbox.home)/vault-tpm2 is not executable"))
  }

  @Test("the programs of the keystores speak with the daemon alone", arguments: ["vault-tpm2", "vault-keyring"])
  func byHand(_ name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let byHand = try sandbox.run([], program: name)
    #expect(byHand.status == 64)
    #expect(byHand.errors.hasPrefix("\(name): it is started by vaultd"), "\(byHand)")
    #expect(try sandbox.run("--help", program: name).output.hasPrefix("usage: \(name)"))
    #expect(try sandbox.run("store", program: name).status == 64)
  }

  /// A request that a keystore's program always answers.
  private static let request = #"{"operation":"remove","vault":"00","place":"","locator":""}"# + "\0"

  /// A request that `vault-rsa` always answers, with a key that is none.
  private static let rsaRequest = #"{"work":"check","key":3}"# + "\0key"

  @Test(
    "a helper is nobody's to look into, leaves no core file and has its end before it reads a request",
    arguments: [
      ("vault-tpm2", request, ["alarm(60)"]), ("vault-keyring", request, ["alarm(30)"]),
      ("vault-rsa", rsaRequest, ["alarm(330)", "mlockall(MCL_CURRENT)"]),
    ])
  func guarded(name: String, request: String, more: [String]) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let trace = sandbox.root + "/trace"
    let script = try sandbox.write(
      "exec strace -qq -o \(trace) -e trace=prctl,prlimit64,alarm,mlockall,read \(Sandbox.path(of: name))\n",
      to: "script")
    // The end of the request would end vault-rsa.
    let outcome = try sandbox.run(
      "-t10", "-,ignoreeof", "EXEC:/bin/sh \(script)", program: "/usr/bin/socat", stdin: request)
    #expect(outcome.output.hasPrefix("{"), "\(outcome)")
    let calls = try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n")
    let read = try #require(calls.firstIndex { $0.hasPrefix("read(0, ") }, "\(calls)")
    for call in ["prctl(PR_SET_DUMPABLE, SUID_DUMP_DISABLE", "prlimit64(0, RLIMIT_CORE, {rlim_cur=0, "] + more {
      #expect(calls[..<read].contains { $0.hasPrefix(call) }, "\(call) is not before \(calls[read])")
    }
  }

  @Test("a keystore's program waits for the rest of a request", arguments: ["vault-tpm2", "vault-keyring"])
  func parts(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // The script also keeps the helper's end open, to see when the helper has taken the first part.
    let script = """
      import array, fcntl, socket, subprocess, sys, termios
      request = sys.stdin.buffer.read()
      ours, theirs = socket.socketpair()
      child = subprocess.Popen([sys.argv[1]], stdin=theirs)
      ours.sendall(request[:20])
      left = array.array('i', [20])
      while left[0] and child.poll() is None: fcntl.ioctl(theirs, termios.FIONREAD, left)
      ours.sendall(request[20:])
      theirs.close()
      print(ours.recv(4096).decode().strip('\\0'), child.wait())
      """
    let outcome = try sandbox.run(
      ["-c", script, Sandbox.path(of: name)], program: "/usr/bin/python3", stdin: Array(Self.request.utf8))
    #expect(outcome.output.hasPrefix("{") && outcome.output.hasSuffix("} 0\n"), "\(outcome)")
  }

  @Test(
    "a keystore's program serves its own user alone", .enabled(if: Root.isAtHand, "only root can be two users"),
    arguments: ["vault-tpm2", "vault-keyring"])
  func stranger(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    unsafe chmod(sandbox.root, 0o711)
    let socket = sandbox.root + "/socket"
    let unit = try Activation(socket, in: sandbox, command: [Sandbox.path(of: name)])
    unsafe chmod(socket, 0o666)
    for uid in [0, 65534] {
      let outcome = try sandbox.run(
        "--reuid=\(uid)", "--clear-groups", "socat", "-t10", "-,ignoreeof", "UNIX-CONNECT:" + socket,
        program: "/usr/bin/setpriv", stdin: Self.request)
      #expect(outcome.output.hasPrefix("{") == (uid == 0) && outcome.output.isEmpty == (uid != 0), "\(outcome)")
    }
    withExtendedLifetime(unit) {}
  }
}

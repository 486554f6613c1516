import Foundation
import Testing
import VaultBytes
import VaultTesting
import VaultWire

@testable import VaultCLI

/// A stand-in for the desktop's clipboard: a file, and programs of the usual names that read and write it.
private struct FakeClipboard {
  let sandbox: Sandbox
  var path: String { sandbox.home + "/clipboard" }
  var environment: [String: String?] {
    ["PATH": sandbox.home + "/bin:" + (sandbox.environment["PATH"] ?? ""), "DISPLAY": ":0"]
  }

  init(_ sandbox: Sandbox) throws {
    self.sandbox = sandbox
    try install(
      """
      #!/bin/sh
      # xclip -selection clipboard -in | -out
      case $3 in
        -in) exec cat >\(path) ;;
        -out) exec cat \(path) ;;
        *) exit 1 ;;
      esac

      """)
  }

  /// Installs the program in the fake clipboard's folder. A separate process writes the file: if this process wrote it,
  /// a child of another test, between its fork and its exec, could hold the descriptor open, and a file that is open
  /// for writing cannot be executed.
  func install(_ script: String, as name: String = "xclip") throws {
    let line = "mkdir -p bin && cat >bin/\(name) && chmod 755 bin/\(name)"
    let outcome = try sandbox.run(["-c", "cd && \(line)"], program: "/bin/sh", stdin: Array(script.utf8))
    try #require(outcome.status == 0, "\(outcome)")
  }

  var content: String? { try? String(contentsOfFile: path, encoding: .utf8) }
}

@Suite("The clipboard") struct ClipboardTests {
  @Test("--clip hands the exact value to the display's tool and prints nothing")
  func copy() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    let outcome = try sandbox.run("get", "web", "--clip", environment: clipboard.environment)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.output.isEmpty)
    #expect(outcome.errors.contains("45 s"))
    #expect(clipboard.content == "hunter2")
  }

  @Test("what is still there after the time is cleared")
  func clear() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    try sandbox.write("hunter2", to: "clipboard")
    let outcome = try sandbox.run(
      "__forget-clipboard", "xclip", "0", stdin: "hunter2", environment: clipboard.environment)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(clipboard.content == "")
  }

  @Test("what was copied meanwhile stays", arguments: ["hunter", "hunter3", "hunter22"])
  func keep(other: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    try sandbox.write(other, to: "clipboard")
    let outcome = try sandbox.run(
      "__forget-clipboard", "xclip", "0", stdin: "hunter2", environment: clipboard.environment)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(clipboard.content == other)
  }

  @Test("a tool that fails is an error")
  func failure() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    try clipboard.install("#!/bin/sh\nexit 1\n")
    let outcome = try sandbox.run("get", "web", "--clip", environment: clipboard.environment)
    #expect(outcome.status == 74)
    #expect(outcome.errors.hasPrefix("vault: xclip failed"))
  }

  @Test("a tool that reads nothing of a large value is an error, too, and no signal")
  func readsNothing() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    // The value is larger than any pipe's buffer.
    try sandbox.must(["set", "large"], stdin: String(repeating: "x", count: 1 << 20))
    let clipboard = try FakeClipboard(sandbox)
    try clipboard.install("#!/bin/sh\nexit 1\n")
    let outcome = try sandbox.run("get", "large", "--clip", environment: clipboard.environment)
    #expect(outcome.status == 74, "\(outcome)")
    #expect(outcome.errors.hasPrefix("vault: xclip failed"))
  }

  @Test("a tool that does not end is killed and told apart from one that fails") func hangs() throws {
    let value = Array(String(repeating: "x", count: 1 << 20).utf8)
    for script in ["exec sleep 1000", "cat >/dev/null; exec sleep 1000"] {
      #expect(unsafe Tool.feed(["/bin/sh", "-c", script], value.span.bytes, patience: 50) == .late)
    }
    func captured(_ script: String, limit: Int, patience: Int = Tool.patience) -> Int? {
      guard let output = Tool.capture(["/bin/sh", "-c", script], limit: limit, patience: patience) else { return nil }
      return output.count
    }
    #expect(captured("echo x; exec sleep 1000", limit: 8, patience: 50) == nil)
    #expect(captured("echo x", limit: 2) == 2)
    #expect(captured("echo x", limit: 1) == nil)
    #expect(unsafe Tool.feed(["/bin/sh", "-c", "cat >/dev/null"], value.span.bytes) == .done)
    #expect(unsafe Tool.feed(["/bin/sh", "-c", "cat >/dev/null; exit 1"], value.span.bytes) == .failed)
  }

  @Test(
    "on Wayland the tool is told that it is a secret, and one that knows no such option gets it without",
    arguments: [("--sensitive", true), ("", false)])
  func sensitive(option: String, isKnown: Bool) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    let known = isKnown ? "" : "case $1 in --sensitive) exit 1 ;; esac"
    try clipboard.install(
      "#!/bin/sh\n\(known)\nprintf '%s ' \"$1\" >\(clipboard.path); cat >>\(clipboard.path)\n", as: "wl-copy")
    try clipboard.install("#!/bin/sh\nexec cat \(clipboard.path)\n", as: "wl-paste")
    let outcome = try sandbox.run(
      "get", "web", "--clip",
      environment: clipboard.environment.merging(["WAYLAND_DISPLAY": "wayland-0"]) { $1 })
    #expect(outcome.status == 0, "\(outcome)")
    #expect(clipboard.content == option + " hunter2")
  }

  @Test("nothing of the script that copies stays with the tools: no lock, no open file, no directory")
  func inherits() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    try clipboard.install(
      "#!/bin/sh\ncat >\(clipboard.path)\npwd -P >\(sandbox.home)/tool; ls -l /proc/$$/fd >>\(sandbox.home)/tool\n")
    let line = "cd; exec 5</etc/passwd 9>lock; flock 9; exec vault get web --clip"
    let outcome = try sandbox.run("-c", line, program: "/bin/bash", environment: clipboard.environment)
    #expect(outcome.status == 0, "\(outcome)")
    let tool = try String(contentsOfFile: sandbox.home + "/tool", encoding: .utf8)
    #expect(tool.hasPrefix("/\n") && !tool.contains("/etc/passwd") && !tool.contains("/lock"), "\(tool)")
    // The process that waits to clear the clipboard still runs, and does not hold the lock.
    let free = try sandbox.run("--nonblock", sandbox.home + "/lock", "true", program: "/usr/bin/flock")
    #expect(free.status == 0, "the script has ended, and its lock has not")
  }

  @Test("closed streams do not matter", arguments: [">&-", "<&-", "2>&-", ">&- <&- 2>&-"])
  func closedStreams(redirection: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    let outcome = try sandbox.run(
      "-c", "exec vault get web --clip \(redirection)", program: "/bin/sh", environment: clipboard.environment)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(clipboard.content == "hunter2")
  }

  @Test("where nothing would clear it later, it is cleared at once")
  func cannotForget() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    // The clipboard tool makes the vault program unusable while it runs.
    let own = sandbox.home + "/vault"
    try sandbox.run(Sandbox.path(of: "vault"), own, program: "/bin/cp")
    try clipboard.install("#!/bin/sh\ncat >\(clipboard.path); chmod 0 \(own)\n")
    let outcome = try sandbox.run("get", "web", "--clip", program: own, environment: clipboard.environment)
    #expect(outcome.status == 74, "\(outcome)")
    #expect(outcome.errors.contains("nothing is left on it"), "\(outcome)")
    #expect(clipboard.content == "")
  }

  @Test(
    "a clipboard tool is looked for in absolute folders alone", arguments: ["bin", ".", "", "./bin", "../home/bin"])
  func relativePath(entry: String) throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let line = """
      mkdir bin; printf '#!/bin/sh\\ncat >%s/stolen\\n' "$HOME" | tee bin/xclip >xclip; chmod 755 bin/xclip xclip
      PATH=\(entry):\(Sandbox.programs) DISPLAY=:0 \(Sandbox.path(of: "vault")) get web --clip
      """
    let outcome = try sandbox.run("-c", "cd; \(line)", program: "/bin/bash")
    #expect(outcome.status == 69, "\(outcome)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.home + "/stolen"))
  }

  @Test("without a display the terminal itself is asked, by OSC 52")
  func terminal() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let terminal = try Terminal(sandbox, ["get", "web", "--clip"])
    try terminal.expect("\u{1B}]52;c;aHVudGVyMg==\u{07}")
    try terminal.expect("it will not be cleared automatically")
    #expect(try terminal.wait() == 0)
    #expect(!terminal.screen.contains("hunter2"))
  }

  @Test(
    "what stands between and passes nothing on is named, with what helps",
    arguments: [
      (["TMUX": "/tmp/s,1,0", "TERM": "tmux-256color"], "external", "set-clipboard is external"),
      (["TMUX": "/tmp/s,1,0", "TERM": "tmux-256color"], "off", "set-clipboard is off"),
      (["TMUX": "/tmp/s,1,0", "TERM": "tmux-256color"], "on", nil), (["TMUX": "/tmp/s,1,0"], nil, nil),
      (["STY": "1.pts-0", "TERM": "screen"], nil, "GNU screen"), (["TERM": "linux"], nil, "the console has none"),
      (["TERM": "dumb"], nil, "this terminal has none"), ([:], nil, nil),
      (["TERM": "xterm-256color", "TMUX": "", "STY": ""], "off", nil),
    ] as [([String: String], String?, String?)])
  func between(environment: [String: String], tmux: String?, reason: String?) throws {
    let obstacle = TerminalClipboard.obstacle({ environment[$0] }, passesOn: { tmux })
    #expect((obstacle == nil) == (reason == nil))
    if let reason { #expect(obstacle?.reason.contains(reason) == true, "\(obstacle?.reason ?? "")") }
  }

  @Test(
    "what may stand between and cannot be asked is told",
    arguments: [
      (["TERM": "tmux-256color"], nil, true), (["TERM": "screen"], nil, true),
      (["TERM": "tmux-256color", "TMUX": "/tmp/a,1,0"], nil, true),
      (["TERM": "tmux-256color", "TMUX": "/tmp/a,1,0"], "on", false), (["TERM": "xterm-256color"], nil, false),
    ] as [([String: String], String?, Bool)])
  func doubt(environment: [String: String], tmux: String?, isTold: Bool) throws {
    #expect((TerminalClipboard.doubt({ environment[$0] }, passesOn: { tmux }) != nil) == isTold)
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    guard tmux == nil else { return }
    let none: [String: String?] = ["DISPLAY": nil, "WAYLAND_DISPLAY": nil, "TMUX": nil, "STY": nil]
    let terminal = try Terminal(
      sandbox, ["get", "web", "--clip"], environment: none.merging(environment.mapValues { $0 }) { $1 })
    #expect(try terminal.wait() == 0, "\(terminal.screen)")
    #expect(terminal.screen.contains("tmux and screen may drop it") == isTold, "\(terminal.screen)")
  }

  @Test("through tmux that passes nothing on, nothing is sent")
  func tmux() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    try clipboard.install("#!/bin/sh\n[ \"$*\" = 'show-options -sv set-clipboard' ] && echo external\n", as: "tmux")
    let environment: [String: String?] = ["DISPLAY": nil, "TMUX": "/tmp/none,1,0"]
    let terminal = try Terminal(
      sandbox, ["get", "web", "--clip"], environment: clipboard.environment.merging(environment) { $1 })
    try terminal.expect("set-clipboard is external; `tmux set-option -s set-clipboard on` changes that")
    #expect(try terminal.wait() == 69)
    #expect(!terminal.screen.contains("\u{1B}]52"))
  }

  @Test("no clearing is promised where the clipboard could not be read before it")
  func noPaste() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    let clipboard = try FakeClipboard(sandbox)
    var environment = clipboard.environment.merging(["WAYLAND_DISPLAY": "wayland-0"]) { $1 }
    // The test must not find the clipboard tools that the machine may have.
    environment["PATH"] = sandbox.home + "/bin:/nonexistent"
    try clipboard.install("#!/bin/sh\n/bin/cat >\(clipboard.path)\n", as: "wl-copy")
    let outcome = try sandbox.run("get", "web", "--clip", environment: environment)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors.contains("it will not be cleared automatically, because wl-paste is not installed"))
    #expect(clipboard.content == "hunter2")
  }
}

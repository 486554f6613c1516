import Foundation
import Testing
import VaultTesting

/// Arguments and variables with bytes that are not UTF-8, which must not be read as a different name.
@Suite("Arguments that are not UTF-8") struct StartTextTests {
  /// Runs a line of bash, in which `$'\xff'` is such a byte.
  private func shell(_ line: String, _ sandbox: Sandbox) throws -> Outcome {
    try sandbox.run(["-c", "cd; " + line], program: "/bin/bash")
  }

  @Test("no file and no item is taken for another")
  func arguments() throws {
    let sandbox = try Sandbox.withVault(unlocked: true)
    defer { sandbox.close() }
    try sandbox.write("precious", to: "bk\u{FFFD}")
    try sandbox.must(["set", "it\u{FFFD}"], stdin: "v")
    for line in [
      #"vault backup --force $'bk\xff'"#, #"vault rm $'it\xff'"#, #"vault get $'it\xff'"#,
      #"vault get --json $'it\xff'"#, #"vault rm -- $'it\xff'"#, #"vault __item-names -- $'it\xff'"#,
    ] {
      let outcome = try shell(line, sandbox)
      #expect(outcome.status == 64 && outcome.output.isEmpty, "\(line) \(outcome)")
      #expect(outcome.errors.hasPrefix("vault: argument ") && outcome.errors.contains(" is not UTF-8"))
    }
    #expect(try String(contentsOfFile: sandbox.home + "/bk\u{FFFD}", encoding: .utf8) == "precious")
    #expect(try sandbox.must(["list"]) == "it\u{FFFD}\nweb\n")
  }

  @Test(
    "no directory is taken for another",
    arguments: ["HOME", "PATH", "VAULT_SOCKET", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"])
  func variables(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for command in ["list", "get x", "doctor", "status"] {
      let vault = Sandbox.path(of: "vault")
      let outcome = try shell("\(name)=\"$HOME\"$'/\\xff' exec \(vault) \(command)", sandbox)
      #expect(outcome.status == 78 && outcome.output.isEmpty, "\(outcome)")
      #expect(
        outcome.errors == "vault: \(name) is not UTF-8, so it is not accepted as a path; set it to another value\n")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == [])
  }

  @Test(
    "vaultd takes no directory for another", arguments: ["--store", "--socket", "--config", "--ready-fd", "--version"])
  func daemonArguments(option: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    for separator in [" ", "="] {
      let outcome = try shell("exec vaultd \(option)\(separator)$HOME$'/\\xff'", sandbox)
      #expect(outcome.status == 64 && outcome.output.isEmpty, "\(outcome)")
      #expect(outcome.errors.hasPrefix("vaultd: argument ") && outcome.errors.contains(" is not UTF-8"), "\(outcome)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == [])
  }

  @Test(
    "no variable leads vaultd to another directory",
    arguments: [
      "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "CREDENTIALS_DIRECTORY",
      "DBUS_SESSION_BUS_ADDRESS",
      "DBUS_SYSTEM_BUS_ADDRESS",
    ])
  func daemonVariables(name: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try shell("\(name)=\"$HOME\"$'/\\xff' exec \(Sandbox.path(of: "vaultd"))", sandbox)
    #expect(outcome.status == 78 && outcome.output.isEmpty, "\(outcome)")
    #expect(
      outcome.errors == "vaultd: \(name) is not UTF-8, so it is not accepted as a path; set it to another value\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.home) == [])
  }
}

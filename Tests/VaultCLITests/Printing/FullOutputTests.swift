import Testing
import VaultTesting

@Suite("Standard output that is full") struct FullOutputTests {
  @Test(
    "output that finds no room is an error, whatever was asked for",
    arguments: ["--version", "--help", "help get", "get --help", "completions bash", "--help --version"])
  func fullOutput(arguments: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("-c", "vault \(arguments) >/dev/full", program: "/bin/sh")
    #expect(outcome.status == 74 && outcome.errors.hasPrefix("vault: cannot write the output: "), "\(outcome)")
  }

  @Test(
    "so it is for the other programs, and where the output is closed",
    arguments: ["vaultd --version", "vaultd --help", "vault-pam --help", "vault-tpm2 --help", "vault-keyring --help"],
    [">/dev/full", ">&-"])
  func others(line: String, redirection: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let outcome = try sandbox.run("-c", "\(Sandbox.programs)/\(line) \(redirection)", program: "/bin/sh")
    let program = line.prefix { $0 != " " }
    #expect(outcome.status == 74 && outcome.errors.hasPrefix("\(program): cannot write the output: "), "\(outcome)")
  }

  @Test(
    "output that may not block waits until there is room",
    arguments: ["vault --help", "vaultd --help", "vault-pam --help", "vault-tpm2 --help"])
  func nonblocking(line: String) throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    // The pipe is full when the program begins; it is read once the program sleeps or has ended.
    let script = #"""
      pipe(R, W); fcntl(W, F_SETFL, O_NONBLOCK); 1 while syswrite(W, "x" x 4096);
      $pid = fork // die; if (!$pid) { open(STDOUT, ">&W"); exec @ARGV or die }
      close W; do { open(S, "<", "/proc/$pid/stat"); $stat = <S> } until $stat =~ /\) [SZ] /;
      1 while sysread(R, $all, 65536, length $all); waitpid($pid, 0);
      $all =~ s/^x+//; print $all; exit($? >> 8)
      """#
    let words = line.split(separator: " ").map(String.init)
    let outcome = try sandbox.run(
      ["-MFcntl", "-e", script, Sandbox.path(of: words[0])] + words.dropFirst(), program: "/usr/bin/perl")
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    #expect(outcome.output == (try sandbox.run(Array(words.dropFirst()), program: words[0]).output))
  }
}

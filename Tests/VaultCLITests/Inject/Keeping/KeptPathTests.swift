import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The paths of vault inject --watch") struct KeptPathTests {
  private static func keep(_ stand: KeptStand, _ template: String, _ output: String = "out") throws -> Terminal {
    let terminal = try Terminal(
      stand.sandbox, ["inject", "-i", stand.path(template), "-o", stand.path(output), "--watch"])
    try terminal.expect("wrote")
    return terminal
  }

  @Test("a template behind symbolic links is watched, and so is each link", arguments: [false, true])
  func links(inPlace: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    for folder in ["a", "b"] { #expect(unsafe mkdir(stand.path(folder), 0o700) == 0) }
    try stand.sandbox.write("one {{ vault \"pin\" }}", to: "a/t")
    #expect(unsafe symlink("a", stand.path("to")) == 0 && symlink("to/t", stand.path("link")) == 0)
    let terminal = try Self.keep(stand, "link")
    let next = "two {{ vault \"pin\" }}"
    if inPlace { try stand.overwrite("a/t", with: next) } else { try stand.replace("a/t", with: next) }
    try wait(for: "the edit") { try stand.read() == "two 031-45-154" }
    // The folder's link comes to lead elsewhere.
    try stand.sandbox.write("three {{ vault \"pin\" }}", to: "b/t")
    #expect(unsafe symlink("b", stand.path("new")) == 0 && rename(stand.path("new"), stand.path("to")) == 0)
    try wait(for: "the other folder") { try stand.read() == "three 031-45-154" }
    // The file's own link is removed and made anew later.
    stand.remove("link")
    try terminal.expect("cannot open")
    try stand.sandbox.write("four {{ vault \"pin\" }}", to: "a/other")
    #expect(unsafe symlink("a/other", stand.path("link")) == 0)
    try wait(for: "the new link") { try stand.read() == "four 031-45-154" }
    try stand.end(terminal)
  }

  @Test("an output is written again whose folder is another one by now") func outputFolder() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    for folder in ["a", "b", "c", "c/d"] { #expect(unsafe mkdir(stand.path(folder), 0o700) == 0) }
    #expect(unsafe symlink("a", stand.path("to")) == 0)
    let linked = try Self.keep(stand, "t", "to/out")
    let deep = try Self.keep(stand, "t", "c/d/out")
    #expect(unsafe symlink("b", stand.path("new")) == 0 && rename(stand.path("new"), stand.path("to")) == 0)
    try wait(for: "the file in the other folder") { stand.has("b/out") }
    #expect(unsafe rename(stand.path("c"), stand.path("old")) == 0)
    #expect(unsafe mkdir(stand.path("c"), 0o700) == 0 && mkdir(stand.path("c/d"), 0o700) == 0)
    try wait(for: "the file in the new folder") { stand.has("c/d/out") }
    #expect(try stand.read("b/out") == stand.text("031-45-154") && stand.read("c/d/out") == stand.text("031-45-154"))
    try stand.end(linked)
    try stand.end(deep)
  }

  @Test("a template that is mounted from elsewhere is watched", .enabled(if: Root.isAtHand, "mounts a file"))
  func mounted() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    #expect(unsafe mkdir(stand.path("a"), 0o700) == 0)
    try stand.sandbox.write("one {{ vault \"pin\" }}", to: "a/t")
    #expect(try stand.sandbox.run("--bind", stand.path("a/t"), stand.path("t"), program: "/usr/bin/mount").status == 0)
    defer { _ = try? stand.sandbox.run("--lazy", stand.path("t"), program: "/usr/bin/umount") }
    let terminal = try Self.keep(stand, "t")
    try stand.overwrite("a/t", with: "two {{ vault \"pin\" }}")
    try wait(for: "the edit") { try stand.read() == "two 031-45-154" }
    try stand.end(terminal)
  }

  @Test(
    "a template in a folder that may not be read is looked at from time to time",
    .enabled(if: Root.isAtHand, "drops root's capabilities"))
  func unreadableFolder() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    #expect(unsafe mkdir(stand.path("a"), 0o300) == 0)
    try stand.sandbox.write("one {{ vault \"pin\" }}", to: "a/t")
    #expect(unsafe symlink("a/t", stand.path("link")) == 0)
    let keep = ["inject", "-i", stand.path("link"), "-o", stand.path("out"), "--watch"]
    let terminal = try Terminal(
      stand.sandbox, ["--inh-caps=-all", "--bounding-set=-all", Sandbox.path(of: "vault")] + keep,
      program: "/usr/bin/setpriv")
    try terminal.expect("wrote")
    try stand.replace("a/t", with: "two {{ vault \"pin\" }}")
    try wait(for: "the edit") { try stand.read() == "two 031-45-154" }
    try stand.end(terminal)
  }

  @Test(
    "so is a template or a file whose own folder may not be read, and the folder's mode may change meanwhile",
    .enabled(if: Root.isAtHand, "drops root's capabilities"), arguments: [false, true])
  func unreadableOwnFolder(isLater: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    for folder in ["a", "b"] { #expect(unsafe mkdir(stand.path(folder), isLater ? 0o700 : 0o300) == 0) }
    try stand.sandbox.write("one {{ vault \"pin\" }}", to: "a/t")
    let keep = ["inject", "-i", stand.path("a/t"), "-o", stand.path("b/out"), "--watch"]
    let terminal = try Terminal(
      stand.sandbox, ["--inh-caps=-all", "--bounding-set=-all", Sandbox.path(of: "vault")] + keep,
      program: "/usr/bin/setpriv")
    try terminal.expect("wrote")
    if isLater { for folder in ["a", "b"] { #expect(unsafe chmod(stand.path(folder), 0o300) == 0) } }
    try stand.replace("a/t", with: "two {{ vault \"pin\" }}")
    try wait(for: "the edit") { try stand.read("b/out") == "two 031-45-154" }
    try stand.set("111-11-111")
    try wait(for: "the value") { try stand.read("b/out") == "two 111-11-111" }
    try stand.replace("b/out", with: "other")
    try terminal.expect("another program has written")
    try stand.end(terminal)
  }

  @Test("a limit of inotify is named, which no other message tells of", arguments: [false, true])
  func limits(isOfWatches: Bool) throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let call = isOfWatches ? "inotify_add_watch:error=ENOSPC" : "inotify_init1:error=EMFILE"
    let terminal = try stand.traced(by: ["-e", "inject=\(call)"], [])
    try terminal.expect("raise fs.inotify.max_user_\(isOfWatches ? "watches" : "instances")")
    #expect(try terminal.wait() == 71)
  }

  @Test("what is written through another name of the file is told") func hardLink() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    let terminal = try Self.keep(stand, "t")
    #expect(unsafe mkdir(stand.path("a"), 0o700) == 0 && link(stand.path("out"), stand.path("a/out")) == 0)
    try stand.overwrite("a/out", with: "other")
    try terminal.expect("another program has written")
    try stand.end(terminal)
  }

  @Test("a path without a name is an error of its own") func empty() throws {
    let stand = try KeptStand()
    defer { stand.close() }
    for more in [[], ["--watch"]] {
      let outcome = try stand.sandbox.run(["inject", "-i", "", "-o", stand.path("out")] + more)
      #expect(outcome.status == 64 && outcome.errors == "vault: `` is not a file name; name a file\n", "\(outcome)")
    }
  }
}

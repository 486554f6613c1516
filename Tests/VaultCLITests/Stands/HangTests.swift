import Foundation
import Glibc
import Testing
import VaultTesting

@Suite("The watch over tests that hang") struct HangTests {
  @Test("who holds a folder for too long is named, and whoever else has one") func named() throws {
    let folders = [try ScratchFolder.make(), try ScratchFolder.make()]
    defer { for folder in folders { try? FileManager.default.removeItem(atPath: folder) } }
    let watch = HangWatch(limits: (test: 600, run: 3600), now: 1000)
    watch.add(folders[0], of: "the first", now: 1010)
    watch.add(folders[1], of: "the second", now: 1500)
    #expect(watch.complaint(now: 1609) == nil)
    let both =
      "✘ the first has not ended after 600 s: \(folders[0])\n◇ the second has not ended after 110 s: \(folders[1])"
    #expect(watch.complaint(now: 1610) == both)
    // A test has ended if its folder is gone.
    try FileManager.default.removeItem(atPath: folders[0])
    #expect(watch.complaint(now: 1610) == nil)
    #expect(watch.complaint(now: 2099) == nil)
    #expect(watch.complaint(now: 2100)?.hasPrefix("✘ the second has not ended after 600 s") == true)
  }

  @Test("a run that takes too long is ended, too, with the names of those that have not ended") func run() throws {
    let folder = try ScratchFolder.make()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let watch = HangWatch(limits: (test: 600, run: 3600), now: 0)
    #expect(watch.complaint(now: 3599) == nil)
    watch.add(folder, of: "the last", now: 3590)
    #expect(
      watch.complaint(now: 3600)
        == "◇ the last has not ended after 10 s: \(folder)\n✘ The tests have not ended after 3600 s.")
  }
}

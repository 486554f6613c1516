import Foundation
import Testing
import VaultService
import VaultTesting

@testable import VaultDaemon

@Suite("The prompts that outlive a daemon") struct KeptPromptsTests {
  private static let bus = "0123456789abcdef0123456789abcdef"

  private func entry(_ number: Int, _ paths: String...) -> KeptPrompts.Entry {
    KeptPrompts.Entry(
      number: number, name: ":1.7", pid: 42, started: 4711, paths: paths.map { KeptPrompts.Path(text: $0) })
  }

  @Test("a file with a number beyond all that are given is none of ours") func numbers() {
    func parse(_ number: String) -> Int? {
      KeptPrompts.parse("vault prompts 1\nbus \(Self.bus)\n\(number) :1.7 42 4711 /a\n", Self.bus)?.count
    }
    #expect(parse("1") == 1)
    #expect(parse("\(Int.max)") == nil)
    #expect(parse("0") == nil)
  }

  @Test("many changes in one turn write the file once") func writes() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    var due: [() -> Void] = []
    let kept = KeptPrompts(in: sandbox.root) { due.append($0) }
    for number in 1...100 { kept.add(entry(number, "/a"), on: Self.bus) }
    for number in 1...98 { kept.remove(number) }
    #expect(due.count == 1)
    due.removeFirst()()
    let next = KeptPrompts(in: sandbox.root) { $0() }
    #expect(next.take(on: Self.bus) == [entry(99, "/a"), entry(100, "/a")])
  }

  @Test("what is sealed of a path is kept with it, and another word makes the file none of ours") func sealed() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    var paths = ["/a", "/b", "/c", "/d"].map { KeptPrompts.Path(text: $0) }
    paths[0].search = KeptSearch(isEverywhere: true, sealed: [1, 2])
    paths[1].search = KeptSearch(isEverywhere: false, sealed: [3])
    paths[2].sealed = [4, 5]
    let entry = KeptPrompts.Entry(number: 1, name: ":1.7", pid: 42, started: 4711, paths: paths)
    KeptPrompts(in: sandbox.root) { $0() }.add(entry, on: Self.bus)
    let text = try String(contentsOfFile: sandbox.root + "/prompts", encoding: .utf8)
    #expect(text.hasSuffix("1 :1.7 42 4711 /a=all:0102 /b=own:03 /c=item:0405 /d\n"), "\(text)")
    #expect(KeptPrompts.parse(text, Self.bus) == [entry])
    #expect(KeptPrompts.parse(text.replacing("item:", with: "name:"), Self.bus) == nil)
  }

  @Test("a prompt that comes before the earlier ones were taken up takes none of them away") func early() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    KeptPrompts(in: sandbox.root) { $0() }.add(entry(1, "/a"), on: Self.bus)
    let next = KeptPrompts(in: sandbox.root) { $0() }
    next.add(entry(2, "/b"), on: Self.bus)
    #expect(next.take(on: Self.bus) == [entry(1, "/a"), entry(2, "/b")])
    // A connection that comes back takes them up once more.
    #expect(next.take(on: Self.bus).count == 2)
    #expect(next.take(on: String(Self.bus.reversed())).isEmpty)
  }
}

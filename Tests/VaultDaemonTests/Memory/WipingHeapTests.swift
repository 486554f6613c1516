import Foundation
import Testing
import VaultTesting

/// The heap of the programs that hold secrets, tested in a separate program: the tests themselves must not be linked
/// with it.
@Suite("The wiping heap") struct WipingHeapTests {
  private static let source = #"""
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>

    /* Counts the bytes still there, of `count` at a place that was given back, behind what the heap itself writes. */
    static int left(const volatile unsigned char *place, size_t count) {
        int found = 0;
        for (size_t index = 32; index < count; index++) found += place[index] == 'S';
        return found;
    }

    static unsigned char *filled(size_t count) {
        unsigned char *place = malloc(count);
        memset(place, 'S', count);
        /* Keeps its neighbours apart from the free rest. */
        if (!malloc(64)) abort();
        return place;
    }

    static int kept(const unsigned char *place, size_t count) {
        for (size_t index = 0; index < count; index++) if (place[index] != 'S') return 0;
        return 1;
    }

    int main(void) {
        static const size_t sizes[] = {200, 2000, 20000};
        for (int index = 0; index < 3; index++) {
            size_t count = sizes[index];
            unsigned char *volatile old = filled(count);
            free(old);
            printf("free %d\n", left(old, count));

            old = filled(count);
            unsigned char *grown = realloc(old, 3 * count);
            printf("grow %d %s\n", left(old, count), kept(grown, count) ? "kept" : "lost");

            old = filled(count);
            unsigned char *shrunk = realloc(old, count / 4);
            printf("shrink %d %s\n", left(old, count), kept(shrunk, count / 4) ? "kept" : "lost");

            old = filled(count);
            printf("nothing %s ", realloc(old, 0) ? "some" : "none");
            printf("%d\n", left(old, count));
            printf("new %s\n", realloc(NULL, count) ? "some" : "none");
        }
    }

    """#

  @Test("wipes what is given back, and the old place of what is moved, and keeps what is in it") func wipes() throws {
    let sandbox = try Sandbox()
    defer { sandbox.close() }
    let sources = Repository.root.appending(path: "Sources/CWipingHeap").path
    func build(_ more: [String], as name: String) throws -> String {
      let program = sandbox.root + "/" + name
      try sandbox.compile(
        Self.source, to: program, ["-w", "-O0", "-fno-builtin", "-I", sources + "/include"] + more)
      return program
    }
    let each = "free 0\ngrow 0 kept\nshrink 0 kept\nnothing none 0\nnew some\n"
    let outcome = try sandbox.run(program: build([sources + "/wiping_heap.c"], as: "wiping"))
    #expect(outcome.status == 0 && outcome.output == each + each + each, "\(outcome)")
    // The positive control: glibc's own heap leaves the bytes.
    let usual = try sandbox.run(program: build([], as: "usual"))
    #expect(usual.output.contains("free 168\n") && usual.output.contains("grow 168 kept\n"), "\(usual)")
  }
}

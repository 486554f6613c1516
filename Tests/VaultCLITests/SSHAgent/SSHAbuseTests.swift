import Foundation
import Testing
import VaultTesting

@Suite("Hostile clients of the ssh-agent") struct SSHAbuseTests {
  /// Returns the number of files that a process has open.
  private func openFiles(_ pid: Int32) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
  }

  /// Runs a script beside an agent. The agent serves another client before and after the script, stays the same
  /// process, and ends with as many open files as before.
  private func withAgent(_ script: String) throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    try sandbox.storeKey("a")
    #expect(try sandbox.listed().contains(" ssh/a "))
    let pid = try #require(sandbox.daemonPid)
    let before = try openFiles(pid)
    try sandbox.script("own = blobs(join())[0][0]\n" + script)
    #expect(try sandbox.listed().contains(" ssh/a "))
    // The daemon keeps descriptors of the last few client processes, so allow four more files.
    try wait(for: "the files to be closed") { try openFiles(pid) <= before + 4 }
    #expect(sandbox.daemonPid == pid)
  }

  @Test("frames of every length that is cut or too long end or are refused, and others are served") func frames() throws
  {
    try withAgent(
      """
      key = Key(bytes(32))
      whole = [
          b"\\x0b", sign_body(own, login(own, bytes(32), host=own)), key.body(constraints=b"\\x01\\0\\0\\0\\x09\\xff" \
          + string("x")),
          b"\\x12" + string(own), b"\\x13", b"\\x16" + string("p"), b"\\x17" + string("p"), bind(key, bytes(32), True),
          b"\\x1b" + string("query"),
      ]
      for body in whole:
          client = join()
          for end in range(1, len(body)):
              found = code(client, body[:end])
              # A constraint may be the last one.
              assert found == 5 or found == 6 and body[0] == 0x19, (body[:end], found)
          # The rest of a frame that has not come, and the end.
          for end in range(len(body)):
              client = join()
              client.sendall(string(body)[:4 + end])
              client.shutdown(socket.SHUT_WR)
              assert receive(client) is None, (body[0], end)
      # No frame, and one too long, end the connection before they are whole.
      for size in [0, (256 << 10) + 1, 1 << 20, 1 << 31, (1 << 32) - 1]:
          client = join()
          client.sendall(struct.pack(">I", size))
          assert take(client, 1) is None, size
      client = join()
      assert code(client, b"\\x63" + bytes((256 << 10) - 1)) == 5
      assert code(client, b"\\x0b") == 12
      # Byte by byte.
      for byte in string(b"\\x0b"): client.sendall(bytes([byte]))
      assert receive(client)[0] == 12
      """)
  }

  @Test("a thousand connections that bind and drop leave nothing behind") func dropped() throws {
    let sandbox = try Sandbox.withSSHAgent()
    defer { sandbox.close() }
    let pid = try #require(sandbox.daemonPid)
    let script = """
      key = Key(bytes(32))
      body = string(bind(key, bytes(32), True))
      for number in range(1000):
          client = join()
          # There may be too many just then.
          try: client.sendall(body if number % 3 else body[:number % len(body)])
          except (BrokenPipeError, ConnectionResetError): pass
          if number % 2 and number % 3: receive(client)
          client.close()
      assert code(join(), b"\\x0b") == 12
      """
    try sandbox.script(script)
    _ = try sandbox.listed()
    let (files, memory) = (try openFiles(pid), try ProcessMemory.bytes("VmRSS", of: pid))
    for _ in 0..<3 { try sandbox.script(script) }
    try wait(for: "the files to be closed") { try openFiles(pid) <= files + 4 }
    #expect(try ProcessMemory.bytes("VmRSS", of: pid) - memory < 2 << 20)
  }

  @Test("requests that come at once are answered in their order") func pipelined() throws {
    try withAgent(
      """
      client = join()
      bodies = [b"\\x0b", sign_body(own, login(own, bytes(32))), b"\\x63"]
      sent = b"".join(string(body) for body in bodies)
      def send_all(): client.sendall(sent * 1000)
      thread = threading.Thread(target=send_all)
      thread.start()
      for number in range(1000):
          for want in [12, 14, 5]:
              found = receive(client)
              assert found and found[0] == want, (number, want, found)
      thread.join()
      # Many at once, each with many.
      clients = [join() for _ in range(30)]
      for each in clients: each.sendall(sent * 30)
      for each in clients:
          for number in range(90): assert receive(each)[0] == [12, 14, 5][number % 3]
      """)
  }

  @Test("one that never reads, and one with half a frame, keep nobody waiting") func unread() throws {
    try withAgent(
      """
      silent = [join() for _ in range(20)]
      for client in silent: client.sendall(string(sign_body(own, login(own, bytes(32))))[:30])
      deaf = join()
      deaf.setblocking(False)
      body = string(sign_body(own, login(own, bytes(32))))
      sent = 0
      try:
          while sent < 64 << 20: sent += deaf.send(body * 100)
      except BlockingIOError: pass
      assert sent < 16 << 20, sent
      for _ in range(100): assert code(join(), b"\\x0b") == 12
      """)
  }

  @Test("there are no more connections than there may be: the one that was silent longest makes room") func crowd()
    throws
  {
    try withAgent(
      """
      clients = [join()]
      while len(clients) < 500:
          clients.append(join())
          assert code(clients[-1], b"\\x0b") == 12
          if len(clients) == 20: assert code(clients[0], b"\\x0b") == 12
      # Those that were heard last are there, and the first of all is not.
      for client in clients[-32:]: assert code(client, b"\\x0b") == 12
      gone = [client for client in clients if receive_now(client) is None]
      assert len(clients) - 128 <= len(gone) <= len(clients) - 32, len(gone)
      """)
  }

  @Test("what is sent at once by one that does not stay for the answers harms nobody") func leaving() throws {
    try withAgent(
      """
      for _ in range(250):
          client = join()
          try: client.sendall(string(b"\\x0b") * 3000)
          except (BrokenPipeError, ConnectionResetError): pass
          client.close()
      """)
  }
}

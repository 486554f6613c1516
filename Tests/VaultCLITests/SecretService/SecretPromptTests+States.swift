import Testing

// Prompts and answers in each state of the vault.
extension SecretPromptTests {
  @Test("follows the reply to the call that begins it, though there is nothing to wait for any more")
  func afterReply() throws {
    let out = try Stand().python(
      """
      import dbus.lowlevel
      client, came = Client(), []
      path = client.unlock(DEFAULT)[1]
      unlock()
      def note(_, message):
        if message.get_reply_serial() == serial or message.get_member() == 'Completed':
          came.append((message.get_type(), message.get_member()))
        return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
      client.bus.add_message_filter(note)
      message = dbus.lowlevel.MethodCallMessage(NAME, path, 'org.freedesktop.Secret.Prompt', 'Prompt')
      message.append('', signature='s')
      serial = client.bus.send_message(message)
      print(wait(lambda: client.ends == [(path, False, 'o', [DEFAULT])]))
      answer, event = dbus.lowlevel.MESSAGE_TYPE_METHOD_RETURN, dbus.lowlevel.MESSAGE_TYPE_SIGNAL
      print(came == [(answer, None), (event, 'Completed')], came)
      """)
    #expect(out.first == "True" && out.last?.hasPrefix("True ") == true, "\(out)")
  }

  @Test("to make a collection ends with the path of the new one") func made() throws {
    let out = try Stand().python(
      """
      client = Client()
      none, path = client.create('Work')
      client.prompt(path)
      print(none, client.ends)
      unlock()
      print(wait(lambda: len(client.ends) == 1))
      made = client.ends[0][3]
      print(client.ends == [(path, False, 'ObjectPath', made)])
      print(made in client.property(ROOT, 'Collections', 'Service'), client.property(made, 'Label', 'Collection'))
      """)
    #expect(out == ["/ []", "True", "True", "True Work"])
  }

  @Test("is what all objects need after a lock of any of them, which locks the vault") func lockOfItem() throws {
    let out = try Stand().python(
      """
      client = Client()
      unlock()
      item, session = client.make({'a': '1'}, b'v'), ROOT + '/collection/session'
      paths = [(item, 'Item'), (ROOT + '/collection/login', 'Collection'), (session, 'Collection')]
      def are_locked(): return [int(client.property(path, 'Locked', kind)) for path, kind in paths]
      for path in item, session:
        print(are_locked(), client.call(ROOT, 'Lock', 'ao', [path]) == ([path], '/'), are_locked(), status('state'))
        unlock()
      """)
    #expect(out == Array(repeating: "[0, 0, 0] True [1, 1, 1] locked", count: 2), "\(out)")
  }

  @Test(
    "is given at once where there is no vault, or one that cannot be read, and so is every other answer",
    arguments: [Stand.Store.missing, Stand.Store.unreadable])
  func withoutStore(store: Stand.Store) throws {
    let made = """
      vault('init', '--password-stdin', *'\(floorOptions.joined(separator: " "))'.split(), stdin='\(password)\\n')
      print(wait(lambda: client.ends == [(path, False, 'o', [DEFAULT, locked[0]])]))
      """
    let out = try Stand("", store).python(
      """
      client = Client()
      login, session = ROOT + '/collection/login', ROOT + '/collection/session'
      print(status('state'), client.call(ROOT, 'ReadAlias', 's', 'default') == login)
      print(*[str(client.property(path, 'Label', 'Collection')) for path in (login, session)],
        [int(client.property(path, 'Locked', 'Collection')) for path in (login, session)])
      print(client.make({'a': '1'}, b'v'))
      served, locked = client.find({'a': '1'})
      print(len(served), len(locked), int(client.property(locked[0], 'Locked')))
      served, path = client.unlock(DEFAULT, locked[0])
      client.prompt(path)
      print(len(served), path != '/', status('prompts'), client.ends)

      """ + (store == .missing ? made : ""))
    let state = store == .missing ? "new" : "unreadable"
    let answers = [
      "\(state) True", "Login Session [1, 1]", "org.freedesktop.Secret.Error.IsLocked", "0 1 1", "0 True 1 []",
    ]
    #expect(out == answers + (store == .missing ? ["True"] : []), "\(out)")
  }
}

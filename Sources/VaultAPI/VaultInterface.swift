/// The vault's own interface, which this program serves and speaks.
public enum VaultInterface {
  /// Its name.
  public static let name = "io.vaultd.Vault"

  /// Its definition: the text of `io.vaultd.Vault.varlink`, which stands beside this file and is the contract. A test
  /// holds the two equal, and every type of ``Wire`` and every ``Fault`` to it.
  public static let description: StaticString = """
    # The credential vault: create, unlock, store, serve, lock.
    #
    # Times are Unix time in seconds, UTC. Durations are milliseconds where the name ends in _ms, otherwise seconds.
    # A value travels as `value` when it is UTF-8 without control characters other than tab, CR and LF, and otherwise as
    # `data` (base64, RFC 4648 with padding). Absent optional fields may be left out or null.
    #
    # Init, Unlock, Authenticate, ChangePassword, AddSlot, RemoveSlot, Rekey and Restore are conversations: call them with `more`. Each
    # reply that carries a `prompt` that asks waits for Respond with the reply's `conversation` id, sent on another connection by the
    # same uid; the last reply carries no prompt. Closing the connection cancels the conversation.
    interface io.vaultd.Vault

    type Item (
      name: string,
      kind: string,
      attributes: [string]string,
      # when-unlocked, after-first-unlock or always
      accessible: string,
      # none, user-presence, biometry or password
      require: string,
      # for how many seconds a person's proof counts, in the session it was given in
      reuse: int,
      version: int,
      created: int,
      modified: int,
      # when the current version stops being served; absent means never
      expires: ?int,
      # the current version's size in bytes
      size: int
    )

    type Version (
      version: int,
      created: int,
      size: int,
      current: bool
    )

    type Slot (
      id: int,
      # password, recovery, pam or login
      kind: string,
      label: string,
      created: int,
      # Argon2id's memory in bytes and passes; 0 where the slot does not use it
      kdf_memory: int,
      kdf_passes: int,
      # of a pam slot: where its key lies (tpm2, keyring, file or memory), and whose presence opens it
      keystore: ?string,
      users: []int,
      # true for a login slot that does not fit the login password any more
      stale: ?bool
    )

    type Prompt (
      # secret: read without echo; visible: read with echo; new-secret: read without echo, twice; confirm: show `code`
      # once, then have it typed back; info and error: show `text`, and go on: they take no Respond
      style: string,
      # the method that asks: pam, password, recovery or login
      method: string,
      text: string,
      code: ?string
    )

    type Method (
      name: string,
      available: bool,
      # why not, and what to do about it
      reason: ?string
    )

    # How far something is that takes its time.
    type Progress (
      done: int,
      of: int
    )

    # What is known of all records together. `state` is unchecked, checking, ok or failed; `done` and `of` count records
    # and pages.
    type Integrity (
      state: string,
      done: ?int,
      of: ?int
    )

    # One thing that is wrong with the store.
    type Finding (
      # damaged, missing, replayed or foreign
      kind: string,
      # the number of the item it is about, and its name, where there is one and it can be told
      item: ?int,
      name: ?string,
      # what is wrong, without names
      text: string
    )

    # What a check of the store came to.
    type Verification (
      records: int,
      # how many items nothing is wrong with, of the classes that were checked in full, and how many something is wrong with
      unharmed: int,
      harmed: int,
      # how many findings there are beside those that were sent, at least
      omitted: int,
      # the classes of which not everything could be checked, and why
      unchecked: []string,
      reason: ?string,
      # the classes whose records are, taken together, not those that were written last: any item of these may be an older one
      changed: []string
    )

    # How to draw a new secret: `style` is password or phrase; `length` counts characters or words.
    type Generator (
      style: string,
      length: ?int,
      symbols: ?bool
    )

    type NewItem (
      name: string,
      value: ?string,
      data: ?string,
      generate: ?Generator,
      kind: ?string,
      attributes: ?[string]string,
      accessible: ?string,
      require: ?string,
      reuse: ?int,
      expires: ?int,
      # replace an existing item: what is left out keeps its old content
      update: ?bool
    )

    # Where the vault stands. Answered in every state, never touches the idle deadline.
    method Status() -> (
      # new, cold, locked, unlocked, or unreadable (the store cannot be opened: see problem)
      state: string,
      # why it is in that state, and since when
      cause: string,
      since: int,
      # when it will lock by itself, and why: idle, age or asked; absent when it will not
      locks_at: ?int,
      locks_because: ?string,
      # what else locks it: sleep, session-lock, and the bus name of each screen locker that is there
      locks_on: []string,
      vault: ?string,
      items: ?int,
      # the check of all records, which begins at the first unlock; absent without a store
      integrity: ?Integrity,
      # how many items a rekey that is under way has looked at
      rekey: ?Progress,
      problem: ?string,
      methods: []Method,
      # what the daemon cannot do or watch here, one sentence each
      warnings: []string,
      version: string,
      pid: int
    )

    # Makes the vault: asks for its first password; with `recovery`, also makes a recovery code; with `keystore`, also a pam
    # slot for the caller. `insecure` lets the keystore be a file among the user's own.
    method Init(recovery: ?bool, keystore: ?string, insecure: ?bool, kdf_memory: ?int, kdf_passes: ?int)
      -> (conversation: ?string, prompt: ?Prompt)

    # Opens the vault. `method` is pam, password, recovery or login; left out, pam is tried where there is a slot for it, and
    # then the password. `for` locks it again after that many seconds.
    method Unlock(method: ?string, for: ?int, reason: ?string, interactive: ?bool)
      -> (conversation: ?string, prompt: ?Prompt)

    # Has a person show what the item `name` requires, for the caller's session (setsid) and the item's reuse window. Ends at
    # once when that was done already; PresenceRequired when nobody is there (`interactive`).
    method Authenticate(name: string, reason: ?string, interactive: ?bool) -> (conversation: ?string, prompt: ?Prompt)

    # Answers the prompt of a conversation.
    method Respond(conversation: string, answer: ?string, data: ?string) -> ()

    # Wipes the keys that open when-unlocked items.
    method Lock() -> ()

    # Reads one item. `wait_ms` holds the call until the vault is unlocked or the time is up. `expired` also serves an
    # item past its expiry. `interactive` says a person is waiting, which moves the idle deadline.
    method Get(name: string, version: ?int, wait_ms: ?int, reason: ?string, interactive: ?bool, expired: ?bool)
      -> (name: string, version: int, value: ?string, data: ?string)

    # Stores one item; AlreadyExists unless `update`.
    method Set(
      name: string,
      value: ?string,
      data: ?string,
      generate: ?Generator,
      kind: ?string,
      attributes: ?[string]string,
      accessible: ?string,
      require: ?string,
      reuse: ?int,
      expires: ?int,
      update: ?bool,
      interactive: ?bool
    ) -> (version: int)

    # Stores many items in one transaction: all or none. `failed` in the error names the index. How many they may be is
    # limited, so that nobody waits long for them.
    method SetMany(items: []NewItem, interactive: ?bool) -> (versions: []int)

    # Everything about one item but its value.
    method Show(name: string, interactive: ?bool) -> (item: Item)

    # Items that match every predicate of `query`. With `more` all pages stream; without, one page, and `next` to pass as
    # `after` when there are others: a text that is good for nothing else.
    method Find(query: ?string, limit: ?int, after: ?string, interactive: ?bool) -> (items: []Item, next: ?string)

    # Deletes items, all or none; as many as one SetMany may store.
    method Delete(names: []string, interactive: ?bool) -> ()

    # Renames one item; its versions and attributes stay.
    method Move(from: string, to: string, interactive: ?bool) -> ()

    # The versions that are kept, newest first.
    method History(name: string, interactive: ?bool) -> (versions: []Version)

    method ListSlots() -> (slots: []Slot)

    # Replaces the password: asks for the old one (or a recovery code, with method = recovery), then the new one. `kind` is
    # password or login, where it is not the one that `method` proves whose secret is replaced.
    method ChangePassword(method: ?string, kind: ?string, kdf_memory: ?int, kdf_passes: ?int)
      -> (conversation: ?string, prompt: ?Prompt)

    # Says that the login password was changed without the vault: the login slots are not tried until they are replaced.
    method MarkStale() -> ()

    # Adds a way in. `kind` is password, recovery, pam or login; `method` proves the right to. A pam slot needs a `keystore`;
    # `users` are the uids whose presence opens it, the caller's unless given; `insecure` is as in Init.
    method AddSlot(
      kind: string,
      label: ?string,
      method: ?string,
      keystore: ?string,
      users: ?[]int,
      insecure: ?bool,
      kdf_memory: ?int,
      kdf_passes: ?int
    ) -> (conversation: ?string, prompt: ?Prompt, slot: ?int)

    # Removes a way in, never the last one.
    method RemoveSlot(id: int, method: ?string) -> (conversation: ?string, prompt: ?Prompt)

    # Gives the vault a new key: proves the right, makes the ways in again, then seals everything anew while items are served.
    # `method` is password, recovery or login. The first reply after the prompts tells the `slots` that come along and those
    # `left_out`; replies with `done` of `of` items follow until the last one. Closing the connection then ends the waiting
    # alone; a call while one is under way waits for it. It rests while the vault is locked. `cancel` gives it up, and says
    # whether there was one.
    method Rekey(method: ?string, cancel: ?bool) -> (
      conversation: ?string,
      prompt: ?Prompt,
      done: ?int,
      of: ?int,
      slots: ?[]int,
      left_out: ?[]int,
      cancelled: ?bool
    )

    # Checks all records of the store, or joins a check that is under way: call with `more`. Replies tell how far it is, then
    # what is wrong, and the last one the result. Works in every state, as far as the keys in memory allow.
    method Verify() -> (progress: ?Integrity, findings: []Finding, result: ?Verification)

    # Streams what happens: call with `more`. The first reply is the present state. `event` is state, item or integrity (the
    # check of the store failed; `cause` says what was found); `change` is created, updated, deleted or moved; `to` is the new
    # name of a moved item. `name` is missing where a lock has hidden the names before this could be told.
    method Monitor() -> (
      event: string,
      time: int,
      state: ?string,
      cause: ?string,
      name: ?string,
      change: ?string,
      to: ?string
    )

    # Copies the whole vault as it is now: opened by a password or a recovery code alone, see vault-backup(5). Call it with
    # `upgrade`. With `salvaged`, what Salvage saved is copied instead, once. Behind the reply blocks follow, each a length (4 bytes, little-endian) and that many bytes; `size` bytes in
    # all. A block without bytes is the last, and a reply without parameters, or an error, comes behind it.
    method Backup(salvaged: ?bool) -> (size: int)

    # Saves what still authenticates of a damaged store aside, for a Backup of it: call with `more`. Replies tell how far it is,
    # then what is lost, and the last one how many items were saved. What was saved goes with that Backup, or the next lock.
    method Salvage() -> (progress: ?Integrity, losses: []Finding, saved: ?int, omitted: ?int)

    # Makes the vault from a backup; there must be none. A conversation; call it with `upgrade`, too. `header` is the backup's
    # header in base64; `method` is password or recovery. After the first reply without a prompt, the client sends the rest
    # of the backup as it is and closes its side; the last reply follows. `left_out` are slots that need the machine they
    # were made on.
    method Restore(header: string, method: ?string) -> (conversation: ?string, prompt: ?Prompt, left_out: ?[]Slot)

    error NoVault ()
    error VaultExists ()
    # `state` is cold or locked
    error Locked (state: string, cause: string)
    error TimedOut ()
    # `unverified` is true unless the store was found whole: somebody may have taken the item away
    error NoSuchItem (name: string, unverified: ?bool)
    error NoSuchVersion (name: string, version: int)
    error NoSuchSlot (id: int)
    # no password and no recovery code would be left
    error LastSlot ()
    error AlreadyExists (name: string, failed: ?int)
    error Expired (name: string, expires: int)
    error InvalidName (name: string, reason: string, failed: ?int)
    error InvalidValue (kind: string, reason: string, failed: ?int)
    # `position` is the byte offset in the query
    error InvalidQuery (reason: string, position: int)
    error AuthenticationFailed (method: string, retry_after_ms: int)
    # the checksum does not fit: a typing error, not an attempt
    error MistypedRecoveryCode ()
    error BackingOff (method: string, retry_after_ms: int)
    error MethodUnavailable (method: string, reason: string)
    # the person was recognised, but the account or its password is past its time
    error AccountExpired (reason: string)
    # PAM counted too many wrong attempts
    error TooManyTries ()
    # the check of who is there broke down: nobody was refused, and nobody recognised
    error PresenceFailed (reason: string)
    # `require` is what the item asks for; Authenticate has it shown
    error PresenceRequired (name: string, require: string)
    # the vault is being given a new key, and the ways in stay as they are until it has it
    error Rekeying ()
    error Cancelled ()
    error NoSuchConversation ()
    error WeakSecret (reason: string)
    # the bytes are no call; the connection ends
    error InvalidFrame (reason: string)
    error TooLarge (limit: int)
    # one call may not do so much: make several of it
    error TooMuch (reason: string)
    error TooManyConnections ()
    error TooManyRequests ()
    error Denied (reason: string)
    # the store cannot be trusted or read; `newer` when a later program wrote it
    error Corrupt (reason: string, newer: bool)
    error StorageFailed (reason: string)
    # there was not enough memory to derive a key from a secret, which may have been the right one
    error OutOfMemory ()
    # something is under way that this would be in the way of
    error Busy (reason: string)
    # what was given as a backup is none, or not what was written
    error InvalidBackup (reason: string)
    # settings or file modes that must be put right first
    error Misconfigured (reason: string)

    """
}

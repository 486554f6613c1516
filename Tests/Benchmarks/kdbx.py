"""A writer of KeePass databases: KDBX 4 with AES-256 and, so that the derivation of the key takes no time, one round of
AES-KDF (KeePass: KdbxFile.Write.cs, https://keepass.info/help/kb/kdbx.html). openssl computes the ciphers."""

import base64, gzip, hashlib, hmac, struct, subprocess

ROOT = bytes(range(16))


def openssl(cipher, key, data, *options):
    return subprocess.run(["openssl", "enc", f"-{cipher}", "-K", key.hex(), *options], input=data, check=True,
                          stdout=subprocess.PIPE).stdout


def field(type, data):
    return struct.pack("<BI", type, len(data)) + data


def variants(*items):
    return b"\x00\x01" + b"".join(struct.pack("<BI", type, len(name)) + name + struct.pack("<I", len(value)) + value
                                  for type, name, value in items) + b"\x00"


def time(seconds):
    return base64.b64encode(struct.pack("<q", seconds + 62_135_596_800)).decode()


def document(groups, cipher):
    """The XML of entries by their groups: (id, title, user, password, url, created, modified). Passwords are encrypted
    by the inner stream, in their order."""
    passwords = [entry[3].encode() for entries in groups.values() for entry in entries]
    stream = cipher(b"".join(passwords))
    xml, at = [f"<KeePassFile><Meta/><Root><Group><UUID>{base64.b64encode(ROOT).decode()}</UUID><Name>all</Name>"], 0
    for number, (name, entries) in enumerate(groups.items()):
        id = base64.b64encode(hashlib.sha256(f"group {number}".encode()).digest()[:16]).decode()
        xml.append(f"<Group><UUID>{id}</UUID><Name>{name}</Name>")
        for id, title, user, password, url, created, modified in entries:
            sealed = base64.b64encode(stream[at:at + len(password.encode())]).decode()
            at += len(password.encode())
            texts = "".join(f"<String><Key>{key}</Key><Value>{value}</Value></String>"
                            for key, value in (("Title", title), ("UserName", user), ("URL", url), ("Notes", "")))
            xml.append(f"<Entry><UUID>{base64.b64encode(id).decode()}</UUID><Times><CreationTime>{time(created)}"
                       f"</CreationTime><LastModificationTime>{time(modified)}</LastModificationTime></Times>{texts}"
                       f'<String><Key>Password</Key><Value Protected="True">{sealed}</Value></String></Entry>')
        xml.append("</Group>")
    return "".join([*xml, "</Group></Root></KeePassFile>"]).encode()


def database(groups, password):
    seed, vector, inner = bytes(range(32)), bytes(range(16)), bytes(range(64))
    kdf = variants((0x42, b"$UUID", bytes.fromhex("c9d9f39a628a4460bf740d08c18a4fea")),
                   (0x05, b"R", struct.pack("<Q", 1)), (0x42, b"S", seed))
    header = bytes.fromhex("03d9a29a67fb4bb5") + struct.pack("<HH", 0, 4)
    header += field(2, bytes.fromhex("31c1f2e6bf714350be5805216afc5aff")) + field(3, struct.pack("<I", 1))
    header += field(4, seed) + field(7, vector) + field(11, kdf) + field(0, b"\r\n\r\n")
    composite = hashlib.sha256(hashlib.sha256(password.encode()).digest()).digest()
    key = hashlib.sha256(openssl("aes-256-ecb", seed, composite, "-nopad")).digest()
    blocks = hashlib.sha512(seed + key + b"\x01").digest()

    stream = hashlib.sha512(inner).digest()
    counter = "00000000" + stream[32:44].hex()
    plain = document(groups, lambda data: openssl("chacha20", stream[:32], data, "-iv", counter))
    content = field(1, struct.pack("<I", 3)) + field(2, inner) + field(0, b"") + plain
    sealed = openssl("aes-256-cbc", hashlib.sha256(seed + key).digest(), gzip.compress(content, 6), "-iv", vector.hex())

    def code(index, data):
        own = hashlib.sha512(struct.pack("<Q", index) + blocks).digest()
        return hmac.new(own, data, "sha256").digest()

    file = header + hashlib.sha256(header).digest() + code(0xFFFF_FFFF_FFFF_FFFF, header)
    for index, first in enumerate(range(0, len(sealed) + (1 << 20), 1 << 20)):
        block = sealed[first:first + (1 << 20)]
        file += code(index, struct.pack("<QI", index, len(block)) + block) + struct.pack("<I", len(block)) + block
    return file

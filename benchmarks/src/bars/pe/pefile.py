"""Prints the facts of PE files by pefile: limited|unlimited FILE..."""
import collections, json, sys
import pefile

unlimited = sys.argv[1] == "unlimited"
limits = {"max_symbol_exports": 1 << 20, "max_repeated_symbol": 1 << 20} if unlimited else {}
if unlimited:
    for name in dir(pefile):
        if name.startswith("MAX_") and isinstance(getattr(pefile, name), int):
            setattr(pefile, name, 1 << 24)


def text(name):
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name or ""


def dlls(entries):
    return [
        (text(entry.dll), len(entry.imports), sum(1 for i in entry.imports if i.import_by_ordinal))
        for entry in entries
    ]


def guid(entry):
    tail = "".join("%02X" % byte for byte in entry.Signature_Data4.to_bytes(1, "little")) \
        if isinstance(entry.Signature_Data4, int) else entry.Signature_Data4.hex().upper()
    rest = getattr(entry, "Signature_Data5", b"")
    rest = "%02X" % rest if isinstance(rest, int) else rest.hex().upper()
    six = getattr(entry, "Signature_Data6", None)
    six = "" if six is None else six.hex().upper() if isinstance(six, bytes) else "%X" % six
    return "%08X%04X%04X%s%s%s%X" % (
        entry.Signature_Data1, entry.Signature_Data2, entry.Signature_Data3, tail, rest, six,
        entry.Age)


def facts(path):
    pe = pefile.PE(path, fast_load=True, **limits)
    pe.parse_data_directories()
    header, optional = pe.FILE_HEADER, pe.OPTIONAL_HEADER
    kinds = collections.Counter(
        entry.type
        for block in getattr(pe, "DIRECTORY_ENTRY_BASERELOC", [])
        for entry in block.entries
    )
    symbols = getattr(pe, "DIRECTORY_ENTRY_EXPORT", None)
    by_ordinal = {}
    for symbol in symbols.symbols if symbols else []:
        by_ordinal.setdefault(symbol.ordinal, []).append(symbol)
    named = [any(s.name for s in group) for group in by_ordinal.values()]
    forwarded = [any(s.forwarder for s in group) for group in by_ordinal.values()]
    config = getattr(pe, "DIRECTORY_ENTRY_LOAD_CONFIG", None)
    guard = lambda name: getattr(config.struct, name, 0) or 0 if config else 0
    tls = getattr(pe, "DIRECTORY_ENTRY_TLS", None)
    size = lambda t: t.struct.EndAddressOfRawData - t.struct.StartAddressOfRawData
    bound = getattr(pe, "DIRECTORY_ENTRY_BOUND_IMPORT", [])
    answer = {
        "tool": "pefile",
        "machine": header.Machine,
        "base": optional.ImageBase,
        "size_of_image": optional.SizeOfImage,
        "section_alignment": optional.SectionAlignment,
        "file_alignment": optional.FileAlignment,
        "time_stamp": header.TimeDateStamp,
        "dll_characteristics": optional.DllCharacteristics,
        "checksum_stored": optional.CheckSum,
        "checksum_computed": pe.generate_checksum(),
        "relocations": kinds,
        "imports": dlls(getattr(pe, "DIRECTORY_ENTRY_IMPORT", [])),
        "delay_imports": dlls(getattr(pe, "DIRECTORY_ENTRY_DELAY_IMPORT", [])),
        "exports": (len(by_ordinal), named.count(False), forwarded.count(True)),
        "guard": (guard("GuardCFFunctionCount"), guard("GuardFlags")),
        "guard_others": (guard("GuardAddressTakenIatEntryCount"),
                         guard("GuardLongJumpTargetCount"),
                         guard("GuardEHContinuationCount")),
        "bound": [(text(b.name), b.struct.TimeDateStamp, len(b.entries)) for b in bound],
        "tls": (max(size(tls), 0), tls.struct.SizeOfZeroFill) if tls else (0, 0),
        "complaints": "; ".join(pe.get_warnings()),
    }
    pe.close()
    return answer


json.dump([facts(path) for path in sys.argv[2:]], sys.stdout)

"""Prints how many import hints of PE files could be checked by pefile, and how many are wrong:
FILE... A DLL is the file of its name among them, if there is only one, else that of the importer's folder."""
import collections, json, os, sys
import pefile

files = collections.defaultdict(list)
for path in sys.argv[1:]:
    files[os.path.basename(path).lower()].append(path)
positions = {}


def names_of(path):
    """Names of a DLL's exports with their positions; pefile's own list is in another order."""
    if path not in positions:
        pe = pefile.PE(path, fast_load=True)
        pe.parse_data_directories([pefile.DIRECTORY_ENTRY["IMAGE_DIRECTORY_ENTRY_EXPORT"]])
        table = getattr(pe, "DIRECTORY_ENTRY_EXPORT", None)
        rvas = range(table.struct.NumberOfNames) if table else []
        rvas = [pe.get_dword_at_rva(table.struct.AddressOfNames + 4 * index) for index in rvas]
        positions[path] = {pe.get_string_at_rva(rva, 1 << 14): at for at, rva in enumerate(rvas)}
        pe.close()
    return positions[path]


checked = wrong = 0
kinds = ["IMAGE_DIRECTORY_ENTRY_IMPORT", "IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT"]
for path in sys.argv[1:]:
    pe = pefile.PE(path, fast_load=True)
    pe.parse_data_directories([pefile.DIRECTORY_ENTRY[kind] for kind in kinds])
    for entry in getattr(pe, "DIRECTORY_ENTRY_IMPORT", []) + getattr(
            pe, "DIRECTORY_ENTRY_DELAY_IMPORT", []):
        found = files.get(entry.dll.decode("utf-8", "replace").lower(), [])
        if len(found) > 1:
            found = [dll for dll in found if os.path.dirname(dll) == os.path.dirname(path)]
        names = names_of(found[0]) if len(found) == 1 else {}
        for symbol in entry.imports:
            if symbol.name in names:
                checked += 1
                wrong += names[symbol.name] != symbol.hint
    pe.close()
json.dump([checked, wrong], sys.stdout)

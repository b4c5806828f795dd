"""One Parquet file out of many: their row groups one behind the other, and one footer that says where each is.

A row group does not know where it is; only the footer has its position. So blocks can be encoded as complete small
files, at the same time and before it is known how long the blocks before them are. The numbers of fields are those of
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from matrics.files.outputs.thrift import LIST, STRUCT, Struct, read_struct, write_struct

MAGIC = b"PAR1"  # a Parquet file begins and ends with it

# FileMetaData
NUM_ROWS, ROW_GROUPS = 3, 4
# RowGroup
COLUMNS, GROUP_OFFSET, ORDINAL = 1, 5, 7
# ColumnChunk
CHUNK_OFFSET, COLUMN_METADATA, OFFSET_INDEX_OFFSET, COLUMN_INDEX_OFFSET = 2, 3, 4, 6
# ColumnMetaData
DATA_PAGE_OFFSET, INDEX_PAGE_OFFSET, DICTIONARY_PAGE_OFFSET, BLOOM_FILTER_OFFSET = 9, 10, 11, 14

MOST_ORDINALS = 2**15  # the ordinal of a row group has 16 bits; it need not be there


def split(file: memoryview) -> tuple[memoryview, Struct]:
    """The row groups of a Parquet file, as they are in it behind its magic, and its footer."""
    length = int.from_bytes(file[-8:-4], "little")
    return file[len(MAGIC) : -8 - length], read_struct(bytes(file[-8 - length : -8]))


def row_group(footer: Struct) -> bytes:
    """The one row group of a footer."""
    _, groups = footer[ROW_GROUPS][1]
    return write_struct(groups[0])


def join(footer: Struct, groups: list[tuple[bytes, int]], rows: int) -> bytes:
    """The end of a file: ``footer`` with other row groups, each with how many bytes it has been moved by."""
    moved = [_moved(read_struct(group), by, ordinal) for ordinal, (group, by) in enumerate(groups)]
    footer = footer | {NUM_ROWS: (footer[NUM_ROWS][0], rows), ROW_GROUPS: (LIST, (STRUCT, moved))}
    content = write_struct(footer)
    return content + len(content).to_bytes(4, "little") + MAGIC


def _moved(group: Struct, by: int, ordinal: int) -> bytes:
    _, chunks = group[COLUMNS][1]
    for chunk in chunks:
        _shift(chunk, by, CHUNK_OFFSET, OFFSET_INDEX_OFFSET, COLUMN_INDEX_OFFSET)
        _shift(
            chunk[COLUMN_METADATA][1],
            by,
            DATA_PAGE_OFFSET,
            INDEX_PAGE_OFFSET,
            DICTIONARY_PAGE_OFFSET,
            BLOOM_FILTER_OFFSET,
        )
    _shift(group, by, GROUP_OFFSET)
    if ORDINAL in group:
        kind, _ = group.pop(ORDINAL)
        if ordinal < MOST_ORDINALS:
            group[ORDINAL] = kind, ordinal
    return write_struct(group)


def _shift(struct: Struct, by: int, *fields: int) -> None:
    for field in fields:
        kind, offset = struct.get(field, (0, 0))
        if offset:  # 0 says that there is none, as before a file's magic there is nothing
            struct[field] = kind, offset + by

"""The files of an output while it is made: one, or for a directory one for every few blocks."""

from __future__ import annotations

import contextlib
import zlib
from typing import TYPE_CHECKING, Any

from matrics.files.outputs.formats import Bytes, Format, Placed
from matrics.files.outputs.volume import Volume, settle

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matrics.files.outputs.destination import Destination

PART_BLOCKS = 16  # in a file of a directory

Record = dict[str, Any]  # of a finished block: the fields of Placed, and ``crc``, among others


class Parts:
    """The files in a folder, of which these blocks are finished."""

    def __init__(self, folder: Path, destination: Destination, form: Format, records: list[Record]) -> None:
        self.folder = folder
        self.destination = destination
        self.form = form
        self.blocks = len(records)
        self.volume: Volume | None = None
        folder.mkdir(exist_ok=True)
        blocks_of: dict[Path, list[Placed]] = {}
        for number, record in enumerate(records):
            placed = Placed(*(record[name] for name in Placed._fields))
            blocks_of.setdefault(part(folder, destination, number), []).append(placed)
        for file in folder.iterdir():
            if file not in blocks_of:
                file.unlink()
        # What is behind the finished blocks is cut off; files of which all blocks are finished get their end again.
        for path, blocks in blocks_of.items():
            self.volume = Volume(path, form, blocks)
            if ends_part(destination, len(blocks)):
                self._finish_volume(self.volume)

    def append(self, content: Bytes, note: str, rows: int) -> Placed:
        """Write a block."""
        volume = self._open_volume()
        placed = volume.append(content, note, rows)
        self.blocks += 1
        if ends_part(self.destination, self.blocks):
            self._finish_volume(volume)
        return placed

    def finish(self) -> None:
        """Write the end of the last file; an output without blocks is a file, too."""
        if self.volume is not None or not self.blocks:
            self._finish_volume(self._open_volume())
        settle(self.folder)

    def rename(self) -> None:
        """Give the output its name."""
        path = self.destination.path
        if not self.destination.is_directory:
            part(self.folder, self.destination, 0).replace(path)
            return
        if path.is_dir():  # an empty one; not every system replaces it
            path.rmdir()
        self.folder.rename(path)

    def close(self) -> None:
        """Leave all as it is."""
        if self.volume is not None:
            self.volume.close()

    def _open_volume(self) -> Volume:
        if self.volume is None:
            self.volume = Volume(part(self.folder, self.destination, self.blocks), self.form)
        return self.volume

    def _finish_volume(self, volume: Volume) -> None:
        volume.finish()
        self.volume = None


def part(folder: Path, destination: Destination, block: int) -> Path:
    """The file of a block."""
    number = block // PART_BLOCKS if destination.is_directory else 0
    return folder / f"part-{number:05d}.{destination.kind}"


def ends_part(destination: Destination, blocks: int) -> bool:
    """Whether a file is full after so many blocks."""
    return destination.is_directory and blocks % PART_BLOCKS == 0


def checked(
    folder: Path, destination: Destination, head: int, records: list[tuple[Record, int]]
) -> Iterator[tuple[Record, int]]:
    """The records whose blocks are as they were written, one behind the other, up to the first that is not."""
    path, end = None, head
    with contextlib.ExitStack() as stack:
        for number, (record, ends) in enumerate(records):
            if path != part(folder, destination, number):
                path, end = part(folder, destination, number), head
                try:
                    file = stack.enter_context(path.open("rb"))
                except OSError:
                    return
            file.seek(end)
            content = file.read(record["length"])
            right = len(content) == record["length"] and zlib.crc32(content) == record["crc"]
            if record["offset"] != end or not right:
                return
            end += len(content)
            yield record, ends

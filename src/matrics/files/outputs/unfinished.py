"""The folder beside an output in which it is made, and from which a run that was stopped goes on.

It has a lock, so that two runs do not write one output; ``question``, what was asked; ``counted``, what is counted of
the rows of labels, from time to time; ``schema``, the columns of the output; ``data``, its files as far as they are
written; and ``journal``, a line for each block that is finished, with the checksum of its bytes. A block counts only if
its line and its bytes are as they were written, so the run need not wait for the disk before the output is whole.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import os
import shutil
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
from filelock import FileLock, Timeout

from matrics.files.notices import INTERRUPTED, Stopped, say
from matrics.files.outputs.formats import Bytes, format_of
from matrics.files.outputs.journal import Journal, read_journal
from matrics.files.outputs.parts import Parts, Record, checked
from matrics.files.outputs.question import Question
from matrics.files.outputs.snapshot import save_snapshot, snapshot_number
from matrics.files.outputs.volume import settle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from matrics.files.outputs.destination import Destination


class Unfinished:
    """An output while it is made."""

    def __init__(self, destination: Destination, question: Question) -> None:
        self.destination = destination
        self.question = question
        # The output may be moved together with this folder, and its name may already have the maximum length.
        digest = hashlib.blake2b(os.fsencode(destination.path.name), digest_size=6).hexdigest()
        self.folder = destination.path.with_name(f".matrics-{digest}.unfinished")
        self.lock = FileLock(self.folder / "lock", timeout=0)
        self.records: list[Record] = []  # of the finished blocks
        self.total = 0  # matrices
        self.rows = 0  # of labels, as far as they are counted in ``counted``
        self.is_whole = False
        self.files = contextlib.ExitStack()

    @property
    def done(self) -> int:
        """The number of finished blocks."""
        return len(self.records)

    @property
    def stop(self) -> int:
        """The number of matrices in the finished blocks."""
        return int(self.records[-1]["stop"]) if self.records else 0

    @property
    def counted(self) -> Path:
        """What is counted of the first ``rows`` rows."""
        return self.folder / "counted"

    @property
    def can_be_repeated(self) -> bool:
        """Whether another run can read the same input; standard input cannot be read again."""
        return bool(self.question.inputs)

    @property
    def percent(self) -> str:
        """The share that is finished, in words."""
        return f"{100 * self.stop // max(1, self.total)} %"

    @property
    def place(self) -> str:
        """Where another run goes on, in words."""
        return self.percent if self.records else f"row {self.rows:,}"

    def open(self, *, resume: bool) -> None:
        """Take the folder for this run alone, and find out what an earlier run has left in it."""
        self._lock()
        before = self._left(check=resume)
        if not resume:
            if self.records or self.rows:
                what = f"{self.percent} of" if self.records else f"the count of {self.rows:,} rows by"
                say(f"{self._name}: {what} an earlier run is discarded; --resume would have gone on with it")
            self._clear()
            return
        difference = None if before is None else self.question.difference(before)
        if difference is not None:
            raise ResumeError(f"--resume: {difference}; without --resume the run starts again from the beginning")
        if self.records:
            say(f"{self._name}: {self.percent} was finished before; the run goes on from there")
        elif self.rows:
            say(f"{self._name}: {self.rows:,} rows were counted before; the run goes on from there")
            self._clear_blocks()
        else:
            say(f"{self._name}: there is nothing to resume; the run starts from the beginning")
            self._clear()

    def save_counted(self, rows: int, write: Callable[[Any], None]) -> None:
        """Keep what ``write`` writes: what is counted of the first rows."""
        with self.naming_output():
            self.find_folder()
            self._write_question()
            save_snapshot(self.counted, rows, write)
            self.rows = rows

    def begin(self, schema: Any, total: int) -> Output:
        """Open the files; ``schema`` is that of every block, and ``total`` how many matrices there are."""
        with self.naming_output():
            self.total = total
            self._write_question()
            if not self.records:
                record = {"total": total, "schema": base64.b64encode(schema.serialize()).decode()}
                _write_record(self.folder / "schema", record)
            parts = Parts(
                self.folder / "data", self.destination, format_of(self.destination.kind, schema), self.records
            )
            self.files.callback(parts.close)
            journal = Journal(self.folder / "journal")
            self.files.callback(journal.close)
            return Output(self, parts, journal)

    def keep(self) -> bool:
        """Leave the folder as it is, if there is anything in it to go on with."""
        if not self.records:  # the run may have been stopped just when its count was saved
            self.rows = snapshot_number(self.counted)
        if self.is_whole or not (self.records or self.rows) or not self.can_be_repeated:
            return False
        self.give_up()
        return True

    def give_up(self) -> None:
        """Close all files, and let other runs have the folder."""
        self.files.close()
        self.lock.release()

    def remove(self) -> None:
        """Remove the folder, unless it is given up."""
        if self.lock.is_locked:
            # Before it is given up, or this would be the folder of the next run.
            shutil.rmtree(self.folder, ignore_errors=True)
            self.give_up()

    @contextlib.contextmanager
    def naming_output(self) -> Iterator[None]:
        """Errors name the output that was asked for, and not what is in the folder."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._name) if error.errno else error from None

    def _lock(self) -> None:
        with self.naming_output():
            for _ in range(5):
                self.folder.mkdir(exist_ok=True)
                # A run that ends at this moment removes its folder.
                with contextlib.suppress(FileNotFoundError):
                    try:
                        self.lock.acquire()
                    except Timeout:
                        break
                    return
        raise ValueError(f"{self._name}: another run is writing this output")

    def check_inputs(self) -> None:
        """Raise if an input has changed since the run began."""
        changed = self.question.changed_input()
        if changed is not None:
            raise ValueError(f"{changed}: expected a file that stays as it is, got one that changed while it was read")

    def find_folder(self) -> None:
        """Raise if the folder has gone: files that are open could still be written to, but have no name any more."""
        if not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "its directory vanished while it was written", self._name)

    def settle(self) -> None:
        """The output has its name: wait until that is on the disk."""
        self.is_whole = True
        settle(self.destination.path.parent)

    def _left(self, *, check: bool) -> Question | None:
        """The question of an earlier run; what it has left becomes ours, with ``check`` if its bytes are right."""
        try:
            question = Question.of_record(_read_record(self.folder / "question"))
        except (OSError, ValueError, KeyError, TypeError):  # nothing, or not what this version has written
            return None
        self.rows = snapshot_number(self.counted)
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            self._find_blocks(check=check)
        return question

    def _find_blocks(self, *, check: bool) -> None:
        known = _read_record(self.folder / "schema")
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(known["schema"])))
        self.total = known["total"]
        records = read_journal(self.folder / "journal")
        if check:
            head = len(format_of(self.destination.kind, schema).head)
            records = list(checked(self.folder / "data", self.destination, head, records))
            if records:
                os.truncate(self.folder / "journal", records[-1][1])
        self.records = [record for record, _ in records]

    def _write_question(self) -> None:
        if not (self.folder / "question").exists():
            _write_record(self.folder / "question", self.question.record())

    def _clear(self) -> None:
        self.rows = 0
        for name in ("question", "counted"):
            (self.folder / name).unlink(missing_ok=True)
        self._clear_blocks()

    def _clear_blocks(self) -> None:
        self.records = []
        shutil.rmtree(self.folder / "data", ignore_errors=True)
        for name in ("schema", "journal"):
            (self.folder / name).unlink(missing_ok=True)

    @property
    def _name(self) -> str:
        return str(self.destination.path)


def _write_record(path: Path, record: dict[str, Any]) -> None:
    with contextlib.closing(Journal(path)) as file:
        file.append(record)


def _read_record(path: Path) -> dict[str, Any]:
    ((record, _),) = read_journal(path)
    return record


class Encoded(NamedTuple):
    """A block as it is written."""

    content: Bytes
    note: str
    rows: int
    checksum: int


class Output:
    """The files of an output that is being made."""

    def __init__(self, work: Unfinished, parts: Parts, journal: Journal) -> None:
        self.work = work
        self.parts = parts
        self.journal = journal

    def encode(self, table: Any) -> Encoded:
        """The bytes of a block and what is to be noted of it; any thread may ask for that."""
        content, note = self.parts.form.encode(table)
        return Encoded(content, note, table.num_rows, zlib.crc32(content))

    def append(self, block: Encoded, known: Record) -> None:
        """Add a block; ``known`` is what else is to be known of it, at least where it stops."""
        with self.work.naming_output():
            self.work.find_folder()
            placed = self.parts.append(block.content, block.note, block.rows)
            record = {**known, **placed._asdict(), "crc": block.checksum}
            self.journal.append(record)
            # Notes may be long, and are kept where they are needed.
            self.work.records.append(known)

    def finish(self) -> None:
        """Give the output its name."""
        self.work.check_inputs()
        with self.work.naming_output():
            self.work.find_folder()
            self.parts.finish()
            self.parts.rename()
            self.work.settle()


class ResumeError(ValueError):
    """What is unfinished belongs to another question, and stays as it is."""


@contextlib.contextmanager
def unfinished_output(destination: Destination, question: Question, *, resume: bool) -> Iterator[Unfinished]:
    """An output to be made; what is finished of it stays for ``--resume`` unless the input is to blame."""
    work = Unfinished(destination, question)
    try:
        work.open(resume=resume)
        yield work
    except (KeyboardInterrupt, Stopped) as error:
        code = error.code if isinstance(error, Stopped) else INTERRUPTED
        message = f"{destination.path}: stopped; --resume goes on from {work.place}" if work.keep() else ""
        raise Stopped(code, message) from None
    except (OSError, MemoryError) as error:
        if not work.keep():
            raise
        kept = f"; --resume goes on from {work.place}"
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, f"{error.strerror}{kept}", error.filename) from None
        raise type(error)(f"{error}{kept}") from None
    except ResumeError:
        work.give_up()
        raise
    finally:
        work.remove()

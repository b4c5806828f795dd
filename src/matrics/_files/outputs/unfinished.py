"""The folder next to an output in which the output is made, and from which ``--resume`` continues.

It has a lock, so that two runs do not write one output; ``question``, what the run computes; ``counted``, from time to
time the counts of the rows of labels that were read; ``data``, the parts of the output that are finished, each of them
a Parquet file; and ``whole``, the output itself, which is the concatenation of the parts. Of an output that is a
directory the parts are its files.

Anyone can compute the name of the folder, so it must belong to the user alone: it is not adopted if it is a link, if
another user owns it or may write to it, and nothing is removed from it but files with the names of such files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from filelock import FileLock, Timeout

from matrics._files.notices import INTERRUPTED, Stopped, cleaned_by, say
from matrics._files.outputs.question import Question
from matrics._files.outputs.sealed import NEW, WHOLE, create, named, read, seal, sealed, stem_of
from matrics._files.outputs.whole import settle, take_name
from matrics._files.outputs.writers import CODEC, FAST_CODEC, Writer, end_part, known_of_part, open_writer, part_of

if TYPE_CHECKING:
    from matrics._files.outputs.destination import Destination

Record = dict[str, Any]  # the record of a part: where it stops, and the totals

NOT_AS_WRITTEN = (OSError, ValueError, KeyError, TypeError, RecursionError, pa.ArrowException)


class Unfinished:
    """An output while it is made."""

    def __init__(self, destination: Destination, question: Question) -> None:
        self.destination = destination
        self.question = question
        # The output may be moved together with this folder, and its name may already have the maximum length.
        digest = hashlib.blake2b(os.fsencode(destination.path.name), digest_size=6).hexdigest()
        self.folder = destination.path.with_name(f".matrics-{digest}.unfinished")
        # Another thread removes the folder if a signal ends the process and this thread does not.
        self.lock = FileLock(self.folder / "lock", timeout=0, thread_local=False)
        self.records: list[Record] = []  # of the finished parts
        self.total = 0  # matrices
        self.rows = 0  # of labels that are counted in ``counted``
        self.is_whole = False
        self.files = contextlib.ExitStack()

    @property
    def done(self) -> int:
        """The number of finished parts."""
        return len(self.records)

    @property
    def stop(self) -> int:
        """The number of matrices in the finished parts."""
        return int(self.records[-1]["stop"]) if self.records else 0

    @property
    def data(self) -> Path:
        """The folder of the finished parts."""
        return self.folder / "data"

    @property
    def counted(self) -> Path:
        """The counts of the first ``rows`` rows."""
        return named(self.folder, f"counted-{self.rows}")[0]

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
        """Where ``--resume`` would continue, for messages."""
        return self.percent if self.records else f"row {self.rows:,}"

    def open(self, *, resume: bool) -> None:
        """Lock the folder for this run, and read the work of an earlier run."""
        self._lock()
        before = self._left(check=resume)
        if not resume:
            if self.records or self.rows:
                what = f"{self.percent} of" if self.records else f"the count of {self.rows:,} rows by"
                say(f"{self._name}: {what} an earlier run is discarded; --resume would have continued it")
            self._clear()
            return
        difference = None if before is None else self.question.difference(before)
        if difference is not None:
            raise ResumeError(f"--resume: {difference}; without --resume the run starts again from the beginning")
        if self.records:
            say(f"{self._name}: {self.percent} was finished before; the run continues from there")
        elif self.rows:
            say(f"{self._name}: {self.rows:,} rows were counted before; the run continues from there")
            self._clear_parts()
        else:
            say(f"{self._name}: there is nothing to resume; the run starts from the beginning")
            self._clear()

    def save_counted(self, rows: int, write: Callable[[Any], None]) -> None:
        """Save the counts of the first rows, as written by ``write``."""
        with self.naming_output():
            self.find_folder()
            self._write_question()
            kept = seal(self.folder, f"counted-{rows}", write)
            self.rows = rows
            _remove(path for path in named(self.folder, "counted-[0-9]+") if path != kept)

    def begin(self, schema: Any, total: int) -> Output:
        """Open the files; ``schema`` is the schema of every part, and ``total`` the number of matrices."""
        with self.naming_output():
            self.total = total
            self._write_question()
            self.data.mkdir(exist_ok=True)
            _remove([self.data / NEW, *named(self.data, "part-[0-9]+")[self.done :]])
            writer = None
            if not self.destination.is_directory:
                writer = open_writer(self.folder / WHOLE, self.destination.kind, schema)
                self.files.callback(writer.close)
                for path in named(self.data, "part-[0-9]+"):
                    writer.write(pq.read_table(io.BytesIO(read(path))))
            return Output(self, schema, writer)

    def keep(self) -> bool:
        """Keep the folder, if another run can go on with its content."""
        if not self.records:  # the run may have been stopped just when its counts were saved
            self.rows = self._rows_counted()
        if self.is_whole or not (self.records or self.rows) or not self.can_be_repeated:
            return False
        self.give_up()
        _remove([self.folder / WHOLE])
        return True

    def stopped(self) -> str:
        """Keep the folder or remove it, and return what the user is to know."""
        if self.keep():
            return f"{self._name}: stopped; --resume continues from {self.place}"
        self.remove()
        return ""

    def give_up(self) -> None:
        """Close all files, and let other runs have the folder."""
        self.files.close()
        self.lock.release()

    def remove(self) -> None:
        """Remove the folder, unless it is given up."""
        if self.lock.is_locked:
            self.files.close()
            self._clear()
            # Before it is given up, or this would be the folder of the next run.
            _remove([self.folder / "lock"])
            with contextlib.suppress(OSError):  # for example if it contains other files
                self.folder.rmdir()
            self.give_up()

    @contextlib.contextmanager
    def naming_output(self) -> Iterator[None]:
        """Name the output in errors, and not the files in the folder."""
        try:
            yield
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._name) if error.errno else error from None

    def _lock(self) -> None:
        with self.naming_output():
            for _ in range(5):
                with contextlib.suppress(FileExistsError):
                    self.folder.mkdir(mode=0o700)
                # A run that ends at this moment removes its folder.
                with contextlib.suppress(FileNotFoundError):
                    self._refuse_others()
                    try:
                        self.lock.acquire()
                    except Timeout:
                        break
                    return
        raise ValueError(f"{self._name}: another run is writing this output")

    def _refuse_others(self) -> None:
        """Raise unless only this user can write to the folder, and its lock is a regular file."""
        status = self.folder.lstat()
        is_own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
        if not stat.S_ISDIR(status.st_mode) or not is_own:
            got = "a link or a file" if not stat.S_ISDIR(status.st_mode) else "one that others can write to"
            raise ValueError(
                f"{self._name}: expected the working folder {self.folder.name} to belong only to you, "
                f"got {got}: remove it, or choose another name"
            )
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG((self.folder / "lock").lstat().st_mode):
                raise ValueError(f"{self.folder / 'lock'}: expected a file, got a link or a pipe: remove it")

    def check_inputs(self) -> None:
        """Raise if an input has changed since the run began."""
        changed = self.question.changed_input()
        if changed is not None:
            raise ValueError(f"{changed}: expected a file that does not change, got one that changed while it was read")

    def find_folder(self) -> None:
        """Raise if the folder was deleted: open files could still be written, but would be lost."""
        if not self.folder.is_dir():
            raise FileNotFoundError(errno.ENOENT, "its directory vanished while it was written", self._name)

    def take_name(self, made: Path) -> None:
        """Give the output its name, and wait until that is on the disk."""
        path = self.destination.path
        if self.destination.is_directory:
            if path.is_dir():  # an empty one; not every system replaces it
                path.rmdir()
            made.rename(path)
            settle(path.parent)
        else:
            take_name(made, path)
        self.is_whole = True

    def _left(self, *, check: bool) -> Question | None:
        """Read the description of an earlier run, and take over its files; with ``check`` verify their bytes."""
        try:
            (path,) = sealed(self.folder, "question")
            question = Question.of_record(json.loads(read(path)))
        except NOT_AS_WRITTEN:  # no file, or one by another version
            return None
        self.rows = self._rows_counted()
        with contextlib.suppress(*NOT_AS_WRITTEN):
            self._find_parts(check=check)
        return question

    def _rows_counted(self) -> int:
        found = [int(stem_of(path).partition("-")[2]) for path in sealed(self.folder, "counted-[0-9]+")]
        return max(found, default=0)

    def _find_parts(self, *, check: bool) -> None:
        for path in named(self.data, "part-[0-9]+"):
            is_next = stem_of(path) == _part(self.done)
            if not is_next or (check and not sealed(self.data, _part(self.done))):
                return
            known = known_of_part(read(path))
            self.total = known["total"]
            self.records.append(known)

    def _write_question(self) -> None:
        if not sealed(self.folder, "question"):
            seal(self.folder, "question", lambda file: file.write(json.dumps(self.question.record()).encode()))

    def _clear(self) -> None:
        self.rows = 0
        _remove(named(self.folder, "question|counted-[0-9]+"))
        self._clear_parts()

    def _clear_parts(self) -> None:
        self.records = []
        _remove([self.folder / NEW, self.folder / WHOLE, self.data / NEW, *named(self.data, "part-[0-9]+")])
        with contextlib.suppress(OSError):
            self.data.rmdir()

    @property
    def _name(self) -> str:
        return str(self.destination.path)


def _part(number: int) -> str:
    return f"part-{number:05d}"


def _remove(paths: Any) -> None:
    for path in paths:
        with contextlib.suppress(OSError):  # no regular file, or deleted meanwhile
            path.unlink()


class Encoded(NamedTuple):
    """A block of the output, and its bytes as a part."""

    table: Any
    part: Any


class Output:
    """The files of an output that is being made."""

    def __init__(self, work: Unfinished, schema: Any, writer: Writer | None) -> None:
        self.work = work
        self.schema = schema
        self.writer = writer

    def encode(self, table: Any) -> Encoded:
        """Encode a block; thread-safe."""
        return Encoded(table, part_of(table, CODEC if self.writer is None else FAST_CODEC))

    def append(self, block: Encoded, known: Record) -> None:
        """Add a block; ``known`` is its record, with at least the key "stop"."""
        work = self.work
        with work.naming_output():
            work.find_folder()
            content = end_part(block.part, {**known, "total": work.total})
            try:
                seal(work.data, _part(work.done), lambda file: file.write(content), ".parquet")
                work.records.append(known)
                if self.writer is not None:
                    self.writer.write(block.table)
            except OSError as error:
                raise self._in_words(error) from None

    def finish(self) -> None:
        """Give the output its name."""
        work = self.work
        work.check_inputs()
        with work.naming_output():
            work.find_folder()
            if self.writer is not None:
                try:
                    self.writer.finish()
                except OSError as error:
                    raise self._in_words(error) from None
                work.take_name(work.folder / WHOLE)
                return
            for path in named(work.data, "part-[0-9]+"):
                path.replace(path.with_name(f"{stem_of(path)}.parquet"))
            work.take_name(work.data)

    def _in_words(self, error: OSError) -> OSError:
        """A full disk: one file needs room for its parts, too."""
        if error.errno != errno.ENOSPC or self.writer is None or self.work.done < 2:
            return error
        reason = f"{os.strerror(errno.ENOSPC)}: one file needs room for its parts, too, a directory (DIR/) does not"
        return OSError(error.errno, reason, error.filename)


class ResumeError(ValueError):
    """The unfinished work belongs to another command, and is kept."""


@contextlib.contextmanager
def unfinished_output(destination: Destination, question: Question, *, resume: bool) -> Iterator[Unfinished]:
    """Make an output; after an error, finished parts are kept for ``--resume``, unless the input is at fault."""
    work = Unfinished(destination, question)
    try:
        with cleaned_by(work.stopped):
            work.open(resume=resume)
            yield work
    except (KeyboardInterrupt, Stopped) as error:
        raise Stopped(error.code if isinstance(error, Stopped) else INTERRUPTED, work.stopped()) from None
    except (OSError, MemoryError) as error:
        if not work.keep():
            raise
        kept = f"; --resume continues from {work.place}"
        if isinstance(error, OSError) and error.errno:
            raise OSError(error.errno, f"{error.strerror}{kept}", error.filename) from None
        raise type(error)(f"{error}{kept}") from None
    except ResumeError:
        work.give_up()
        raise
    finally:
        work.remove()


@contextlib.contextmanager
def whole_file(work: Unfinished) -> Iterator[IO[bytes]]:
    """Yield a file to write, which is the output when it is whole."""
    made = work.folder / WHOLE
    with work.naming_output():
        work.find_folder()
        with create(made) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        work.check_inputs()
        work.take_name(made)

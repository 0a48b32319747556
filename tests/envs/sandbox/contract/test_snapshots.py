"""States of a workspace that are remembered, gone back to and shared out."""

from __future__ import annotations

import random

import pytest

from workgym.envs.sandbox.protocol import Sandbox, SandboxPool
from workgym.envs.sandbox.spec import PythonCode, SnapshotId, WorkspaceDiff
from workgym.tasks.errors import SandboxError

LONG_S = 60.0
SMALL = 1 << 16
N_FORKS, N_STATES = 16, 40

# Prints everything that can be told of a tree: kinds, modes, contents, targets of links, names of one file.
MANIFEST = """
import hashlib, os, stat
def tell(path):
    seen = os.lstat(path)
    what = oct(seen.st_mode)
    if stat.S_ISLNK(seen.st_mode):
        what += ' -> ' + os.readlink(path)
    if stat.S_ISREG(seen.st_mode):
        what += ' ' + hashlib.sha256(open(path, 'rb').read()).hexdigest()[:16] + ' ' + str(seen.st_size)
    print(path, what)
for here, folders, files in os.walk('.'):
    folders.sort()
    for name in sorted(folders + files):
        tell(os.path.join(here, name))
"""
# One step of a life: it makes, changes, replaces, renames and removes whatever it finds, by the number of the step.
STEP = """
import os, random, shutil
step = {step}
draw = random.Random(step)
def anything():
    return sorted(os.path.join(here, name) for here, folders, files in os.walk('.') for name in folders + files)
def fresh(kind):
    folders = ['.'] + [path for path in anything() if os.path.isdir(path) and not os.path.islink(path)]
    return os.path.join(draw.choice(folders), f'{{kind}}{{step}}-{{draw.randrange(1000)}}')
def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
for _ in range(2):
    with open(fresh('file'), 'wb') as file:
        file.write(draw.randbytes(draw.randrange(3000)))
os.mkdir(fresh('folder'))
os.symlink(draw.choice(['nowhere', '/etc', '.', 'file']), fresh('link'))
for change in draw.sample(['rewrite', 'append', 'mode', 'rename', 'remove', 'file for folder', 'folder for file'], 4):
    there = anything()
    path = draw.choice(there)
    is_link, is_folder = os.path.islink(path), os.path.isdir(path)
    if change == 'rename':
        target = fresh('moved')
        if not target.startswith(path + '/'):
            shutil.move(path, target)
    elif change == 'remove' and len(there) > 12:
        remove(path)
    elif change == 'mode' and not is_link:
        os.chmod(path, draw.choice([0o700, 0o755, 0o711]) if is_folder else draw.choice([0o600, 0o755, 0o444]))
    elif change in ('rewrite', 'append') and not is_link and not is_folder:
        os.chmod(path, 0o644)
        with open(path, 'ab' if change == 'append' else 'wb') as file:
            file.write(draw.randbytes(500))
    elif change == 'file for folder' and is_folder and not is_link and len(there) > 12:
        remove(path)
        open(path, 'w').write('was a folder')
    elif change == 'folder for file' and not is_folder:
        remove(path)
        os.makedirs(path + '/below')
        open(path + '/below/file', 'w').write('was a file')
"""


def run(box: Sandbox, source: str) -> bytes:
    result = box.exec(PythonCode(source), timeout_s=LONG_S)
    assert (result.status, result.truncated_bytes) == ("ok", 0), result
    return result.stdout


def test_a_state_is_gone_back_to_as_often_as_wanted(box: Sandbox) -> None:
    box.write("note", b"before")
    before = box.snapshot()
    for _ in range(3):
        run(box, "open('note', 'w').write('after'); open('new', 'w').close()")
        box.restore(before)
        assert box.read("note", SMALL) == b"before"
        assert run(box, "import os; print(os.path.exists('new'))") == b"False\n"


def test_forty_states_are_gone_back_to_in_any_order_byte_for_byte(roomy: Sandbox) -> None:
    states: list[tuple[SnapshotId, bytes, WorkspaceDiff]] = []
    for step in range(N_STATES):
        manifest = run(roomy, STEP.format(step=step) + MANIFEST)
        states.append((roomy.snapshot(), manifest, roomy.diff()))
    assert len({manifest for _, manifest, _ in states}) == N_STATES
    assert len({name for name, _, _ in states}) == N_STATES
    random.Random(0).shuffle(states)
    for n, (name, manifest, seen) in enumerate(states):
        roomy.restore(name)
        assert roomy.diff() == seen  # each file's content
        if n % 4 == 0:  # and all that can be told of a tree, which takes a program
            assert run(roomy, MANIFEST) == manifest


def test_a_life_goes_on_from_a_state_gone_back_to(box: Sandbox) -> None:
    states = {}
    for word in ("one", "two", "three"):
        run(box, f"open('note', 'a').write('{word} ')")
        states[word] = box.snapshot()
    box.restore(states["one"])
    run(box, "open('note', 'a').write('other ')")
    branch = box.snapshot()
    box.restore(states["three"])
    assert box.read("note", SMALL) == b"one two three "
    box.restore(branch)
    assert box.read("note", SMALL) == b"one other "


def test_a_removed_tree_comes_back_and_a_tree_made_since_goes(box: Sandbox) -> None:
    run(box, "import os; os.makedirs('old/empty'); open('old/file', 'w').write('x'); os.symlink('file', 'old/link')")
    told = run(box, MANIFEST)
    before = box.snapshot()
    run(box, "import os, shutil; shutil.rmtree('old'); os.makedirs('old/other'); os.makedirs('new/tree')")
    box.restore(before)
    assert run(box, MANIFEST) == told


def test_the_difference_goes_back_with_the_state(box: Sandbox) -> None:
    box.write("ours", b"ours")
    run(box, "open('theirs', 'w').write('theirs')")
    before = box.snapshot()
    seen = box.diff()
    box.write("ours", b"more of ours")
    box.write("another", b"of ours")
    box.restore(before)
    assert (box.diff(), dict(seen.written)) == (seen, {"theirs": b"theirs"})


def test_an_empty_workspace_can_be_gone_back_to(box: Sandbox) -> None:
    empty = box.snapshot()
    box.write("a/b", b"x")
    box.restore(empty)
    assert (
        run(box, MANIFEST.replace("print(path, what)", "print(path) if 'link' not in what and '->' not in what else 0"))
        == b""
    )


def test_a_state_of_another_sandbox_is_refused(backend_pool: SandboxPool) -> None:
    with backend_pool.lease() as one, backend_pool.lease() as other:
        of_other = other.snapshot()
        one.write("note", b"x")
        for name in (of_other, SnapshotId("nonsense")):
            with pytest.raises(SandboxError, match="snapshot"):
                one.restore(name)
        assert one.read("note", SMALL) == b"x"


def test_nothing_is_remembered_while_a_program_runs(box: Sandbox) -> None:
    process = box.start(PythonCode("import sys; sys.stdin.read()"))
    with pytest.raises(SandboxError, match="while a program"):
        box.snapshot()
    with pytest.raises(SandboxError, match="while a program"):
        box.fork(1)
    assert process.wait(LONG_S).status == "ok"
    box.snapshot()


def test_only_a_workspace_is_remembered(box: Sandbox) -> None:
    with pytest.raises(SandboxError, match="process"):
        box.snapshot("process")  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [0, -1])
def test_a_sandbox_is_forked_into_one_or_more(box: Sandbox, n: int) -> None:
    with pytest.raises(ValueError, match="forked"):
        box.fork(n)


def test_sixteen_forks_write_the_same_path_and_see_only_their_own(roomy: Sandbox) -> None:
    roomy.write("shared", b"of the parent")
    run(roomy, "import os; os.mkdir('folder'); open('folder/theirs', 'w').write('of a program')")
    forks = roomy.fork(N_FORKS)
    for n, fork in enumerate(forks):
        fork.write("shared", b"%d" % n)
        run(fork, f"open('folder/theirs', 'w').write('{n}'); open('new', 'w').write('{n}')")
    for n, fork in enumerate(forks):
        assert [fork.read(path, SMALL) for path in ("shared", "folder/theirs", "new")] == [b"%d" % n] * 3
    assert [roomy.read(path, SMALL) for path in ("shared", "folder/theirs")] == [b"of the parent", b"of a program"]
    assert run(roomy, "import os; print(os.path.exists('new'))") == b"False\n"


def test_forks_run_at_once(roomy: Sandbox) -> None:
    forks = roomy.fork(3)
    source = "import os, sys; open('n', 'w').write(sys.stdin.readline()); os.write(3, open('n').read().encode())"
    processes = [fork.start(PythonCode(source), channel=True) for fork in forks]
    for n, process in enumerate(processes):
        process.send(b"%d\n" % n)
    assert [process.receive(LONG_S) for process in processes] == [b"0", b"1", b"2"]
    assert [process.wait(LONG_S).status for process in processes] == ["ok"] * 3


def test_a_fork_goes_back_to_what_its_parent_remembered(box: Sandbox) -> None:
    box.write("note", b"one")
    before = box.snapshot()
    box.write("note", b"two")
    (fork,) = box.fork(1)
    fork.restore(before)
    assert (fork.read("note", SMALL), box.read("note", SMALL)) == (b"one", b"two")


def test_what_a_fork_remembers_is_its_own(box: Sandbox) -> None:
    one, other = box.fork(2)
    of_one = one.snapshot()
    for stranger in (box, other):
        with pytest.raises(SandboxError, match="snapshot"):
            stranger.restore(of_one)


def test_a_fork_of_a_fork_is_one_more(box: Sandbox) -> None:
    box.write("note", b"1")
    (child,) = box.fork(1)
    child.write("note", b"2")
    (grandchild,) = child.fork(1)
    run(grandchild, "open('note', 'a').write('3')")
    assert [one.read("note", SMALL) for one in (box, child, grandchild)] == [b"1", b"2", b"23"]


def test_a_fork_knows_what_its_owner_wrote(box: Sandbox) -> None:
    box.write("ours", b"x")
    run(box, "open('theirs', 'w').write('y')")
    (fork,) = box.fork(1)
    assert fork.diff() == box.diff()


def test_a_closed_fork_leaves_the_others(box: Sandbox) -> None:
    one, other = box.fork(2)
    one.close()
    other.write("note", b"x")
    assert run(other, "print(open('note').read())") == b"x\n"
    with pytest.raises(SandboxError, match="closed"):
        one.read("note", SMALL)


def test_forks_end_with_their_lease(backend_pool: SandboxPool) -> None:
    with backend_pool.lease() as lent:
        (fork,) = lent.fork(1)
        process = fork.start(PythonCode("import time; time.sleep(600)"))
    with pytest.raises(SandboxError):
        process.wait(LONG_S)
    with pytest.raises(SandboxError, match="closed"):
        run(fork, "pass")

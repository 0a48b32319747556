"""A shell that stays: what lives from command to command, and what comes back of each."""

from __future__ import annotations

import pytest

from workgym.envs.sandbox.protocol import Sandbox
from workgym.envs.sandbox.shell import Shell, ShellResult

LONG_S = 60.0


def shown(result: ShellResult) -> tuple[str, int]:
    return result.output, result.exit_code


def test_output_and_exit_code_come_back(shell: Shell) -> None:
    assert shown(shell.run("echo out; echo err >&2; (exit 3)")) == ("out\nerr\n", 3)


def test_the_exit_code_is_there_for_the_next_command(shell: Shell) -> None:
    shell.run("(exit 5)")
    assert shown(shell.run("echo $?")) == ("5\n", 0)


def test_nothing_runs_well(shell: Shell) -> None:
    assert shown(shell.run("")) == ("", 0)
    assert shown(shell.run("# only a comment")) == ("", 0)


def test_folder_variables_functions_aliases_and_options_stay(shell: Shell) -> None:
    shell.run("mkdir -p deep && cd deep; x=5; export y=6; alias say='echo said'; set -f\nf() { echo f $1 $x; }")
    assert shown(shell.run("f a; say b; sh -c 'echo $y'; echo *; pwd")) == (
        "f a 5\nsaid b\n6\n*\n/workspace/deep\n",
        0,
    )


def test_a_command_may_have_many_lines_quotes_and_documents(shell: Shell) -> None:
    documents = "cat <<EOF\n$x \"a\" b'c `echo d`\nEOF\ncat <<'EOF'\n$x \\ ' \" !\nEOF\n"
    command = f"x='it is'\n{documents}if true\nthen echo 'a\nb'\nfi"
    assert shown(shell.run(command)) == ('it is "a" b\'c d\n$x \\ \' " !\na\nb\n', 0)


def test_a_long_command_runs(shell: Shell) -> None:
    assert shown(shell.run(f"x='{'y' * 500_000}'; echo ${{#x}}")) == ("500000\n", 0)


def test_letters_of_every_kind_go_in_and_out(shell: Shell) -> None:
    assert shown(shell.run("echo 'é ✓ 𝄞' | cat")) == ("é ✓ 𝄞\n", 0)


@pytest.mark.parametrize("command", ['echo "unfinished', "if true", "f() {", "echo )", "cat <<", "for", "'"])
def test_what_is_no_command_is_an_error_and_costs_nothing(shell: Shell, command: str) -> None:
    shell.run("x=1")
    result = shell.run(command)
    assert result.exit_code > 0
    assert result.survived
    assert shown(shell.run("echo $x")) == ("1\n", 0)


@pytest.mark.parametrize(
    "command", ["break", "continue", "return 2>/dev/null", "shift 99", "fg", "unset PS1; PS1='me> '"]
)
def test_what_makes_no_sense_here_does_no_harm(shell: Shell, command: str) -> None:
    shell.run(f"{command}\nx=1")
    assert shell.run("echo end $x").output.startswith("end")


def test_a_prompt_that_was_set_is_not_printed(shell: Shell) -> None:
    shell.run("PS1='(venv) '; PROMPT_COMMAND='echo prompt'")
    shell.run("true")
    assert shown(shell.run("echo clean")) == ("clean\n", 0)


def test_programs_find_a_terminal(shell: Shell) -> None:
    assert shown(shell.run("test -t 0 && test -t 1 && test -t 2 && stty size")) == ("50 160\n", 0)


def test_what_a_program_did_to_the_terminal_is_undone(shell: Shell) -> None:
    shell.run("stty raw -echo olcuc cs5 2>/dev/null; stty opost onlcr; printf '\\033[?1049h'")
    assert shown(shell.run("printf 'a\\nb\\n'")) == ("a\nb\n", 0)


def test_escapes_and_bytes_that_are_no_text_stay_readable(shell: Shell) -> None:
    assert shown(shell.run(r"printf '\033[31mred\033[0m \377 \000 \r\n'")) == ("\x1b[31mred\x1b[0m \\xff \x00 \r\n", 0)


def test_of_much_output_beginning_and_end_come_back(shell: Shell) -> None:
    result = shell.run("seq 1 1000000")
    assert result.output.startswith("1\n2\n3\n")
    assert result.output.endswith("\n999999\n1000000\n")
    assert len(result.output) < 16 << 10
    assert result.truncated_bytes > 6_000_000
    assert shown(shell.run("echo after")) == ("after\n", 0)


def test_all_that_was_printed_before_the_end_comes_with_the_command(shell: Shell) -> None:
    for n in range(30):
        assert shown(shell.run(f"echo {n}; printf end")) == (f"{n}\nend", 0)


def test_pipes_end_as_in_any_shell(shell: Shell) -> None:
    assert shown(shell.run("yes | head -n 1; echo ${PIPESTATUS[*]}")) == ("y\n141 0\n", 0)


def test_jobs_can_be_listed_and_waited_for(shell: Shell) -> None:
    shell.run("(sleep 1; exit 7) &")
    assert "Running" in shell.run("jobs").output
    assert shell.run("wait %1").exit_code == 7


def test_what_a_job_prints_between_commands_comes_with_a_later_one(shell: Shell) -> None:
    first = shell.run("(sleep 0.2; echo late) &")
    assert "late\n" in first.output + shell.run("wait").output


def test_a_traced_shell_shows_nothing_that_the_command_did_not_do(shell: Shell) -> None:
    shell.run("set -x")
    assert shell.run("echo a").output == "+ command eval 'echo a'\n++ echo a\na\n"


def test_commands_are_remembered_nowhere(shell: Shell) -> None:
    shell.run("echo secret")
    assert shown(shell.run('echo "${HISTFILE-none}"; history')) == ("none\n", 0)


def test_more_variables_may_be_set(room: Sandbox) -> None:
    with Shell(room, timeout_s=LONG_S, env={"MINE": "set", "TERM": "xterm"}) as shell:
        assert shown(shell.run("echo $MINE $TERM $PAGER")) == ("set xterm cat\n", 0)


def test_without_bash_the_state_stays_in_another_shell(posix: Shell) -> None:
    posix.run("x=5; f() { echo f $1; }; (exit 3)")
    assert shown(posix.run("echo $? $x\nf 'a\nb'; echo ${BASH-no} bash")) == ("3 5\nf a b\nno bash\n", 0)


def test_without_bash_what_is_no_command_costs_nothing(posix: Shell) -> None:
    posix.run("x=kept")
    assert posix.run("echo 'unfinished").exit_code == 2
    assert shown(posix.run("echo $x")) == ("kept\n", 0)


@pytest.mark.parametrize("command", ["echo a\0b", "echo \ud800"])
def test_what_cannot_be_said_to_a_shell_is_refused(shell: Shell, command: str) -> None:
    with pytest.raises(ValueError, match="NUL|surrogates"):
        shell.run(command)

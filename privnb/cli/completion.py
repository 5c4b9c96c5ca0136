"""Print a script that completes privnb commands in a shell: bash, zsh or fish."""

from __future__ import annotations

import argparse
import shlex
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser

# The script lists all completions, so that a key press does not start Python. The shell looks for the described
# datasets of the current folder.
BASH = """\
_privnb_datasets() {{
  local place
  echo {datasets}
  for place in data/*/*.toml; do
    [ "${{place##*/}}" = "$(basename "${{place%/*}}").toml" ] && [ -e "$place" ] && basename "$place" .toml
  done
}}
_privnb() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" command="${{COMP_WORDS[1]}}"
  local words="" files=""
  if [ "$word" = "=" ]; then word=""; elif [ "$before" = "=" ]; then before="${{COMP_WORDS[COMP_CWORD-2]}}"; fi
  if [ "$COMP_CWORD" -eq 1 ]; then words={commands}; else
    case "$command $before" in
{values}
      *)
        case "$command $word" in
{words}
        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ -n "$files" ] && COMPREPLY+=($(compgen -f -- "$word"))
}}
complete -o filenames -F _privnb privnb
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
FISH = """\
function __privnb_datasets
  printf '%s\\n' {datasets}
  for place in data/*/*.toml
    set -l parts (string split / $place)
    test "$parts[2].toml" = "$parts[3]"; and echo $parts[2]
  end
end
"""
INSTALLED = {  # the steps for each shell, which are needed once and again after an update
    "bash": "privnb completion bash > ~/.privnb.bash, and `source ~/.privnb.bash` in ~/.bashrc",
    "zsh": "privnb completion zsh > ~/.privnb.zsh, and `source ~/.privnb.zsh` in ~/.zshrc after compinit",
    "fish": "privnb completion fish > ~/.config/fish/completions/privnb.fish",
}
LISTED = {  # for each metavar, the kind of `privnb list` whose names an argument takes
    "TABLE": "datasets", "DATASET": "datasets", "POLICY": "policies", "SANITIZER": "sanitizers",
    "NOTEBOOK": "notebooks",
}  # fmt: skip
FILES = ("TABLE", "DATASET", "POLICY", "OUT", "DIR", "FILE", "CARD")  # metavars of arguments that may be files


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.add_argument("shell", choices=[*INSTALLED], metavar="SHELL", help=f"one of {', '.join(INSTALLED)}")
    command.more = lambda: "\nto use it:\n" + "".join(f"  {line}\n" for line in INSTALLED.values())


def run(args: Namespace) -> Answer:
    """Print the script for a shell."""
    from privnb.cli.command import parser

    (commands,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    script = {"bash": _bash, "zsh": lambda own: ZSH + _bash(own), "fish": _fish}[args.shell](commands)
    return Answer({}, [script.rstrip("\n")])


def _bash(commands: argparse._SubParsersAction[Parser]) -> str:
    values, words = dict[str, list[str]](), dict[str, list[str]]()  # for each completion, the words before it
    for name, command in commands.choices.items():
        words.setdefault(f"words={shlex.quote(' '.join(_options(command)))}", []).append(f'"{name} -"*')
        for action in command._actions:
            if not action.option_strings:
                words.setdefault(_set(action), []).append(f'"{name} "*')
            elif action.nargs != 0:
                values.setdefault(_set(action), []).extend(f'"{name} {each}"' for each in action.option_strings)
    return BASH.format(
        datasets=shlex.join(_shipped()), commands=shlex.quote(" ".join(commands.choices)),
        values="\n".join(f"      {'|'.join(after)}) {what} ;;" for what, after in values.items()),
        words="\n".join(f"          {'|'.join(after)}) {what} ;;" for what, after in _options_first(words)),
    )  # fmt: skip


def _options_first(words: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    """Return the cases for bash, sorted so that options come first.

    The order matters because an argument could begin like an option.
    """
    return sorted(words.items(), key=lambda each: not each[1][0].endswith('-"*'))


def _set(action: argparse.Action) -> str:
    """Return the bash code that completes an argument."""
    words = '"$(_privnb_datasets)"' if _kind(action) == "datasets" else shlex.quote(" ".join(_values(action)))
    return f"words={words} files={'1' * _takes_files(action)}"


def _fish(commands: argparse._SubParsersAction[Parser]) -> str:
    lines = [FISH.format(datasets=shlex.join(_shipped()))]
    for each in commands._choices_actions:
        first = "complete -c privnb -n __fish_use_subcommand"
        lines.append(f"{first} -f -a {each.dest} -d {shlex.quote(each.help or '')}")
    for name, command in commands.choices.items():
        inside = f"complete -c privnb -n '__fish_seen_subcommand_from {name}'"
        for action in command._actions:
            is_dynamic = _kind(action) == "datasets"
            words = "(__privnb_datasets)" if is_dynamic else " ".join(_values(action))
            given = f" -a {shlex.quote(words)}" * bool(words)
            # For an argument, -f forbids files. For an option, -r requires a value and -x a value that is not a file.
            kind = "" if _takes_files(action) else " -f"
            if action.option_strings:
                kind = "" if action.nargs == 0 else " -r" if _takes_files(action) else " -x"
            names = "".join(
                f" -l {each[2:]}" if each.startswith("--") else f" -s {each[1:]}" for each in action.option_strings
            )
            if names or given:
                lines.append(f"{inside}{names}{kind}{given}")
    return "\n".join(lines) + "\n"


def _options(command: Parser) -> Iterator[str]:
    return (option for action in command._actions for option in action.option_strings)


def _kind(action: argparse.Action) -> str:
    """Return the kind of `privnb list` that lists the values of an argument; empty for other arguments."""
    return LISTED.get(str(action.metavar), "")


def _takes_files(action: argparse.Action) -> bool:
    return action.metavar in FILES


def _values(action: argparse.Action) -> Iterable[str]:
    """Return the words that may be the value of an argument."""
    return _named(_kind(action)) if _kind(action) else [str(each) for each in action.choices or ()]


@cache
def _named(kind: str) -> list[str]:
    """Return the names that `privnb list` shows for a kind."""
    from privnb.cli.list import KINDS

    return [name for name, _ in KINDS[kind]()]


@cache
def _shipped() -> list[str]:
    """Return the datasets that come with the package."""
    from privnb.datasets.dataset import PROJECT, list_datasets

    return [path.stem for path in list_datasets() if path.is_relative_to(PROJECT)]

"""Print what completes the command in a shell: bash, zsh or fish."""

from __future__ import annotations

import argparse
import shlex
from argparse import Namespace

from privnb.cli.answer import Answer
from privnb.cli.arguments import Parser

BASH = """\
_privnb() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then words={commands}; else
    case "$command" in
{cases}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in -*) ;; *) [ "$COMP_CWORD" -gt 1 ] && COMPREPLY+=($(compgen -f -- "$word")) ;; esac
}}
complete -o filenames -F _privnb privnb
"""
ZSH = "#compdef privnb\nautoload -U +X bashcompinit && bashcompinit\n"
INSTALLED = {
    "bash": 'eval "$(privnb completion bash)", in ~/.bashrc',
    "zsh": 'eval "$(privnb completion zsh)", in ~/.zshrc after compinit',
    "fish": "privnb completion fish | source, in ~/.config/fish/config.fish",
}


def add_arguments(command: Parser) -> None:
    """Add the arguments of the subcommand."""
    command.add_argument("shell", choices=[*INSTALLED], metavar="SHELL", help=f"one of {', '.join(INSTALLED)}")
    command.more = lambda: "\nto use it:\n" + "".join(f"  {line}\n" for line in INSTALLED.values())


def run(args: Namespace) -> Answer:
    """Print the script of a shell."""
    from privnb.cli.command import parser

    (commands,) = (each for each in parser()._actions if isinstance(each, argparse._SubParsersAction))
    return Answer({}, [(_fish if args.shell == "fish" else _bash)(commands, args.shell).rstrip("\n")])


def _bash(commands: argparse._SubParsersAction[Parser], shell: str) -> str:
    cases = [
        f"      {name}) words={shlex.quote(' '.join([*_options(command), *_choices(command)]))} ;;"
        for name, command in commands.choices.items()
    ]
    script = BASH.format(commands=shlex.quote(" ".join(commands.choices)), cases="\n".join(cases))
    return ZSH + script if shell == "zsh" else script


def _fish(commands: argparse._SubParsersAction[Parser], shell: str) -> str:
    lines = []
    for each in commands._choices_actions:
        first = "complete -c privnb -n __fish_use_subcommand"
        lines.append(f"{first} -f -a {each.dest} -d {shlex.quote(each.help or '')}")
    for name, command in commands.choices.items():
        inside = f"complete -c privnb -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{inside} -l {option[2:]}" for option in _options(command) if option.startswith("--")]
        lines += [f"{inside} -f -a {word}" for word in _choices(command)]
    return "\n".join(lines) + "\n"


def _options(command: Parser) -> list[str]:
    return [option for action in command._actions for option in action.option_strings]


def _choices(command: Parser) -> list[str]:
    return [str(choice) for action in command._actions if not action.option_strings for choice in action.choices or ()]

"""Law R4: a mutated ticket file gives a ticket or a ``TicketError`` with a path, nothing else."""

import re

import pytest
from ticket_samples import SMALL, WORDS_ONLY

from cirrus_env.errors import TicketError
from cirrus_env.tickets.load import load_ticket
from cirrus_env.tickets.scenario import make_scenario
from cirrus_env.tickets.ticket import Ticket
from cirrus_env.world import Stream

VALUES = (
    "0", "-1", "1.0", "nan", "-inf", "true", '""', '" "', "[]", "{}", "[[]]", "{ a = 1 }",
    "1979-05-27", "07:32:00", "99999999999999999999", "0x7fffffffffffffffff", '"{x}"', '"{"', '"}"',
    '"{instance}"', '"{days}"', '"{now}"', '"{since}"', '"{{}}"', '"-3d"', '"\\u0000"', '"ａ"',
    '["nobody"]', '["halted"]', '{ not = [{}] }', '{ all = [{ all = [{ all = [] }] }] }',
    '{ predicate = "free" }', '{ told = "cause" }', '"cause"', '"ask"', '"halted"', '"zh"',
    '{ en = [["x"]] }', '{ en = "x", zh = "y" }', '["x", 3]', '[{ only = ["kept"], en = "x" }]',
)  # fmt: skip
JUNK = ("=", "[", "]", '"', "\\", "é", "\x00", "🙂", "[[world]]", "[slots.x]", "only = 3", "")
WORD = re.compile(r"[A-Za-z_.-]{2,}")


def mutate(text: str, stream: Stream) -> str:
    """One or two damages: lines moved, values and words put in other places, stray signs."""
    lines = text.split("\n")
    words = sorted(set(WORD.findall(text)))
    for _ in range(stream.integer(1, 2)):
        at = stream.below(len(lines))
        line = lines[at]
        how = stream.below(12)
        if how == 0 and len(lines) > 1:
            del lines[at]
        elif how == 1:
            lines.insert(at, lines[stream.below(len(lines))])
        elif how == 2:
            other = stream.below(len(lines))
            lines[at], lines[other] = lines[other], line
        elif how < 6 and " = " in line:
            lines[at] = f"{line.split(' = ')[0]} = {stream.choice(VALUES)}"
        elif how < 10 and WORD.search(line):
            found = list(WORD.finditer(line))
            match = found[stream.below(len(found))]
            lines[at] = line[: match.start()] + stream.choice(words) + line[match.end() :]
        elif how == 10 and " = " in line:
            source = lines[stream.below(len(lines))]
            if " = " in source:
                lines[at] = f"{line.split(' = ')[0]} = {source.split(' = ', 1)[1]}"
        elif line:
            cut = stream.below(len(line))
            lines[at] = line[:cut] + stream.choice(JUNK) + line[cut + 1 :]
    return "\n".join(lines) + "\n"


def attempt(text: str) -> Ticket | TicketError:
    try:
        return load_ticket(text, file="mutated.toml")
    except TicketError as error:
        return error


def check(first: int, last: int) -> tuple[int, int]:
    good = bad = 0
    for number in range(first, last):
        stream = Stream(number, "mutation")
        text = mutate(stream.choice((SMALL, SMALL, SMALL, WORDS_ONLY)), stream)
        ticket = attempt(text)
        if isinstance(ticket, TicketError):
            assert ticket.file == "mutated.toml"
            assert isinstance(ticket.path, str)
            assert ticket.problem
            bad += 1
            continue
        good += 1
        for variant in ticket.variants:
            for language in ticket.languages:
                make_scenario(ticket, number, variant=variant, language=language)
    return good, bad


def test_mutated_files_give_a_ticket_or_a_ticket_error():
    good, bad = check(0, 300)
    assert good > 20
    assert bad > 100


@pytest.mark.long
def test_many_mutated_files_give_a_ticket_or_a_ticket_error():
    good, bad = check(0, 5000)
    assert good + bad == 5000

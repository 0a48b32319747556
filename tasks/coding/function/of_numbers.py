"""Operations on whole numbers and on lists of them."""

from __future__ import annotations

from typing import Final

from workgym.tasks.coding.function.operation import Kind, Operation, operation

__all__ = ["NUMBER_OPERATIONS"]

_SAME: Final[tuple[Kind, Kind]] = ("numbers", "numbers")
_ONE: Final[tuple[Kind, Kind]] = ("numbers", "number")
_SPREAD: Final[tuple[Kind, Kind]] = ("number", "numbers")

_BOUNDED_SUM: Final = """out = []
total = 0
for n in {x}:
    total += n
    if total > {k}:
        total = 0
    out.append(total)"""

_CANCEL: Final = """out = []
for n in {x}:
    if out and out[-1] == n:
        out.pop()
    else:
        out.append(n)"""

_RUNNING_SUM: Final = """out = []
total = 0
for n in {x}:
    total += n
    out.append(total)"""

_RUNNING_BEST: Final = """out = []
for n in {x}:
    out.append(n if not out else BEST(out[-1], n))"""

_RECORDS: Final = """out = []
for n in {x}:
    if not out or n > out[-1]:
        out.append(n)"""

_RUNNING_KINDS: Final = """out = []
seen = set()
for n in {x}:
    seen.add(n)
    out.append(len(seen))"""

_RUNNING_COUNT: Final = """out = []
count = 0
for n in {x}:
    count += n % {k} == 0
    out.append(count)"""

_RUN_LENGTH: Final = """out = 0
run = 0
last = None
for n in {x}:
    run = run + 1 if n == last else 1
    last = n
    out = max(out, run)"""

_BASE_DIGITS: Final = """out = []
rest = {x}
while rest:
    out.append(rest % {k})
    rest //= {k}"""

_MODE: Final = """counts = {}
for n in {x}:
    counts[n] = counts.get(n, 0) + 1
out = min(counts, key=lambda n: (-counts[n], n))"""

_MODE_OR: Final = _MODE.replace("out = min(", "out = {d} if not counts else min(")
_DEFAULTS: Final = (0, -1)

NUMBER_OPERATIONS: Final[tuple[Operation, ...]] = (
    operation("add", "map", _SAME, "[n + {k} for n in {x}]", "add {k} to each number", "increase every number by {k}",
              "replace each number by itself plus {k}", k=range(1, 21)),
    operation("multiply", "map", _SAME, "[n * {k} for n in {x}]", "multiply each number by {k}",
              "make every number {k} times as large", "replace each number by its product with {k}", k=range(2, 13)),
    operation("subtract-from", "map", _SAME, "[{k} - n for n in {x}]", "subtract each number from {k}",
              "replace each number n by {k} - n", "compute {k} minus the number for every number", k=range(1, 21)),
    operation("remainder", "map", _SAME, "[n % {k} for n in {x}]", "replace each number n by n % {k}",
              "take every number modulo {k} (with Python's %)", "compute n % {k} for each number n", k=range(3, 13)),
    operation("divide", "map", _SAME, "[n // {k} for n in {x}]", "divide each number by {k}, rounding down",
              "replace each number n by n // {k}", "do floor division by {k} on every number", k=range(2, 10)),
    operation("cap", "map", _SAME, "[min(n, {k}) for n in {x}]", "replace each number above {k} by {k}",
              "limit every number to at most {k}", "cap the numbers at {k}", k=range(3, 16)),
    operation("lift", "map", _SAME, "[max(n, {k}) for n in {x}]", "replace each number below {k} by {k}",
              "raise every number to at least {k}", "put {k} in place of every smaller number", k=range(12)),
    operation("power", "map", _SAME, "[n ** {k} for n in {x}]", "raise each number to the power {k}",
              "replace each number n by n ** {k}", "take every number to the power of {k}", k=(2, 3, 4)),
    operation("swap-value", "map", _SAME, "[{b} if n == {a} else n for n in {x}]", "replace every {a} by {b}",
              "change each number {a} to {b}", "put {b} in place of each number that equals {a}",
              a=range(1, 7), b=range(20, 30),
              inputs="few"),
    operation("above", "filter", _SAME, "[n for n in {x} if n > {k}]", "keep only the numbers above {k}",
              "drop every number that is not greater than {k}", "select the numbers larger than {k}", k=range(12)),
    operation("below", "filter", _SAME, "[n for n in {x} if n < {k}]", "keep only the numbers below {k}",
              "drop every number that is not less than {k}", "select the numbers smaller than {k}", k=range(2, 16)),
    operation("multiples", "filter", _SAME, "[n for n in {x} if n % {k} == 0]", "keep only the multiples of {k}",
              "keep the numbers divisible by {k}", "drop what is not a multiple of {k}", k=range(2, 7)),
    operation("not-multiples", "filter", _SAME, "[n for n in {x} if n % {k} != 0]", "drop the multiples of {k}",
              "remove every number divisible by {k}", "keep the numbers that {k} does not divide", k=range(2, 7)),
    operation("without", "filter", _SAME, "[n for n in {x} if n != {k}]", "remove every {k}",
              "drop the numbers equal to {k}", "keep only the numbers other than {k}", k=range(1, 7), inputs="few"),
    operation("ascending", "order", _SAME, "sorted({x})", "sort the numbers in ascending order",
              "sort the numbers from smallest to largest", "order the numbers so that they increase"),
    operation("descending", "order", _SAME, "sorted({x}, reverse=True)", "sort the numbers in descending order",
              "sort the numbers from largest to smallest", "order the numbers so that they decrease"),
    operation("reverse", "order", _SAME, "{x}[::-1]", "reverse the list", "put the numbers in reverse order",
              "turn the list of numbers around"),
    operation("by-remainder", "order", _SAME, "sorted({x}, key=lambda n: n % {k})",
              "sort the numbers by their remainder modulo {k}, ties in their old order",
              "sort stably by n % {k}", "order the numbers by n modulo {k}, keeping the order of equal ones",
              k=range(2, 10)),
    operation("by-distance", "order", _SAME, "sorted({x}, key=lambda n: (abs(n - {k}), n))",
              "sort the numbers by their distance from {k}, ties smaller first",
              "sort by abs(n - {k}), the smaller number first where equal",
              "order the numbers from nearest to {k} to farthest, of two as near the smaller first", k=range(12)),
    operation("rotate", "order", _SAME, "{x}[{k}:] + {x}[:{k}]", "move the first {k} numbers to the end",
              "cut off the first {k} numbers, to be appended at the end",
              "put the first {k} numbers behind the others", k=range(1, 5)),
    operation("first", "slice", _SAME, "{x}[:{k}]", "keep only the first {k} numbers", "take the first {k} numbers",
              "cut the list after {k} numbers", k=range(2, 5)),
    operation("last", "slice", _SAME, "{x}[-{k}:]", "keep only the last {k} numbers", "take the last {k} numbers",
              "drop all but the last {k} numbers", k=range(2, 5)),
    operation("drop-first", "slice", _SAME, "{x}[{k}:]", "drop the first {k} numbers", "skip the first {k} numbers",
              "leave out the first {k} numbers", k=range(1, 5)),
    operation("drop-last", "slice", _SAME, "{x}[:-{k}]", "drop the last {k} numbers", "remove the last {k} numbers",
              "leave out the last {k} numbers", k=range(1, 5)),
    operation("every", "slice", _SAME, "{x}[::{k}]", "keep one number in every {k}, starting with the first",
              "take the numbers at positions 0, {k}, {2k} and so on", "of every {k} consecutive numbers keep the first",
              k=(2, 3, 4)),
    operation("unique", "dedupe", _SAME, "list(dict.fromkeys({x}))",
              "remove repeated numbers, keeping the first of each", "drop duplicates, keeping the order",
              "keep each number only where it first occurs", inputs="few"),
    operation("running-sum", "state",
              _SAME, _RUNNING_SUM, "replace each number by the sum of it and all numbers before it",
              "compute the running sums", "give the running total after each number",
              slow="[sum({x}[:i + 1]) for i in range(len({x}))]"),
    operation("running-max", "state", _SAME, _RUNNING_BEST.replace("BEST", "max"),
              "replace each number by the largest among it and the numbers before it", "compute the running maximum",
              "give the largest number so far at each position",
              slow="[max({x}[:i + 1]) for i in range(len({x}))]"),
    operation("running-min", "state", _SAME, _RUNNING_BEST.replace("BEST", "min"),
              "replace each number by the smallest among it and the numbers before it", "compute the running minimum",
              "give the smallest number so far at each position",
              slow="[min({x}[:i + 1]) for i in range(len({x}))]"),
    operation("running-kinds", "state", _SAME, _RUNNING_KINDS,
              "replace each number by how many different ones there are among it and the numbers before it",
              "count the different numbers seen so far at each position",
              "give for each position how many distinct values stand there and before", inputs="few",
              slow="[len(set({x}[:i + 1])) for i in range(len({x}))]"),
    operation("running-count", "state", _SAME, _RUNNING_COUNT,
              "replace each number by how many multiples of {k} there are among it and the numbers before it",
              "count the multiples of {k} seen so far at each position",
              "give for each position how many of the numbers there and before {k} divides", k=range(2, 7),
              slow="[sum(n % {k} == 0 for n in {x}[:i + 1]) for i in range(len({x}))]"),
    operation("records", "state", _SAME, _RECORDS, "keep only the numbers that are larger than all before them",
              "keep a number only if it is larger than every earlier one",
              "select the numbers that set a new record high, the first number included",
              slow="[n for i, n in enumerate({x}) if i == 0 or n > max({x}[:i])]"),
    operation("bounded-sum", "state", _SAME, _BOUNDED_SUM,
              "list the running total after each number, which is set to 0 first whenever it exceeds {k}",
              "add up the numbers one by one, set the total to 0 when it is above {k}, and list it after each number",
              "list the running totals, where a total above {k} becomes 0 and counting goes on from there",
              k=range(10, 31)),
    operation("cancel-pairs", "state", _SAME, _CANCEL,
              "cancel equal neighbors in pairs until none are left",
              "go through the numbers with a stack: pop if the top is equal to the number, else push it",
              "remove adjacent equal pairs repeatedly", inputs="pairs"),
    operation("differences", "state", _SAME, "[b - a for a, b in zip({x}, {x}[1:])]",
              "subtract from each number but the first the one before it",
              "list each number but the first, minus its predecessor",
              "replace the list by the steps from each number to the next (next minus this)"),
    operation("window-sum", "state", _SAME, "[sum({x}[i:i + {k}]) for i in range(len({x}) - {k} + 1)]",
              "compute the sum of each {k} consecutive numbers, overlapping ones too",
              "list the sums of all overlapping windows of length {k}",
              "slide a window of {k} numbers over the list, one number at a time, and add up each", k=range(2, 5)),
    operation("window-max", "state", _SAME, "[max({x}[i:i + {k}]) for i in range(len({x}) - {k} + 1)]",
              "compute the maximum of each {k} consecutive numbers, overlapping ones too",
              "list the largest number of each of the overlapping windows of length {k}",
              "slide a window of {k} numbers over the list, one number at a time, and take the largest of each",
              k=range(2, 5)),
    operation("chunk-sums", "state", _SAME, "[sum({x}[i:i + {k}]) for i in range(0, len({x}), {k})]",
              "cut the list into groups of {k}, the last may be shorter, and sum each group",
              "add up the numbers in successive blocks of {k}, the last may be shorter",
              "sum the first {k} numbers, the next {k}, and so on, at last what is left", k=range(2, 5)),
    operation("sum", "fold", _ONE, "sum({x})", "compute the sum of the numbers", "add up all numbers",
              "total the numbers"),
    operation("largest", "fold", _ONE, "max({x})", "find the largest number", "take the maximum",
              "pick the greatest of the numbers", edge=("{d} if there is none", "max({x}, default={d})"), d=_DEFAULTS),
    operation("smallest", "fold", _ONE, "min({x})", "find the smallest number", "take the minimum",
              "pick the least of the numbers", edge=("{d} if there is none", "min({x}, default={d})"), d=_DEFAULTS),
    operation("span", "fold", _ONE, "max({x}) - min({x})", "compute the difference of the largest and smallest number",
              "compute the maximum minus the minimum", "find how far the numbers spread, from least to greatest",
              edge=("{d} if there is none", "max({x}) - min({x}) if {x} else {d}"), d=_DEFAULTS),
    operation("kinds", "fold", _ONE, "len(set({x}))", "count the different numbers", "count the distinct numbers",
              "find how many different values there are", inputs="few"),
    operation("power-sum", "fold", _ONE, "sum(n ** {k} for n in {x})", "sum the numbers raised to the power {k}",
              "add up n ** {k} over all numbers n", "total the numbers, each to the power {k}", k=(2, 3)),
    operation("weighted-sum", "fold", _ONE, "sum(i * n for i, n in enumerate({x}, {k}))",
              "sum each number times its position, counting positions from {k}",
              "multiply each number by its index (starting at {k}) and add up",
              "total number times position, the first position being {k}", k=(1, 2, 3)),
    operation("count-above", "count", _ONE, "sum(n > {k} for n in {x})", "count the numbers above {k}",
              "count how many numbers are greater than {k}", "find how many numbers exceed {k}", k=range(12),
              inputs="long"),
    operation("count-multiples", "count", _ONE, "sum(n % {k} == 0 for n in {x})", "count the multiples of {k}",
              "count how many numbers are divisible by {k}", "find how many numbers {k} divides", k=range(2, 5),
              inputs="long"),
    operation("longest-run", "fold", _ONE, _RUN_LENGTH, "find the length of the longest run of equal numbers",
              "find how many equal numbers in a row there are at most",
              "find how long the longest streak of one number is",
              inputs="pairs"),
    operation("most-common", "fold", _ONE, _MODE, "find the most common number, on ties the smallest",
              "find the number that occurs most often, the smallest of several",
              "pick the most frequent number, the least where tied",
              edge=("{d} if there is none", _MODE_OR), d=_DEFAULTS, inputs="few"),
    operation("join-numbers", "make", ("numbers", "text"), "{s}.join(str(n) for n in {x})",
              "join the numbers with {s}", "write the numbers as one text, separated by {s}",
              "make a text of the numbers with {s} between them", s=(",", "-", "+", ":", "/", " ", "|", "; ", " < ")),
    operation("digits", "make", _SPREAD, "[int(d) for d in str({x})]", "list its decimal digits",
              "split the number into its digits", "make the list of the digits of the number", inputs="large"),
    operation("multiples-of", "make", _SPREAD, "[{x} * i for i in range(1, {k} + 1)]",
              "list its first {k} multiples, itself first", "list the number times each of 1 to {k}",
              "make the list of the number multiplied by 1 to {k}", k=range(3, 9)),
    operation("countdown", "make", _SPREAD, "list(range({x}, 0, -{k}))",
              "count down from it in steps of {k} and list the numbers above 0",
              "list the number, then what is left each time {k} is subtracted, while above 0",
              "make the list that falls by {k} from the number and stays positive", k=range(3, 10)),
    operation("divisors", "make", _SPREAD, "[d for d in range(1, {x} + 1) if {x} % d == 0]",
              "list its divisors from smallest to largest", "list all positive divisors of the number, ascending",
              "make the increasing list of the positive numbers that divide it"),
    operation("base-digits", "make", _SPREAD, _BASE_DIGITS, "list its digits in base {k}, last digit first",
              "write the number in base {k} as a list of digits, least significant first",
              "make the list of base {k} digits, ones first", k=range(2, 10), inputs="large"),
    operation("digit-sum", "fold", ("number", "number"), "sum(int(d) for d in str(abs({x})))",
              "compute the sum of its decimal digits, whatever its sign",
              "add up the digits of the number without its sign", "total its digits, ignoring a minus",
              inputs="large"),
    operation("modulo", "fold", ("number", "number"), "{x} % {k}", "take it modulo {k} (with Python's %)",
              "compute its remainder, 0 or more, when it is divided by {k}", "find it % {k}",
              k=range(11, 40), inputs="large"),
    operation("zero-fill", "make", ("number", "text"), "str({x}).zfill({k})",
              "write it as text with leading zeros to a width of {k}, as zfill does",
              "turn the number into text, filled with zeros to {k} characters by zfill",
              "pad the number like zfill({k})", k=range(5, 10)),
)  # fmt: skip

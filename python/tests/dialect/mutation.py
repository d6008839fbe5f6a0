# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small changes to modules in generic form.

A mutation replaces the type of one operand or result of one op, or the value
of one constant operand. Casts of the builtin dialect, which take anything,
connect the changed op with the rest, so that only the op itself can be wrong.
"""

import re

# fmt: off
ELEMENTS = [
    "f32", "f16", "bf16", "f64", "f8E4M3FN", "f8E5M2", "f4E2M1FN", "f8E8M0FNU",
    "complex<f32>", "i1", "si8", "ui8", "si16", "ui16", "si32", "ui32", "si64",
    "ui64", "si4", "ui4", "ui1", "ui2", "ui6", "i32", "index",
]
# fmt: on
NUMBERS = (-7, -3, -2, -1, 0, 1, 2, 3, 4, 9)

CAST = '"builtin.unrealized_conversion_cast"'
CONSTANT = re.compile(
    r'(%\w+) = "coreai\.constant"\(\) <\{value = dense<(.*)> : '
    r"(tensor<[^<>]*>)\}> : \(\) -> .*"
)
TENSOR = re.compile(r"tensor<((?:[0-9?]+x)*)([a-z][^,]*?)(, .*)?>$")


def split_types(text):
    """The comma-separated types of a list, brackets nested."""
    types, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += letter in "<({["
        # The arrow of a function type closes nothing.
        depth -= letter in ">)}]" and text[index - 1 : index + 1] != "->"
        if letter == "," and depth == 0:
            types.append(text[start:index].strip())
            start = index + 1
    return [*types, text[start:].strip()] if text.strip() else []


class Op:
    """One op of a module: lines from its first to that with its types."""

    PATTERN = re.compile(r'( *)(?:(%\w+)(?::(\d+))? = )?"([\w.]+)"\((.*?)\)(.*)')
    SIGNATURE = re.compile(r"^(.*) : \((.*)\) -> (.*)$")

    def __init__(self, lines, first):
        self.first = first
        match = self.PATTERN.match(lines[first])
        self.indent, self.result, self.count, self.name, operands, rest = match.groups()
        self.operands = split_types(operands)
        self.last = first
        if rest.endswith("({"):
            end = f"{self.indent}}})"
            while not (lines[self.last].startswith(end) and " -> " in lines[self.last]):
                self.last += 1
            self.body = [rest, *lines[first + 1 : self.last]]
            rest = lines[self.last]
        else:
            self.body = []
        self.middle, inputs, outputs = self.SIGNATURE.match(rest).groups()
        self.inputs = split_types(inputs)
        # A function type as the only result is in parentheses as well.
        if outputs.startswith("("):
            outputs = outputs[1:-1]
        self.outputs = split_types(outputs)

    def render(self):
        results = f"{self.result}:{self.count}" if self.count else self.result
        head = f"{self.indent}{f'{results} = ' if self.result else ''}"
        head += f'"{self.name}"({", ".join(self.operands)})'
        tail = (
            f"{self.middle} : ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)})"
        )
        if not self.body:
            return [head + tail]
        return [head + self.body[0], *self.body[1:], tail]


def find_op(lines, name):
    """The last op of the name, which is the one an example is about."""
    for index in reversed(range(len(lines))):
        match = Op.PATTERN.match(lines[index])
        if match and match.group(4) == name:
            return Op(lines, index)
    return None


def mutate_type(type_, random):
    """Another element type, extent or rank."""
    match = TENSOR.match(type_)
    if not match:
        return random.choice(["tensor<2xf32>", "i32", "!coreai.token"])
    extents = match.group(1).split("x")[:-1]
    element, encoding = match.group(2), match.group(3) or ""
    kind = random.choice(["element", "extent", "extent", "unknown", "rank"])
    if kind == "element":
        element = random.choice(ELEMENTS)
    elif kind == "rank":
        place = random.randrange(len(extents) + 1)
        if extents and random.random() < 0.5:
            del extents[min(place, len(extents) - 1)]
        else:
            extents.insert(place, str(random.choice([1, 2, 3])))
    elif extents:
        place = random.randrange(len(extents))
        old = int(extents[place]) if extents[place] != "?" else 2
        new = random.choice([0, 1, old + 1, max(old - 1, 0), 2 * old])
        extents[place] = "?" if kind == "unknown" else str(new)
    return f"tensor<{''.join(e + 'x' for e in extents)}{element}{encoding}>"


def mutate_constant(value, type_, random):
    """Another number, width or storage of an integer constant."""
    match = TENSOR.match(type_)
    extents, element = match.group(1), match.group(2)
    kind = random.choice(["number", "number", "number", "width", "resource"])
    if kind == "resource":
        return f"dense_resource<blob> : {type_}"
    if kind == "width" and element in ("si32", "ui32"):
        return f"dense<{value}> : tensor<{extents}{element[:2]}16>"
    numbers = re.findall(r"-?\d+", value)
    if len(numbers) == 1 and extents.count("x") == 1:
        # A splat: write all its elements out.
        numbers *= max(int(extents[:-1]), 1)
    if not numbers or "." in value or extents.count("x") > 1:
        return None
    choices = [n for n in NUMBERS if n >= 0 or not element.startswith("ui")]
    numbers[random.randrange(len(numbers))] = str(random.choice(choices))
    if not extents:
        return f"dense<{numbers[0]}> : {type_}"
    return f"dense<[{', '.join(numbers)}]> : tensor<{len(numbers)}x{element}>"


def find_constants(lines):
    """Value and type of each inline constant, by name."""
    matches = (CONSTANT.match(line.strip()) for line in lines)
    return {match.group(1): match.groups()[1:] for match in matches if match}


def replace_operand(op, place, fresh, constants, random):
    """Changes one operand; returns the line that defines the new one."""
    old = op.operands[place]
    if old in constants and random.random() < 0.75:
        value = mutate_constant(*constants[old], random)
        if value is None:
            return []
        op.inputs[place] = value.rsplit(" : ", 1)[1]
        right = f'"coreai.constant"() <{{value = {value}}}>'
    else:
        op.inputs[place] = mutate_type(op.inputs[place], random)
        right = f"{CAST}()"
    op.operands[place] = fresh
    return [f"{fresh} = {right} : () -> {op.inputs[place]}"]


def restore_results(op, types):
    """Renames the results; returns the line that restores name and types."""
    results, op.result = op.result, "%renamed"
    values = op.result
    if op.count:
        results += f":{op.count}"
        names = (f"{op.result}#{i}" for i in range(len(types)))
        values = ", ".join(names)
    inputs, outputs = ", ".join(op.outputs), ", ".join(types)
    return [f"{results} = {CAST}({values}) : ({inputs}) -> ({outputs})"]


def mutate(source, name, random):
    """The module with one or two changes to the op `name`, or None."""
    lines = source.splitlines()
    op = find_op(lines, name)
    if op is None or not (op.inputs or op.outputs):
        return None
    constants = find_constants(lines)
    before, after = [], []
    for step in range(random.choice([1, 1, 2])):
        place = random.randrange(len(op.inputs) + len(op.outputs))
        if place < len(op.inputs):
            fresh = f"%changed{step}"
            before += replace_operand(op, place, fresh, constants, random)
        elif not after:
            index = place - len(op.inputs)
            types = list(op.outputs)
            op.outputs[index] = mutate_type(types[index], random)
            after = restore_results(op, types)
    return "\n".join(
        lines[: op.first] + before + op.render() + after + lines[op.last + 1 :]
    )

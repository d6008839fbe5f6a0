# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Our dialects against the ones that coreai-core registers.

Every example in test/Dialect/CoreAI/examples holds one module twice, in custom
and in generic form, as coreai-core prints it. Whatever goes in, in text or in
bytecode, both sides must print the same characters, and coreai-core must
verify what we write.

Every example is also tried with a discardable attribute on each op, because
the forms differ in where they put the dictionary.
"""

import difflib
import io
import os
import pathlib
import subprocess

import pytest

pytest.importorskip("coreai.authoring")
from coreai._compiler import ir, passmanager
from coreai.authoring import Context

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "test/Dialect/CoreAI/examples"
CORTEN_OPT = pathlib.Path(
    os.environ.get("CORTEN_OPT", ROOT / "build/dev/bin/corten-opt")
)
SEPARATOR = "\n// -----\n"
GENERIC = "--mlir-print-op-generic"
DIALECTS = ("coreai", "coreaix", "debuginfo", "udml")

NAMES = sorted(path.stem for path in EXAMPLES.glob("*.mlir"))
CASES = NAMES + [f"{name}, annotated" for name in NAMES]


def corten_opt(arguments, source):
    """Exit status, output and errors of one run, as bytes."""
    command = [CORTEN_OPT, *arguments]
    run = subprocess.run(command, input=source, capture_output=True, check=False)
    return run.returncode, run.stdout, run.stderr


def translate(sources, arguments):
    """Prints each module by way of one run of corten-opt.

    Returns one text per source. Only when something fails is every source run
    by itself, so that the errors end up with the modules they belong to.
    """
    text = SEPARATOR.join(sources).encode()
    status, output, _ = corten_opt(["--split-input-file", *arguments], text)
    parts = output.decode().split("// -----\n")
    if status == 0 and len(parts) == len(sources):
        return parts
    parts = []
    for source in sources:
        status, output, errors = corten_opt(arguments, source.encode())
        parts.append((output if status == 0 else errors).decode())
    return parts


def custom_form(operation):
    return operation.get_asm()


def generic_form(operation):
    return operation.get_asm(print_generic_op_form=True)


def assert_same(ours, theirs):
    ours, theirs = ours.strip().splitlines(), theirs.strip().splitlines()
    if ours != theirs:
        difference = difflib.unified_diff(
            theirs, ours, "coreai-core", "corten-opt", lineterm=""
        )
        pytest.fail("\n".join(difference), pytrace=False)


def annotate(operation):
    """Puts a discardable attribute on every op of ours."""

    def visit(op):
        if op.name.split(".")[0] in DIALECTS:
            op.attributes["test.note"] = ir.StringAttr.get("x")
        return ir.WalkResult.ADVANCE

    operation.walk(visit)


def read(source):
    """Reads text or bytecode into a context of its own.

    Blobs of equal names in one context would get numbers to tell them apart.
    """
    return ir.Module.parse(source, Context()._mlir_context)


@pytest.fixture(scope="module")
def context():
    return Context()._mlir_context


@pytest.fixture(scope="module")
def modules(context):
    """The examples as coreai-core reads them, by case."""
    result = {}
    for name in NAMES:
        text = (EXAMPLES / f"{name}.mlir").read_text()
        custom, generic = text.split(SEPARATOR)
        module = ir.Module.parse(generic, context)
        assert_same(custom, custom_form(module.operation))
        assert_same(generic, generic_form(module.operation))
        result[name] = module
    for name in NAMES:
        with context:
            module = ir.Module.parse(generic_form(result[name].operation))
            annotate(module.operation)
        result[f"{name}, annotated"] = module
    return result


@pytest.fixture(scope="module")
def printed(modules):
    """What corten-opt prints, by (form read, form printed) and case."""
    forms = {"custom": custom_form, "generic": generic_form}
    result = {}
    for read, form in forms.items():
        sources = [form(modules[case].operation) for case in CASES]
        for written, flags in (("custom", []), ("generic", [GENERIC])):
            parts = translate(sources, flags)
            result[read, written] = dict(zip(CASES, parts, strict=True))
    return result


@pytest.mark.parametrize("case", CASES)
def test_generic_form_is_read_and_printed_alike(modules, printed, case):
    operation = modules[case].operation
    assert_same(printed["generic", "generic"][case], generic_form(operation))
    assert_same(printed["generic", "custom"][case], custom_form(operation))


def without_empty_dictionaries(text):
    """Custom form does not show them, so reading it cannot bring them back."""
    for name in ("arg_attrs", "res_attrs"):
        text = text.replace(f"{name} = [], ", "")
    return text


@pytest.mark.parametrize("case", CASES)
def test_custom_form_is_read_alike(modules, printed, case):
    operation = modules[case].operation
    expected = without_empty_dictionaries(generic_form(operation))
    assert_same(printed["custom", "generic"][case], expected)
    assert_same(printed["custom", "custom"][case], custom_form(operation))


@pytest.mark.parametrize("case", CASES)
def test_coreai_core_verifies_what_we_print(printed, case):
    ours = printed["generic", "generic"][case]
    operation = read(ours).operation
    assert operation.verify()
    assert_same(ours, generic_form(operation))
    assert_same(printed["generic", "custom"][case], custom_form(operation))


@pytest.fixture(scope="module")
def combined(context, modules):
    """All cases as modules within one, so that bytecode needs one file."""
    with context, ir.Location.unknown():
        outer = ir.Module.create()
        with ir.InsertionPoint(outer.body):
            for case in CASES:
                modules[case].operation.clone()
    return outer


# Reading bytecode declares the blobs of `#coreai.typed_resource` under new
# names, on either side. Hence both are compared after reading.


@pytest.fixture(scope="module")
def official_bytecode(combined):
    file = io.BytesIO()
    combined.operation.write_bytecode(file)
    return file.getvalue()


def test_our_bytecode_is_read_by_coreai_core(combined, official_bytecode):
    text = generic_form(combined.operation).encode()
    status, bytecode, errors = corten_opt(["--emit-bytecode"], text)
    assert status == 0, errors.decode()
    module = read(bytecode)
    assert module.operation.verify()
    expected = read(official_bytecode)
    assert_same(generic_form(module.operation), generic_form(expected.operation))


def test_bytecode_of_coreai_core_is_read_by_us(official_bytecode):
    status, text, errors = corten_opt([GENERIC], official_bytecode)
    assert status == 0, errors.decode()
    expected = read(official_bytecode)
    assert_same(text.decode(), generic_form(expected.operation))


@pytest.mark.parametrize(
    ("name", "passes"),
    [("ops-effects", "canonicalize"), ("ops-symbols", "symbol-dce")],
)
def test_passes_see_the_same_traits(context, name, passes):
    """What may be removed or exchanged, and who is visible to whom."""
    source = (ROOT / f"test/Dialect/CoreAI/{name}.mlir").read_text()
    with context:
        module = ir.Module.parse(source)
        pipeline = f"builtin.module({passes})"
        passmanager.PassManager.parse(pipeline).run(module.operation)
    status, text, errors = corten_opt([f"--{passes}"], source.encode())
    assert status == 0, errors.decode()
    assert_same(text.decode(), custom_form(module.operation))

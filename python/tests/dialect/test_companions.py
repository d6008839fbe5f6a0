# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Spelling of attributes, types and locations against coreai-core.

Bytecode stores them as text, so whatever one side prints the other side must
read, and print again with the same characters.
"""

import io
import os
import pathlib
import subprocess

import pytest

pytest.importorskip("coreai.authoring")
from coreai._compiler import ir
from coreai.authoring import Context

ROOT = pathlib.Path(__file__).resolve().parents[3]
CONVERTED = ROOT / "test/Dialect/DebugInfo/Inputs/converted.mlir"
CORTEN_OPT = pathlib.Path(
    os.environ.get("CORTEN_OPT", ROOT / "build/dev/bin/corten-opt")
)

FILE = '<filename = "a.py", directory = "src", sha256Sum = "00">'
UNIT = (
    f'#debuginfo.compile_unit<sourceLanguage = "mlir", file = {FILE}, '
    'producer = "torch", optimized = false, flags = "">'
)
SUBPROGRAM = (
    f"#debuginfo.subprogram<compileUnit = {UNIT}, file = {FILE}, "
    'name = "main", linkageName = ""> : (f32) -> f32'
)

ACCEPTED = [
    # coreai types
    "!coreai.handle<tensor<2xf32>>",
    "!coreai.token",
    "!coreai.image<<k24RGB> x 4 x 6>",
    '!coreai.image<<"abcd"> x 4 : si32 x 6 : ui8>',
    "!coreai.image<<k24RGB> x #param.ref<H> : i64 x 6>",
    "!coreai.image<<k24RGB> x 4 x 6, image_constraints = "
    "#coreaix.image_constraints<CVPixelBuffer, rowAlignmentsPerPlane: [1]>>",
    "!coreai.async.value<tensor<2xf32>>",
    "!coreai.opaque",
    "!coreai.symbol_ref<@a::@b>",
    "!coreai.symbol_ref<@a<f32, 5>>",
    "!coreai.symbol_ref<#param.ref<T> : !param.symbol>",
    # coreai attributes
    *(f"#coreai.approximate<{word}>" for word in ("none", "tanh", "sigmoid")),
    *(
        f"#coreai.padding_mode<{word}>"
        for word in ["circular", "constant", "reflect", "replicate", "symmetric"]
    ),
    "#coreai.interpolation_mode<linear>",
    "#coreai.interpolation_mode<nearest_neighbor>",
    *(
        f"#coreai.scatter_mode<{word}>"
        for word in ["update", "add", "sub", "mul", "div", "max", "min"]
    ),
    "#coreai.sampling_mode<half_pixel>",
    "#coreai.sampling_mode<align_corners>",
    *(f"#coreai.compilation<{word}>" for word in ("full", "partial", "finalized")),
    '#coreai.target_spec<soc = "b", triple = "a", delegateOptions = {c = 1}>',
    '#coreai.composite_declaration<"name">',
    '#coreai.composite_declaration<"name" = {}>',
    '#coreai.composite_declaration<"a\\22b" = {a = 1 : si64, b = 1.0 : f32}>',
    *(
        f"#coreai.fourcc<{code}>"
        for code in (
            "kUnknown",
            "k24RGB",
            "k32ARGB",
            "k32BGRA",
            "k420YpCbCr8Planar",
            '"abcd"',
            '"BGRA"',
            '"ab\\01d"',
            "24",
            "5",
            "-5",
            "0x41",
        )
    ),
    "#coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 1>",
    "#coreai.sparse_tensor_encoding<coo, numNonZero = 5, posWidth = 64, crdWidth = 8>",
    "#coreai.sparse_tensor_encoding<bsr, posWidth = 8, crdWidth = 32, "
    "blockSize = [2, 4]>",
    "tensor<4xf32, #coreai.sparse_tensor_encoding<bitmask, numNonZero = 9, "
    "posWidth = 1, crdWidth = 1>>",
    "#coreai.typed_resource<key> : tensor<4xf32>",
    "#coreai.typed_resource<key>",
    '#coreai.file_resource<"file", 5> : tensor<4xf32>',
    "#coreai<tensor_encoding(1,-2, 0)>",
    '#coreai<extern("a")>',
    '#coreai<odie_location_frame_attr(method = "a", codeSnippet = "x", '
    "frontendAttribute = 1)>",
    '#coreai<torch_location_extras("a", "b")>',
    # param
    "!param.symbol",
    "!param.type",
    "!param.param_ref<#param.ref<T> : !param.type>",
    "!param.param_ref<#param.constant<f32> : !param.type>",
    "#param.decl<T: !param.type>",
    '#param.decl<"a b": i32 = 5>',
    "#param.decl.array<[]>",
    "#param.decl.array<[<T: !param.type>, #param.decl<n: i32 = 5>]>",
    "#param.constant<@sym>",
    "#param.constant<@a::@b> : !param.symbol",
    "#param.constant<f32> : !param.type",
    "#param.constant<5> : i64",
    "#param.ref<T> : !param.type",
    '#param.ref<"a b"> : i32',
    "#param.bind<@sym, [f32, 5, @foo]> : !param.symbol",
    "#param.bind<@sym, []> : !param.symbol",
    "#param.bind<@sym, [#param.constant<f32> : !param.type]> : !param.symbol",
    # coreaix
    *(
        f"#coreaix.hw_constraints<{word}, alignments: [1x64], interleave: [4]>"
        for word in ("MTLBuffer", "IOSurface", "Heap")
    ),
    "#coreaix.hw_constraints<Heap, alignments: [], interleave: []>",
    "#coreaix.hw_constraints<Heap, alignments: [ ? x 4 ], interleave: [?]>",
    "tensor<4x6xf32, #coreaix.hw_constraints<Heap, alignments: [1x8x1], "
    "interleave: [2x1]>>",
    "tensor<?x6xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], "
    "interleave: [1x2]>>",
    "!coreaix.hw_constraints",
    "#coreaix.image_constraints<CVPixelBuffer, rowAlignmentsPerPlane: []>",
    "#coreaix.image_constraints<MTLTexture, rowAlignmentsPerPlane: [1x2]>",
    # udml
    *(
        f"#udml.intent<{word}>"
        for word in ("out", "inout", "return", "in", "param", "metadata")
    ),
    *(
        f"#udml.lifecycle<{words}>"
        for words in (
            "stateless",
            "init",
            "encode",
            "encode, init",
            "stateless,init",
            "init, prepare, reshape",
        )
    ),
    '#udml.kernel_ref<"a">',
    "#udml.typed_symbol_ref<@a::@b : tensor<2xf32>>",
    "!udml.array<4 : index, #param.constant<f32> : !param.type>",
    "!udml.array<#param.ref<n> : index, #param.ref<T> : !param.type>",
    "!udml.ptr",
    "!udml.ptr<#param.constant<f32> : !param.type>",
    # debuginfo
    f"#debuginfo.file{FILE}",
    UNIT,
    UNIT[:-1] + f", allFiles = {FILE}, {FILE}>",
    SUBPROGRAM,
    f"#debuginfo.subprogram<compileUnit = @cu, file = {FILE}, name = "
    '"main", linkageName = "", flags = "Optimized|Definition"> : i32',
    f"#debuginfo.subprogram<compileUnit = unit, file = {FILE}, name = "
    '"main", linkageName = "", flags = Pure>',
    '#debuginfo.local_variable<name = "x", line = loc("a":1:2), '
    "scope = @main, alignInBits = 8> : !debuginfo.unresolved<f32>",
    '#debuginfo.local_variable<name = "x", line = loc("a":1:2), '
    'scope = @main, alignInBits = 8, flags = "Vector|Public"> : f32',
    "#debuginfo.bounds<>",
    "#debuginfo.bounds<stride = 3, count = 0, lower = -1, upper = 2>",
    *(
        f'#debuginfo.metadata<"k": {value}>'
        for value in (
            "unit",
            '"x"',
            "5",
            "5 : ui64",
            "true",
            '[1, "a", f32]',
            "{b = 1}",
            'loc("a":1:2)',
            "dense_resource<a> : tensor<2xi32>",
        )
    ),
    '#debuginfo.metadata.location<<"k": 5>, #debuginfo.metadata<"l": 6>>',
    "!debuginfo.unresolved<f32>",
    '!debuginfo.basic<name = "a", sizeInBits = 4>',
    '!debuginfo.basic<sizeInBits = 4, name = "a", dwEncoding = DW_ATE_float, '
    "dwTag = DW_TAG_base_type>",
    '!debuginfo.derived<dwTag = DW_TAG_pointer_type, name = "a", baseType = '
    "!debuginfo.unresolved<f32>, sizeInBits = 64, alignInBits = 64, "
    "offsetInBits = 0>",
    '!debuginfo.composite<dwTag = DW_TAG_array_type, name = "a", '
    'line = loc("a":1:2), scope = @a, flags = Public, sizeInBits = 64, '
    "alignInBits = 4, baseType = !debuginfo.unresolved<f32>, "
    "elements = #debuginfo.bounds<count = 4>, 5>",
    '#debuginfo.location<loc("a":1:2) in @main::@b>',
    '#debuginfo.location<loc("a":1:2 to 3:4) in unit>',
    f'#debuginfo.location<loc("src/a.py":0:0) in {UNIT}>',
    f'#debuginfo.location<loc("src/a.py":1:2) in {SUBPROGRAM}>',
    '#debuginfo.location<loc("a":1:2) in @main fused with '
    '[#debuginfo.location<loc("b":3:4) in @main>, <loc("c":5:6) in unit>] '
    'metadata = [#debuginfo.metadata<"k": 5>, <"l": unit>]>',
]

# What coreai-core prints for these it does not read again, or reads as
# something else: the type of the inner value is not part of the text.
WRITTEN_ONLY = [
    "#param.constant<5 : si32>",
    "#param.constant<1.0 : f32>",
    "#param.constant<dense<1> : tensor<2xi32>>",
    "#param.bind<#param.ref<T> : !param.symbol, [f32]> : !param.symbol",
    "!coreai.symbol_ref<#param.bind<#param.ref<T> : !param.symbol, [f32]> : "
    "!param.symbol>",
]

REFUSED = [
    "!coreai.handle",
    '!coreai.image<<k24RGB> x "a" x 6>',
    "!coreai.image<<k24RGB> x 0 x 6>",
    "!coreai.image<<k24RGB> x 4 x 6 : index>",
    "!coreai.image<<k24RGB> x 255 : ui8 x 6>",
    "!coreai.symbol_ref<5>",
    "#coreai.approximate<erf>",
    '#coreai.target_spec<triple = "a", soc = "b">',
    '#coreai.composite_declaration<"name" = 5>',
    '#coreai.fourcc<"abc">',
    "#coreai.fourcc<k24BGR>",
    "#coreai.fourcc<5000000000>",
    "#coreai.sparse_tensor_encoding<coo, posWidth = 5, crdWidth = 32>",
    "#coreai.sparse_tensor_encoding<bitmask, posWidth = 1, crdWidth = 2>",
    "#coreai.sparse_tensor_encoding<bsr, posWidth = 8, crdWidth = 32>",
    "#coreai.sparse_tensor_encoding<coo, posWidth = 8, crdWidth = 32, "
    "blockSize = [2, 2]>",
    '#coreai.file_resource<"file", 5>',
    "!param.param_ref<#param.ref<T> : i32>",
    "#param.decl<n: i32 = 5 : i64>",
    "#param.constant<[1]>",
    "#param.bind<@sym, [f32]>",
    "tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1], "
    "interleave: [1x1]>>",
    "tensor<2x3xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], "
    "interleave: [1x2]>>",
    "tensor<2x4xf32, #coreaix.hw_constraints<Heap, alignments: [1x1x1], "
    "interleave: [2x2]>>",
    "#udml.lifecycle<init|encode>",
    "#udml.lifecycle<reshape,encode>",
    "!udml.array<4, #param.constant<f32> : !param.type>",
    "#debuginfo.location<loc(unknown) in @main>",
    '#debuginfo.location<loc("a":1:2) in "x">',
    f'#debuginfo.location<loc("a.py":1:2) in {UNIT}>',
    '#debuginfo.metadata<"k": 1.0>',
    '!debuginfo.basic<dwTag = base_type, name = "a", sizeInBits = 4>',
    '!debuginfo.derived<name = "a", baseType = f32, sizeInBits = 64, '
    "alignInBits = 64, offsetInBits = 0>",
]


def corten_opt(source, *arguments):
    run = subprocess.run([CORTEN_OPT, *arguments], input=source, capture_output=True)
    return run.returncode, run.stdout, run.stderr.decode()


def wrap(spelling):
    """A module that carries the attribute and means nothing else."""
    return f"module attributes {{test.a = {spelling}}} {{\n}}\n"


@pytest.fixture(scope="module")
def context():
    return Context()._mlir_context


def theirs(context, text):
    # A key that was seen before would get a suffix.
    if "resource<" in text:
        context = Context()._mlir_context
    return ir.Module.parse(text, context).operation.get_asm(use_local_scope=True)


def ours(source):
    status, output, errors = corten_opt(source, "--mlir-print-local-scope")
    assert status == 0, errors
    return output.decode()


@pytest.mark.parametrize("spelling", ACCEPTED + WRITTEN_ONLY)
def test_both_sides_print_the_same(context, spelling):
    printed = ours(wrap(spelling).encode())
    assert printed.strip() == theirs(context, wrap(spelling)).strip()
    assert ours(printed.encode()) == printed


@pytest.mark.parametrize("spelling", ACCEPTED)
def test_coreai_core_reads_what_we_print(context, spelling):
    printed = ours(wrap(spelling).encode())
    assert theirs(context, printed).strip() == printed.strip()


@pytest.mark.parametrize("spelling", WRITTEN_ONLY)
def test_coreai_core_does_not_read_what_it_prints(context, spelling):
    printed = theirs(context, wrap(spelling))
    try:
        again = theirs(context, printed)
    except Exception as error:
        again = str(error)
        if "Unable to parse" not in again:
            raise
    assert again != printed


@pytest.mark.parametrize("spelling", REFUSED)
def test_both_sides_refuse(context, spelling):
    with pytest.raises(Exception, match="Unable to parse"):
        theirs(context, wrap(spelling))
    status, _, errors = corten_opt(wrap(spelling).encode())
    assert status == 1
    assert "error: " in errors


def test_bytecode_carries_every_attribute(context):
    """All attributes in one file, in both directions."""
    # Bytecode does not tie a key within text to its blob.
    spellings = [text for text in ACCEPTED if "resource<" not in text]
    attributes = ", ".join(
        f"test.a{index} = {text}" for index, text in enumerate(spellings)
    )
    source = f"module attributes {{{attributes}}} {{\n}}\n"
    expected = ours(source.encode())
    status, bytecode, errors = corten_opt(source.encode(), "--emit-bytecode")
    assert status == 0, errors
    assert ours(bytecode) == expected

    module = ir.Module.parse(source, context)
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    assert ours(file.getvalue()) == expected


def debug_text(module):
    return module.operation.get_asm(enable_debug_info=True)


def test_locations_of_a_converted_program(context):
    source = CONVERTED.read_text()
    module = ir.Module.parse(source, context)
    assert debug_text(module).strip() == source.strip()

    flag = "--mlir-print-debuginfo"
    status, output, errors = corten_opt(source.encode(), flag)
    assert status == 0, errors
    assert output.decode() == source

    # Their bytecode to us, ours to them.
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    status, output, errors = corten_opt(file.getvalue(), flag)
    assert status == 0, errors
    assert output.decode() == source

    status, bytecode, errors = corten_opt(source.encode(), "--emit-bytecode")
    assert status == 0, errors
    returned = ir.Module.parse(bytecode, context)
    assert returned.operation.verify()
    assert debug_text(returned).strip() == source.strip()

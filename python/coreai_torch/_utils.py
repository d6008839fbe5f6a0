# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Helpers for lowerings that users register.

They run inside a lowering: the insertion point and the location are those of
the call, and values are made with the builders of ``coreai-core``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from coreai._compiler import ir
from coreai._compiler.dialects import coreai

from coreai_torch import _compat, _composite_declaration

generate_composite_decl = _composite_declaration.generate_composite_decl
print_graph = _compat.print_graph
_get_module_hierarchy = _compat.get_module_hierarchy
_ModuleInstanceRegistry = _compat.ModuleInstanceRegistry

_Values = Mapping[str, ir.Value]


def _integer(bits: int, signed: bool) -> Callable[[], ir.Type]:
    make = ir.IntegerType.get_signed if signed else ir.IntegerType.get_unsigned
    return lambda: make(bits)


#: Element types of torch's types. The 64-bit ones are narrowed.
_ELEMENT_TYPES: dict[torch.dtype, Callable[[], ir.Type]] = {
    torch.bool: lambda: ir.IntegerType.get_signless(1),
    torch.int8: _integer(8, signed=True),
    torch.uint8: _integer(8, signed=False),
    torch.int16: _integer(16, signed=True),
    torch.uint16: _integer(16, signed=False),
    torch.int32: _integer(32, signed=True),
    torch.uint32: _integer(32, signed=False),
    torch.int64: _integer(32, signed=True),
    torch.float16: lambda: ir.F16Type.get(),
    torch.bfloat16: lambda: ir.BF16Type.get(),
    torch.float32: lambda: ir.F32Type.get(),
    torch.float64: lambda: ir.F32Type.get(),
    torch.complex32: lambda: ir.ComplexType.get(ir.F16Type.get()),
    torch.complex64: lambda: ir.ComplexType.get(ir.F32Type.get()),
    torch.complex128: lambda: ir.ComplexType.get(ir.F32Type.get()),
    torch.float8_e4m3fn: lambda: ir.Float8E4M3FNType.get(),
    torch.float8_e5m2: lambda: ir.Float8E5M2Type.get(),
    torch.float8_e8m0fnu: lambda: ir.Float8E8M0FNUType.get(),
    torch.float4_e2m1fn_x2: lambda: ir.Float4E2M1FNType.get(),
}
for _bits in (1, 2, 3, 4, 6):
    _ELEMENT_TYPES[getattr(torch, f"uint{_bits}")] = _integer(_bits, signed=False)
for _bits in (2, 4):
    _ELEMENT_TYPES[getattr(torch, f"int{_bits}")] = _integer(_bits, signed=True)

#: Printed element types that a result may have beside the one it maps to.
_ALSO_ACCEPTED: dict[torch.dtype, frozenset[str]] = {
    torch.int64: frozenset({"si64", "ui32"}),
    torch.float64: frozenset({"f64"}),
    torch.complex64: frozenset({"complex<f16>"}),
}

#: torch's types for element types as they print.
_DTYPES: dict[str, torch.dtype] = {
    "i1": torch.bool,
    "si8": torch.int8,
    "ui8": torch.uint8,
    "si16": torch.int16,
    "ui16": torch.uint16,
    "si32": torch.int32,
    "ui32": torch.uint32,
    "si64": torch.int64,
    "ui64": torch.uint64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "complex<f16>": torch.complex32,
    "complex<f32>": torch.complex64,
    "f8E4M3FN": torch.float8_e4m3fn,
    "f8E5M2": torch.float8_e5m2,
}

_INT32 = np.iinfo(np.int32)


def _element_type(dtype: torch.dtype) -> ir.Type:
    make = _ELEMENT_TYPES.get(dtype)
    if make is None:
        msg = f"Core AI has no equivalent of the dtype {dtype}"
        raise ValueError(msg)
    return make()


def _si32() -> ir.Type:
    return ir.IntegerType.get_signed(32)


def _tensor_type(value: ir.Value) -> Any:
    return ir.RankedTensorType(value.type)


# ---------------------------------------------------------------------------
# Names
# ---------------------------------------------------------------------------


def get_target(node: torch.fx.Node) -> str:
    """Return the name of what ``node`` calls, with its overload: ``add.Tensor``."""
    target: Any = node.target
    return str(target.__name__)


def get_namespace(node: torch.fx.Node) -> str | None:
    """Return the namespace of the op that ``node`` calls.

    It is ``None`` for Python operators and ``torch.sym_*`` functions.
    """
    return getattr(node.target, "namespace", None)


_VARIANTS = ("default", "Tensor", "Scalar", "dim")


def strip_variant_from_target(target: str) -> str:
    """Drop the overloads ``default``, ``Tensor``, ``Scalar`` and ``dim``."""
    name, dot, variant = target.rpartition(".")
    return name if dot and variant in _VARIANTS else target


# ---------------------------------------------------------------------------
# Types
# ---------------------------------------------------------------------------


def get_tensor_type(
    tensor: torch.Tensor,
    loc: ir.Location | None = None,
    dtype: torch.dtype | None = None,
) -> Any:
    """Return the type that values like ``tensor`` have.

    Symbolic sizes are dynamic, 64-bit element types are narrowed to 32 bits.

    Args:
        tensor: A tensor, real or fake.
        loc: Where the type is needed, for diagnostics.
        dtype: Taken instead of that of ``tensor``.
    """
    dtype = dtype or tensor.dtype
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [size if isinstance(size, int) else dynamic for size in tensor.shape]
    # Two 4-bit floats share a byte.
    if dtype is torch.float4_e2m1fn_x2 and shape and shape[-1] != dynamic:
        shape[-1] *= 2
    return ir.RankedTensorType.get(shape, _element_type(dtype), loc=loc)


def _results_of(node: torch.fx.Node) -> list[Any]:
    value = node.meta["val"]
    return list(value) if isinstance(value, tuple | list) else [value]


def get_result_types(node: torch.fx.Node) -> list[Any]:
    """Return the types that the results of ``node`` must have.

    Symbolic numbers are vectors of one element. A result that is ``None`` has
    none.
    """
    types = []
    for result in _results_of(node):
        if isinstance(result, torch.Tensor):
            types.append(get_tensor_type(result))
        elif result is not None:
            element = _number_type(result)
            types.append(ir.RankedTensorType.get([1], element))
    return types


def _number_type(number: Any) -> ir.Type:
    if isinstance(number, bool | torch.SymBool):
        return ir.IntegerType.get_signless(1)
    if isinstance(number, float | torch.SymFloat):
        return ir.F32Type.get()
    return _si32()


def get_output_element_type_from_node(
    node: torch.fx.Node, index: int | None = None
) -> ir.Type:
    """Return the element type of a result of ``node``: the only one by default."""
    value = node.meta["val"]
    if isinstance(value, tuple | list):
        if index is None:
            msg = f"{node.name} has {len(value)} results: say which one"
            raise ValueError(msg)
        value = value[index]
    return _element_type(value.dtype)


def get_promoted_type(type1: Any, type2: Any) -> ir.Type:
    """Return the element type that torch promotes two tensor types to."""
    dtypes = []
    for tensor_type in (type1, type2):
        printed = str(ir.RankedTensorType(tensor_type).element_type)
        if printed not in _DTYPES:
            msg = f"torch has no equivalent of the element type {printed}"
            raise ValueError(msg)
        dtypes.append(_DTYPES[printed])
    return _element_type(torch.promote_types(*dtypes))


def check_result_type(
    result: ir.Value, expected: object, node: torch.fx.Node, idx: int
) -> None:
    """Raise ``ValueError`` unless ``result`` is what the export recorded.

    Args:
        result: The value.
        expected: The entry of ``node.meta["val"]``. Only tensors are checked.
        node: The node, for the message.
        idx: Which result of the node it is.
    """
    if not isinstance(expected, torch.Tensor):
        return
    place = f"{node.name}[{idx}]"
    if not isinstance(result.type, ir.RankedTensorType):
        msg = f"{place}: {result.type} is not a ranked tensor"
        raise ValueError(msg)
    actual, wanted = _tensor_type(result), get_tensor_type(expected)
    if actual.rank != wanted.rank:
        msg = f"{place}: rank {actual.rank} vs {wanted.rank}"
        raise ValueError(msg)
    element = str(actual.element_type)
    if actual.element_type != wanted.element_type and element not in (
        _ALSO_ACCEPTED.get(expected.dtype, ())
    ):
        msg = f"{place}: dtype {element} vs {wanted.element_type}"
        raise ValueError(msg)
    for dim in range(actual.rank):
        if actual.is_dynamic_dim(dim) or wanted.is_dynamic_dim(dim):
            continue
        if actual.shape[dim] != wanted.shape[dim]:
            msg = f"{place}: dim[{dim}] {actual.shape[dim]} vs {wanted.shape[dim]}"
            raise ValueError(msg)


# ---------------------------------------------------------------------------
# Operands
# ---------------------------------------------------------------------------


def _argument(node: torch.fx.Node, idx: int) -> Any:
    if not 0 <= idx < len(node.args):
        msg = (
            f"argument {idx} is out of range: {node.name} has {len(node.args)} "
            "positional arguments"
        )
        raise AssertionError(msg)
    return node.args[idx]


def get_operand(
    values_map: _Values,
    node: torch.fx.Node,
    idx: int,
    loc: ir.Location | None = None,
) -> ir.Value:
    """Return positional argument ``idx`` of ``node`` as a value.

    Tensors and symbolic numbers are looked up; Python numbers, lists of numbers
    and tensors become constants: ``i1``, ``si32`` and ``f32``, or the 16-bit
    type of the call's tensors where a float keeps its precision in it. A list
    that holds symbolic sizes becomes one ``si32`` vector. For a list of tensors
    there is :func:`get_operand_list`.

    Raises:
        AssertionError: If ``idx`` is out of range.
        ValueError: If the argument has no form as one value.
        OverflowError: If an integer does not fit into 32 bits.
    """
    argument = _argument(node, idx)
    if isinstance(argument, torch.fx.Node):
        return values_map[argument.name]
    if isinstance(argument, bool):
        return coreai.constant(argument, loc=loc)
    if isinstance(argument, int):
        return _constant(np.array(_int32(argument, node), np.int32), loc)
    if isinstance(argument, float):
        return coreai.constant(argument, dtype=_float_type(node, argument), loc=loc)
    if isinstance(argument, torch.Tensor):
        return _tensor_constant(argument, node, loc)
    if isinstance(argument, list | tuple):
        if any(isinstance(entry, torch.fx.Node) for entry in argument):
            return _size_vector(values_map, argument, node, loc)
        if all(isinstance(entry, bool | int | float) for entry in argument):
            return _constant(_number_array(argument, node), loc)
    msg = f"Unsupported arg type {type(argument)} in node {node.name}: {argument}"
    raise ValueError(msg)


def get_operands(
    values_map: _Values,
    node: torch.fx.Node,
    indices: Sequence[int],
    loc: ir.Location | None = None,
) -> list[ir.Value]:
    """Return several arguments, each as :func:`get_operand` does."""
    return [get_operand(values_map, node, idx, loc) for idx in indices]


def get_operand_list(
    values_map: _Values, node: torch.fx.Node, idx: int
) -> list[ir.Value | None]:
    """Return the values of an argument that is a list of tensors.

    An entry that is ``None`` stays ``None``.

    Raises:
        AssertionError: If ``idx`` is out of range.
        ValueError: If the argument is something else.
    """
    argument = _argument(node, idx)
    if isinstance(argument, list | tuple) and all(
        entry is None or isinstance(entry, torch.fx.Node) for entry in argument
    ):
        return [None if entry is None else values_map[entry.name] for entry in argument]
    msg = (
        f"Unsupported arg type {type(argument)} in node {node.name}: "
        f"{argument} is not a list of tensors"
    )
    raise ValueError(msg)


def _constant(array: Any, loc: ir.Location | None = None) -> ir.Value:
    return coreai.constant(array, loc=loc)


def _int32(number: int, node: torch.fx.Node | None = None) -> int:
    if not _INT32.min <= number <= _INT32.max:
        where = f" in node {node.name}" if node is not None else ""
        msg = f"the number {number}{where} does not fit into 32 bits"
        raise OverflowError(msg)
    return number


def _number_array(numbers: Sequence[Any], node: torch.fx.Node) -> Any:
    if numbers and all(isinstance(number, bool) for number in numbers):
        return np.array(numbers, np.bool_)
    if any(isinstance(number, float) for number in numbers):
        return np.array(numbers, np.float32)
    return np.array([_int32(int(number), node) for number in numbers], np.int32)


#: 16-bit types and the distance from one to the next number.
_HALF_EPSILON = {torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}


def _float_type(node: torch.fx.Node, number: float) -> ir.Type:
    """A 16-bit type if all floating operands have it and ``number`` survives."""
    dtypes = {
        operand.meta["val"].dtype
        for operand in node.all_input_nodes
        if isinstance(operand.meta.get("val"), torch.Tensor)
        and operand.meta["val"].is_floating_point()
    }
    half = dtypes.pop() if len(dtypes) == 1 else None
    if half in _HALF_EPSILON:
        rounded = torch.tensor(number, dtype=torch.float64).to(half).item()
        if (
            rounded == number
            or number != number
            or abs(rounded - number) <= _HALF_EPSILON[half] * abs(number)
        ):
            return _element_type(half)
    return ir.F32Type.get()


def _tensor_constant(
    tensor: torch.Tensor, node: torch.fx.Node, loc: ir.Location | None
) -> ir.Value:
    data = tensor.detach().cpu().contiguous()
    if data.dtype is torch.int64:
        for bound in (data.min(), data.max()) if data.numel() else ():
            _int32(int(bound), node)
        data = data.to(torch.int32)
    elif data.dtype is torch.float64:
        data = data.to(torch.float32)
    element = _element_type(data.dtype)
    # NumPy lacks bfloat16, which f32 holds exactly.
    array = (data.float() if data.dtype is torch.bfloat16 else data).numpy()
    return coreai.constant(array, dtype=element, loc=loc)


def _size_vector(
    values_map: _Values,
    sizes: Sequence[Any],
    node: torch.fx.Node | None,
    loc: ir.Location | None = None,
) -> ir.Value:
    where = f" in node {node.name}" if node is not None else ""
    pieces: list[ir.Value] = []
    for size in sizes:
        if isinstance(size, torch.fx.Node):
            value = values_map[size.name]
            tensor_type = _tensor_type(value)
            if tensor_type.rank > 1 or not isinstance(
                tensor_type.element_type, ir.IntegerType
            ):
                msg = (
                    f"'{size.name}'{where} is a {tensor_type}, not a size; "
                    "use get_operand_list() for a list of tensors"
                )
                raise ValueError(msg)
            pieces.append(to_rank1_int32(value))
        elif isinstance(size, int):
            pieces.append(_constant(np.array([_int32(size, node)], np.int32), loc))
        else:
            msg = f"Unsupported arg type {type(size)}{where}: {sizes}"
            raise ValueError(msg)
    return pieces[0] if len(pieces) == 1 else coreai.concat(0, pieces, loc=loc)


def build_shape_tensor(values_map: _Values, shape: Sequence[Any]) -> ir.Value:
    """Return integers and nodes that stand for sizes as one ``si32`` vector."""
    if all(isinstance(size, int) for size in shape):
        return _constant(np.array([_int32(size) for size in shape], np.int32))
    return _size_vector(values_map, shape, None)


_SCALARS: dict[type, Any] = {bool: np.uint8, int: np.int32, float: np.float32}


def scalar_constant(py_type: type, value: Any) -> ir.Value:
    """Return a number as a constant of rank 0: ``ui8``, ``si32`` or ``f32``."""
    if py_type is int:
        _int32(value)
    return _constant(np.array(value, _SCALARS[py_type]))


# ---------------------------------------------------------------------------
# Small computations
# ---------------------------------------------------------------------------


def to_rank1_int32(v: ir.Value) -> ir.Value:
    """Return ``v`` as ``si32``; a scalar becomes a vector of one element."""
    if _tensor_type(v).rank == 0:
        v = coreai.reshape(v, [1])
    return v if _tensor_type(v).element_type == _si32() else coreai.cast(v, _si32())


def get_dim_size_int32(tensor: ir.Value, dim: int) -> ir.Value:
    """Return the extent of ``tensor`` along ``dim`` as a ``tensor<1xsi32>``."""
    tensor_type = _tensor_type(tensor)
    rank = tensor_type.rank
    if not -rank <= dim < rank:
        msg = f"dim {dim} is out of range for a tensor of rank {rank}"
        raise ValueError(msg)
    dim %= rank
    if not tensor_type.is_dynamic_dim(dim):
        return _constant(np.array([tensor_type.shape[dim]], np.int32))
    shape = coreai.cast(coreai.get_shape(tensor), _si32())
    return coreai.slice_(shape, [dim], [dim + 1], [1])


def to_uint32_perm(perm: ir.Value | Sequence[int], rank: int) -> ir.Value:
    """Return a permutation as ``transpose`` wants it: ``ui32``, not negative."""
    if isinstance(perm, ir.Value):
        perm = to_rank1_int32(perm)
        shifted = coreai.broadcasting_add(perm, np.array(rank, np.int32))
        wrapped = coreai.broadcasting_modulo(shifted, np.array(rank, np.int32))
        return coreai.cast(wrapped, ir.IntegerType.get_unsigned(32))
    return _constant(np.array([dim % rank for dim in perm], np.uint32))


def prepare_compute_type_for_norm(
    input_value: ir.Value, input_ele_type: ir.Type, loc: ir.Location | None = None
) -> tuple[ir.Value, ir.Type, bool]:
    """Return a value to compute a norm of: ``f16`` becomes ``f32``.

    Returns:
        The value, its element type, and whether it was cast.
    """
    if not isinstance(input_ele_type, ir.F16Type):
        return input_value, input_ele_type, False
    wide = ir.F32Type.get()
    return coreai.cast(input_value, wide, loc=loc), wide, True


def replace_pad_with_mode(
    values_map: _Values, node: torch.fx.Node, loc: ir.Location, padding_mode: str
) -> ir.Value:
    """Lower a call whose arguments are a tensor and torch's list of paddings.

    Args:
        values_map: As the lowering got it.
        node: The call. Its paddings are pairs from the last axis backwards.
        loc: As the lowering got it.
        padding_mode: ``constant`` (zeros), ``reflect``, ``replicate``,
            ``circular`` or ``symmetric``.
    """
    x = get_operand(values_map, node, 0, loc)
    tensor_type = _tensor_type(x)
    amounts: Any = _argument(node, 1)
    pads = np.zeros((tensor_type.rank, 2), np.uint32)
    for i in range(len(amounts) // 2):
        pads[-1 - i] = amounts[2 * i : 2 * i + 2]
    zero = coreai.constant(0.0, dtype=tensor_type.element_type, loc=loc)
    return coreai.pad(x, pads.reshape(-1), zero, padding_mode, loc=loc)


# ---------------------------------------------------------------------------
# Graphs
# ---------------------------------------------------------------------------

_ASSERTIONS = (
    torch.ops.aten._assert_async.msg,
    torch.ops.aten._assert_scalar.default,
    torch.ops.aten._assert_tensor_metadata.default,
    torch.ops.aten.sym_constrain_range.default,
    torch.ops.aten.sym_constrain_range_for_size.default,
)


def preprocess_graph(graph_module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Drop assertions, and what only they need, from a graph in place."""
    graph = graph_module.graph
    for target in _ASSERTIONS:
        for node in graph.find_nodes(op="call_function", target=target):
            graph.erase_node(node)
    graph.eliminate_dead_code()
    graph_module.recompile()
    return graph_module

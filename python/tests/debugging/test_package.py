# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names and parameters of the package that code in the field relies on."""

from __future__ import annotations

import importlib
import inspect

import pytest

#: Module -> what is in it -> parameters, in order. More may come behind them.
CALLABLES = {
    "benchmarker": {
        "BenchmarkResult": "operation_timings total_duration_ns",
        "BenchmarkResult.get_average_timing": "self op_id",
        "BenchmarkResult.get_measurement": "self op_id",
        "BenchmarkResult.get_module_timings": "self",
        "BenchmarkResult.get_operation_summary": "self",
        "BenchmarkResult.write_summary": "self output top_n",
        "CoreAIBenchmarker": (
            "coreai_program entry_point excluded_operations specialization_options"
        ),
        "CoreAIBenchmarker.benchmark": "self inputs num_runs",
        "Measurement": "statistics samples",
        "Measurement.from_samples": "samples",
        "ModuleTiming": "name operation_timings children",
        "ModuleTiming.annotate_dominant_source": "self output exclude",
        "ModuleTiming.get_all_modules": "self",
        "ModuleTiming.get_all_operations": "self",
        "ModuleTiming.get_operations_at_location": "self location",
        "ModuleTiming.write_to": "self output indent show_operations",
        "OperationTiming": "op_id measurement",
        "OperationTiming.write_to": "self output operation prefix",
        "Statistics": "minimum maximum average std_dev median",
        "Statistics.from_values": "values",
        "benchmark_coreai_program": (
            "coreai_program inputs entry_point num_runs excluded_operations "
            "specialization_options"
        ),
    },
    "comparator": {
        "Comparator": "source target id_map strategy show_progress",
        "Comparator.Result": "failed_nodes unknown_nodes op_statuses",
        "Comparator.compare": "self check_fn inputs",
        "Comparator.compare_with_tolerance": "self inputs rtol atol",
        "DebugGraph": "graph inspector",
        "create_comparator_for_programs": (
            "source_program target_program target_entry_point strategy use_caching "
            "exclude_ops specialization_options"
        ),
    },
    "compute_plan": {
        "ComputeDevice.from_string": "value",
        "ComputePlan": "debug_info_records",
        "ComputePlan.annotate_source": (
            "self program output module annotate_all_files"
        ),
        "ComputePlan.devices_for_id": "self operation_id",
        "ComputePlan.from_program": "program specialization_options",
        "ComputePlan.get_devices": "self operation",
        "ComputePlan.get_validation_messages": "self operation",
        "ComputePlan.residency_for_id": "self operation_id",
        "ComputePlan.to_dict": "self program module",
        "ComputePlan.validation_messages_for_id": "self operation_id",
        "ComputePlan.write_summary": "self program output module",
    },
    "debug_info": {
        "CompilationMappings": "sources outputs",
        "DebugInfo": "odix_id name source_locations metadatas",
        "DebugInfo.format_metadata": "self key",
        "DebugInfo.format_op_ids": "self level",
        "DebugInfo.format_source_locations": "self",
        "DebugInfo.get_all_metadata": "self key",
        "DebugInfo.get_metadata": "self key",
        "DebugInfo.get_op_id": "self level",
        "DebugInfo.get_op_ids": "self level",
        "DebugInfo.get_output_mappings": "self source_level",
        "DebugInfo.get_source": "self",
        "DebugInfo.to_row": "self metadata_keys op_id_levels",
        "DebugInfoRecord": "identifier operations",
        "DebugInfoRecord.find_by_odix_id": "self odix_id",
        "DebugInfoRecord.find_by_torch_op_id": "self torch_op_id",
        "DebugInfoRecord.write_summary": (
            "self output metadata_keys op_id_levels max_operations width"
        ),
        "Metadata": "key value",
        "Metadata.Value": "value value_type",
        "OutputMapping": (
            "source_level source_op_id source_output target_level target_op_id "
            "target_output"
        ),
        "SourceInfo": "dialect id identifiers",
        "SourceLocation": "file_name line column",
        "get_operation_id": "operation level",
        "parse_debug_infos": "debug_infos_bytes",
        "strip_debug_info": "program",
    },
    "graph": {
        "ComputationGraph": "nodes original_graph calculate_depths",
        "ComputationGraph.Node": (
            "op_id original_node predecessors successors depth scope sequence_index"
        ),
        "ComputationGraph.Scope": "scope_id nesting_depth",
        "ComputationGraph.get_nested_nodes": "self parent_node",
        "ComputationGraph.get_nodes_in_scope": "self scope_id",
        "ComputationGraph.get_subgraph": "self start_idx end_idx",
        "create_graph_from_coreai_program": "module entry_point",
        "create_graph_from_exported_program": "program",
    },
    "graph_diff": {
        "OpIdAlignment": "mapping modified removed added identical ambiguity",
        "op_id_alignment": "before after entry_point weights",
    },
    "graph_match": {"Ambiguity": "paired removed added"},
    "histogram": {
        "CompositeHistogram": "label symbol invocations histogram",
        "OperationHistogram": "counts composites",
        "OperationHistogram.write_summary": "self output folded",
        "operation_histogram": "program",
    },
    "inspector": {
        "CachingInspector": "inspector max_cache_size",
        "CoreAIInspector": "model function_name temp_dir",
        "CoreAIInspector.get_all_compile_identifiers": "debug_info_records",
        "CoreAIInspector.get_compile_identifiers_for_op": (
            "source_level source_op_id debug_info_records"
        ),
        "Inspector.get_intermediates_for_ops": "self op_ids inputs",
        "TorchFXInspector": "exported_program",
    },
    "intermediates": {
        "IntermediateComparison": (
            "torch_node_name coreai_op_id status max_diff shape detail"
        ),
        "IntermediatesReport": "comparisons",
        "IntermediatesReport.write_to": "self output width",
        "compare_intermediates": (
            "torch_intermediates coreai_intermediates mappings rtol atol "
            "exclude_multi_output"
        ),
        "compare_program_intermediates": (
            "exported_program program inputs function_name specialization_options "
            "rtol atol exclude_multi_output"
        ),
    },
    "plan_diff": {
        "ComputePlacement": "operation_id devices name validation",
        "ComputePlacementChange": (
            "operation_id before after name modified validation_before validation_after"
        ),
        "ComputePlanDiff": (
            "changes unchanged unresolved only_before only_after alignment"
        ),
        "ComputePlanDiff.write_to": "self output width",
        "compare_compute_plans": (
            "before_program after_program entry_point specialization_options weights"
        ),
        "diff_compute_plans": "before after alignment names_before names_after",
    },
    "search_strategy": {
        "ExhaustiveStrategy": "graph",
        "LevelOrderStrategy": "graph level_selector batch_size initial_scope_id",
        "LevelOrderStrategy.auto": "graph batch_size initial_scope_id",
        "LevelOrderStrategy.bisection": "graph batch_size initial_scope_id",
        "LevelOrderStrategy.bottom_up": "graph batch_size initial_scope_id",
        "LevelOrderStrategy.top_down": "graph batch_size initial_scope_id",
        "SearchStrategy.update": "self results",
    },
    "source_annotator": {
        "annotate_source_with_operations": (
            "coreai_program output exclude annotate_all_files"
        ),
        "module_paths_by_op_id": "program exclude",
        "source_locations_by_op_id": "program exclude",
    },
    "timing_diff": {
        "MatchedDispatch": "before after modified",
        "ResizedDispatch": "before after extra_op_ids resize modified",
        "TimingDiff": "matched resized only_before only_after alignment",
        "TimingDiff.write_to": "self output width",
        "compare_results": "alignment before after",
        "compare_runs": (
            "before_program after_program inputs num_runs entry_point "
            "excluded_operations specialization_options weights"
        ),
    },
    "torch_utils": {
        "DebugTrace": "inputs outputs intermediates mappings",
        "fetch_intermediate_values": "exported_program inputs callback enable_autocast",
        "get_torch_to_coreai_output_mapping": "coreai_program",
        "get_torch_to_ops_mapping": "coreai_program",
        "load_intermediates": "metadata_path device",
        "save_intermediates": (
            "program inputs output_dir node_filter coreai_program enable_autocast "
            "model_name"
        ),
    },
    "utils": {
        "LocationInfo": "filename line col",
        "get_operation_locations": "operation",
        "split_module_frame": "frame",
    },
    "validator": {
        "Validator": "graph inspector strategy show_progress",
        "Validator.Result": "failed_nodes unknown_nodes",
        "Validator.check": "self check_fn inputs",
        "Validator.check_for_infs": "self inputs",
        "Validator.check_for_nans": "self inputs",
        "create_validator_for_coreai_program": (
            "program entry_point strategy use_caching specialization_options"
        ),
        "create_validator_for_exported_program": "program strategy use_caching",
    },
}

ASYNCHRONOUS = {
    "CoreAIBenchmarker.benchmark",
    "Comparator.compare",
    "Comparator.compare_with_tolerance",
    "Inspector.get_intermediates_for_ops",
    "SearchStrategy.update",
    "Validator.check",
    "Validator.check_for_infs",
    "Validator.check_for_nans",
    "ComputePlan.from_program",
    "benchmark_coreai_program",
    "compare_compute_plans",
    "compare_program_intermediates",
    "compare_runs",
    "create_comparator_for_programs",
    "create_validator_for_coreai_program",
}

DEFAULTS = {
    ("benchmarker", "benchmark_coreai_program"): ["main", 1, None, None],
    ("comparator", "Comparator.compare_with_tolerance"): [1e-5, 1e-8],
    ("search_strategy", "LevelOrderStrategy.bisection"): [10, None],
    ("inspector", "CoreAIInspector"): ["main", None],
    ("validator", "create_validator_for_exported_program"): [None, True],
    ("validator", "create_validator_for_coreai_program"): [None, True, None],
}


def find(module, name):
    found = importlib.import_module(f"coreai_torch.debugging.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("module", CALLABLES)
def test_names_and_parameters(module):
    for name, wanted in CALLABLES[module].items():
        found = find(module, name)
        parameters = list(inspect.signature(found).parameters)
        assert parameters[: len(wanted.split())] == wanted.split(), name
        # What came behind can be left out.
        for extra in parameters[len(wanted.split()) :]:
            parameter = inspect.signature(found).parameters[extra]
            assert parameter.default is not inspect.Parameter.empty, (name, extra)
        assert inspect.iscoroutinefunction(found) == (name in ASYNCHRONOUS), name


@pytest.mark.parametrize(("module", "name"), DEFAULTS)
def test_defaults(module, name):
    parameters = inspect.signature(find(module, name)).parameters.values()
    defaults = [
        p.default
        for p in parameters
        if p.default is not p.empty and p.kind is not p.KEYWORD_ONLY
    ]
    assert defaults == DEFAULTS[module, name]


def test_values_of_enumerations():
    for module, name in (
        ("comparator", "Comparator.Status"),
        ("search_strategy", "SearchStrategy.ValidationResult"),
    ):
        members = {member.name: member.value for member in find(module, name)}
        assert list(members.items())[:3] == [("PASS", 1), ("FAIL", 2), ("UNKNOWN", 3)]
    kinds = {kind.name: kind.value for kind in find("inspector", "IntermediateKind")}
    assert kinds == {"INPUT": "input", "OUTPUT": "output", "UNKNOWN": "unknown"}

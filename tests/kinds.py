"""Which tests are slow, which need a cluster, and which must run in one process.

`make check` leaves out the tests marked browser, cluster, notebook or slow. Over several
processes slow tests go one by one to the next free process; the quick tests of a file go
together, and so do tests that share something costly.
"""

from collections import Counter, defaultdict
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

TESTS = Path(__file__).parent
LONG = ("browser", "cluster", "notebook", "slow")
LIMIT = 600  # seconds for a test of these kinds; the others have `timeout` of pyproject.toml
CLUSTERS = ("engine/test_cluster.py", "studies/test_on_cluster.py")
LINT = "project/test_lint.py"  # not slow, but begun first: mypy takes longest of the quick ones

# Exhaustive tables: `make check` runs some cases of each test, spread over its parameters.
CASES_IN_CHECK = 2
EXHAUSTIVE = (
    "inference/test_rules.py",
    "kernels/test_neighbours.py",
    "paths/test_added_paths.py",
    "paths/test_agreement.py",
    "paths/test_boosters.py",
    "paths/test_class_paths.py",
    "paths/test_gaussian_nb_path.py",
    "paths/test_float32.py",
    "paths/test_knn_path.py",
    "paths/test_knn_ties.py",
    "paths/test_l1_logistic.py",
    "paths/test_lasso_path.py",
    "paths/test_lda_path.py",
    "paths/test_pls_path.py",
    "paths/test_leakage.py",
    "paths/test_leading.py",
    "paths/test_linear_paths.py",
    "paths/test_linear_rounding.py",
    "paths/test_logistic_path.py",
    "paths/test_prefix.py",
    "paths/test_sparse.py",
    "paths/test_wide_lasso.py",
    "paths/test_together.py",
    "results/test_compared_predictors.py",
    "results/test_prediction_interval.py",
    "inference/test_ncv.py",
    "losses/test_ranges.py",
    "runs/test_estimators.py",
    "runs/test_forecast.py",
    "splits/test_plan.py",
    "splits/test_splitters.py",
    "studies/test_learning.py",
    "studies/test_null.py",
    "studies/test_seeds.py",
    "widgets/test_typed_grid.py",
)

# Files whose tests compile kernels, kill workers or wait for interrupts; then single tests
# that start processes or draw many examples. The longest come first: they are begun first.
SLOW_FILES = (
    "kernels/test_kernel_cache.py",
    "engine/test_interrupted.py",
    "engine/test_backends.py",
    "jupyter/test_compile_ahead.py",
    "jupyter/test_jobs.py",
    "jupyter/test_first_run.py",
    "jupyter/test_background.py",
    "jupyter/test_kernel.py",
    "widgets/test_spread.py",
    "widgets/test_builder_spread.py",
    "widgets/test_builder_races.py",
)
SLOW_TESTS = {
    "paths/test_paths.py": (
        "test_kernels_are_compiled_once",
        "test_the_agreement_table_holds_without_compilation",
        "test_numba_is_imported_where_a_path_needs_it_only",
        "test_kernels_are_valid_python_too",
    ),
    "views/test_display_limits.py": (
        "test_no_display_is_larger_than_60_kB",
        "test_drawing_a_large_result_is_quick_work",
    ),
    "studies/test_null.py": ("test_p_is_uniform_where_there_is_nothing_to_learn",),
    "results/test_prediction_interval.py": ("test_new_rows_are_covered",),
    "studies/test_draws.py": (
        "test_an_interrupt_keeps_finished_draws",
        "test_memory_does_not_grow_with_the_draws",
    ),
    "inference/test_intervals.py": ("test_the_intervals_cover_what_they_name",),
    "inference/test_intervals_of_results.py": (
        "test_unequal_folds_weigh_their_rows_as_the_risk_does",
    ),
    "project/test_benchmarks.py": (
        "test_growth_measures_a_row",
        "test_growth_measures_the_loops_beside_it",
        "test_growth_says_how_far_a_limit_is",
    ),
    "project/test_notebooks.py": (
        "test_running_a_notebook_again_changes_nothing",
        "test_a_cell_that_fails_is_named_and_nothing_is_written",
    ),
    "families/test_registry.py": (
        "test_a_package_brings_its_algorithm",
        "test_a_package_brings_its_short_hand",
        "test_a_package_that_fails_ends_no_run",
        "test_what_the_user_added_stays",
        "test_completion_offers_it",
    ),
    "paths/test_knn_distances.py": (
        "test_distances_too_small_to_divide_by_are_sorted",
    ),
    "paths/test_knn_ties.py": (
        "test_on_a_grid_in_any_unit_the_rule_of_whole_numbers_holds",
    ),
    "paths/test_linear_rounding.py": (
        "test_what_one_split_meets_decides_for_no_other",
    ),
    "figures/test_figures.py": ("test_ten_thousand_rows_are_less_than_two_megabytes",),
    "paths/test_linear_paths.py": (
        "test_any_small_table_has_scikit_learns_numbers",
        "test_wide_least_squares_is_scikit_learns",
    ),
    "paths/test_knn_path.py": ("test_any_rows_under_any_splits_equal_the_definition",),
    "paths/test_agreement.py": (
        "test_nested_versus_flat_on_iris",
        "test_leave_one_out_of_polynomials_of_horsepower",
    ),
    "paths/test_boosters.py": (
        "test_nothing_is_imported_for_a_model_of_another_package",
        "test_two_workers_give_the_same_numbers",
    ),
    "paths/test_added_paths.py": ("test_an_added_path_needs_no_compiled_loops",),
    "paths/test_sparse.py": (
        "test_many_nonzero_columns_and_small_penalties",
        "test_a_lasso_on_a_million_columns_is_never_made_dense",
        "test_logistic_regression_on_many_columns_is_never_made_dense",
    ),
    "runs/test_advice.py": (
        "test_what_is_suggested_can_be_planned",
        "test_what_is_suggested_can_be_run",
    ),
    "splits/test_plan.py": (
        "test_large_plans_stay_below_50_megabytes",
        "test_the_record_is_the_same_text_in_every_process",
    ),
    "engine/test_run.py": ("test_the_text_of_a_result_is_the_same_in_every_process",),
    "jupyter/test_magic_errors.py": (
        "test_an_estimator_that_always_fails_keeps_its_traceback",
    ),
    "results/test_comparison.py": (
        "test_the_corrected_t_does_not_find_differences_in_noise",
    ),
    "inference/test_ncv.py": (
        "test_ncv_covers_the_risk_of_the_final_predictor",
        "test_ncv_without_a_number_repeats_until_the_inflation_is_known",
    ),
    "results/test_optimism.py": (
        "test_on_noise_the_flat_estimate_is_biased_and_nested_cv_is_not",
    ),
}

# Tests that share a server, a documentation or a browser run in one process.
PAGES = ("browser/test_pages.py", "project/test_docs.py")
# scikit-learn's numbers are computed once for a row of the table: one process for its tests.
ROWS = "paths/test_agreement.py"
# Slow files whose tests share something all the same: a kernel.
SHARING = (
    "jupyter/test_jobs.py",
    "jupyter/test_background.py",
    "jupyter/test_kernel.py",
)


def file_of(item):
    """paths/test_agreement.py; of a file that is not in tests/, its path from the root."""
    path = Path(item.path)
    inside = TESTS in path.parents
    return path.relative_to(TESTS).as_posix() if inside else item.nodeid.split("::")[0]


def function_of(item):
    return getattr(item, "originalname", None) or item.name


def fixtures_of(item):
    return getattr(item, "fixturenames", ())


def has_kind(item, *names):
    return any(item.get_closest_marker(name) for name in names)


def mark(items):
    """Mark each test with its kind and its time limit."""
    mark_slow(items)
    mark_surplus_cases(items)
    for item in items:
        if file_of(item) in CLUSTERS:
            item.add_marker("cluster")
        if has_kind(item, *LONG) or file_of(item) == LINT:
            item.add_marker(pytest.mark.timeout(LIMIT))


def mark_slow(items):
    for item in items:
        file = file_of(item)
        named = function_of(item) in SLOW_TESTS.get(file, ())
        shares = {"site", "records"} & {*fixtures_of(item)}
        if file in SLOW_FILES or named or shares:
            item.add_marker("slow")


def mark_surplus_cases(items):
    """Of a test in an exhaustive table, mark all but a few cases as slow."""
    cases = defaultdict(list)
    for item in items:
        if file_of(item) in EXHAUSTIVE and not has_kind(item, "slow"):
            cases[file_of(item), function_of(item)].append(item)
    for same in cases.values():
        n_kept = min(CASES_IN_CHECK, len(same))
        kept = {k * len(same) // n_kept for k in range(n_kept)}
        for position, item in enumerate(same):
            if position not in kept:
                item.add_marker("slow")


class Groups(LoadScopeScheduling):
    """Scheduler of pytest-xdist: the next group of tests to the next free process.

    By name, for --dist=loadgroup of pytest-xdist 3.8 sees no groups under pytest 9.2.
    """

    def _split_scope(self, nodeid):
        return group_of(nodeid)


def group_of(nodeid):
    """Return the name of the tests that run in one process with this one."""
    path, _, test = nodeid.partition("::")
    file = path.removeprefix("tests/")
    function, _, parameters = test.partition("[")
    if file in PAGES:
        return "pages"
    if file.startswith("browser/"):
        return "browser"
    if file == ROWS and parameters:
        return f"{file}[{parameters}"
    if file in SHARING:
        return file
    alone = file in (LINT, *EXHAUSTIVE, *SLOW_FILES) or function in SLOW_TESTS.get(
        file, ()
    )
    return nodeid if alone else file


def order(items):
    """Begin with what takes longest, so that no process is left with it at the end."""
    sizes = Counter(group_of(item.nodeid) for item in items)
    items.sort(key=lambda item: (*rank(item), -sizes[group_of(item.nodeid)]))


def rank(item):
    """Return (kind, place in its list): the order in which tests are begun."""
    file, function = file_of(item), function_of(item)
    if file == LINT:
        return 0, 0
    if has_kind(item, "browser") or file in PAGES:
        return 1, 0
    if has_kind(item, "notebook"):
        return 2, 0
    if has_kind(item, "cluster"):
        return 3, 0
    if file in SLOW_FILES:
        return 4, SLOW_FILES.index(file)
    if function in SLOW_TESTS.get(file, ()):
        return 5, list(SLOW_TESTS).index(file)
    return (6, 0) if file in EXHAUSTIVE else (7, 0)

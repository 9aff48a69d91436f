import type { z } from 'zod';
import { clustersOf } from '../../core/rows/clusters.js';
import type { RowSide } from '../../core/rows/collect.js';
import { passes, type RowFilter } from '../../core/rows/filter.js';
import type { RowGroup } from '../../core/rows/groups.js';
import { labelCells } from '../../core/rows/label-table.js';
import type { rowSchema, rowsSummarySchema } from '../contract/rows.js';
import type { RowTexts, RunTexts } from '../store/texts.js';
import { reviewView } from './review-view.js';
import type { Selectable, SelectableRow } from './select.js';

/** A row with its texts; those of a rollout may have expired. */
export function rowView(
  row: SelectableRow,
  texts: RowTexts | undefined,
  runs: ReadonlyMap<string, RunTexts>,
  keyId: string | null,
): z.output<typeof rowSchema> {
  return {
    row: row.seed,
    task_id: texts?.taskId ?? null,
    group: row.group,
    seen: row.seen,
    input: texts?.input ?? null,
    expected: texts?.expected ?? null,
    baseline: row.baseline && sideView(row.baseline, runs.get(row.baseline.shown)),
    candidate: row.candidate && sideView(row.candidate, runs.get(row.candidate.shown)),
    reviews: row.reviews.map((review) => reviewView(review, keyId)),
  };
}

function sideView({ candidateId, reward, rollouts, shown }: RowSide, texts: RunTexts | undefined) {
  return {
    candidate_id: candidateId!,
    reward,
    rollouts,
    answer: texts?.output ?? null,
    answer_truncated: texts?.outputTruncated ?? false,
    feedback: texts?.feedback ?? null,
    error: texts?.error ?? null,
    finish_reason: texts?.finishReason ?? null,
    trace_id: shown,
  };
}

/** Counts of rows by group, part, label and cluster, each without its own part of the filter. */
export function summaryView({ rows, table }: Selectable, filter: RowFilter): z.output<typeof rowsSummarySchema> {
  const groups: Record<RowGroup, number> = {
    failing: 0,
    broken: 0,
    flaky: 0,
    failed: 0,
    fixed: 0,
    right: 0,
    untried: 0,
  };
  for (const row of rows) if (passes(row, filter, 'group')) groups[row.group] += 1;
  const ofParts = rows.filter((row) => passes(row, filter, 'seen'));
  const seen = ofParts.filter((row) => row.seen).length;
  const inTable = rows.flatMap((row) => (row.texts && passes(row, filter, 'table') ? row.texts : []));
  const clustered = rows.flatMap((row) => (passes(row, filter, 'feedback') ? (row.texts?.cluster ?? []) : []));
  return {
    total: rows.filter((row) => passes(row, filter)).length,
    groups,
    seen,
    held_out: ofParts.length - seen,
    reviews: reviewCounts(rows.filter((row) => passes(row, filter, 'review'))),
    table: table && { expected: table.labels, answered: table.answers, cells: labelCells(table, inTable) },
    clusters: table ? [] : clustersOf(clustered),
  };
}

function reviewCounts(rows: readonly SelectableRow[]): z.output<typeof rowsSummarySchema>['reviews'] {
  const counts = { none: 0, any: 0, right: 0, wrong: 0, bad_expected: 0 };
  for (const { verdicts } of rows) {
    counts[verdicts.length === 0 ? 'none' : 'any'] += 1;
    for (const verdict of new Set(verdicts)) counts[verdict] += 1;
  }
  return counts;
}

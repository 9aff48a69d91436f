import type { FastifyRequest } from 'fastify';
import { scorerSpec } from '../../../scorers/index.js';
import type { OptimizationOnRows, PolicyOptimization } from '../contract/create.js';
import type { SessionSpec } from '../../../core/jobs/spec.js';
import { groupRows, groupWarnings, namedWarnings } from '../../../core/prompts/row-groups.js';
import { heldoutWarning, minSeeds, splitBounds, splitSeeds, type SeedSplit } from '../../../core/search/split.js';
import { categoriesOf, checkExpected, jobRows, rowContents, type JobRows } from '../../../datasets/routes/job-rows.js';
import { formWarnings, labelWarnings } from '../../../datasets/routes/row-warnings.js';
import { rowSource, type Rows, type RowSource } from '../../../datasets/routes/row-source.js';
import { scorerChecks, type ScorerChecks } from '../../../datasets/routes/scorer-errors.js';
import { pointerOf, refuse } from '../../../platform/http/server/errors.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { optimizationPath as path, type SessionRows } from '../../../jobs/routes/specs.js';

/**
 * The rows of a session on a data set. `check`: once the seeds are known, gives warnings;
 * `keep`: in its job's transaction. Null: the session has none.
 */
export async function sessionRows(
  deps: HttpDeps,
  request: FastifyRequest,
  wanted: PolicyOptimization,
): Promise<{ of: SessionRows; check(spec: SessionSpec): Promise<string[]>; keep: RowSource['keep'] } | null> {
  if (!wanted.dataset) return null;
  const source = await rowSource(deps, request.caller.orgId, wanted.dataset, [...path, 'dataset']);
  const checks = scorerChecks(deps, request.caller.orgId);
  const { of, rows } = await searchedRows(source, checks, wanted);
  return {
    of,
    async check({ search: { trainSeeds, evaluationSeeds, heldoutSeeds } }) {
      await checkExpected(rows, [...trainSeeds, ...evaluationSeeds, ...heldoutSeeds], path);
      // A split keeps equal rows together.
      if (of.split !== null) return [];
      const named = { train: trainSeeds, evaluation: evaluationSeeds, 'held-out': heldoutSeeds };
      const parts = Object.entries(named).map(([name, seeds]) => ({ name, seeds }));
      return namedWarnings(await rowContents(rows), parts);
    },
    keep: source.keep,
  };
}

/** Throws with all invalid fields but for the expected values of the rows. */
export async function searchedRows(
  source: Rows,
  checks: ScorerChecks,
  wanted: OptimizationOnRows,
): Promise<{ of: SessionRows; rows: JobRows }> {
  const { dataset, scorer, initial_prompt: prompt, policy } = wanted;
  const promptPath = [...path, 'initial_prompt', 'messages'];
  const { provider } = policy;
  const fields = { dataset, scorer: scorerSpec(scorer, provider), provider, messages: prompt.messages, promptPath };
  const rows = jobRows(source, checks, fields, path);
  const section = wanted[wanted.algorithm]!;
  const { spec, messages } = rows;
  const known = [...rows.warnings, ...(await formWarnings(rows)), ...(await labelWarnings(rows))];
  if (section.evaluation?.seeds) return { of: { spec, messages, split: null, warnings: known }, rows };
  const { split, warnings } = await splitFor(wanted, rows);
  return { of: { spec, messages, split, warnings: [...known, ...warnings] }, rows };
}

async function splitFor(
  { budget, rng_seed: rngSeed, heldout_rows: wanted }: PolicyOptimization,
  rows: JobRows,
): Promise<{ split: SeedSplit; warnings: string[] }> {
  const bounds = splitBounds(budget?.max_rollouts ?? null, wanted);
  const grouped = groupRows(await rowContents(rows));
  const { groups } = grouped;
  if (wanted !== undefined && wanted > Math.max(0, groups.length - minSeeds.apart)) {
    const message = `must leave at least ${minSeeds.apart} of the ${groups.length} different rows for the search`;
    throw refuse.invalid([{ pointer: pointerOf([...path, 'heldout_rows']), message }]);
  }
  const split = splitSeeds(rows.spec.numRows, rngSeed, bounds, await categoriesOf(rows), groups, wanted);
  const warnings = groupWarnings(grouped, 'row', [split.train, split.evaluation, split.heldout]);
  return { split, warnings: [...warnings, ...(wanted === undefined ? [] : heldoutWarning(split))] };
}

import type { z } from 'zod';
import { readPromptTokens } from '../../candidates/store/candidates.js';
import { compareAll, compareWithBaseline, type Column, type ComparedPair } from '../../core/comparisons/columns.js';
import { groupSearches, requestKey, spreadBetween, type SearchGroup } from '../../core/comparisons/groups.js';
import { promptTokens } from '../../core/prompts/length.js';
import { sideOf } from '../../core/search/comparison.js';
import { readRequest } from '../../jobs/store/spec.js';
import type { Tx } from '../../platform/db/db.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { problems } from '../../platform/http/server/schema.js';
import { manyQuerySchema, manySchema } from '../contract/many.js';
import { candidateOf } from './compared.js';
import { readColumns, type ReadColumn } from './columns.js';
import { readSeedMeans } from '../../rollouts/store/by-seed.js';

type Many = z.output<typeof manySchema>;
type MeansColumn = ReadColumn & Column;

interface ReadMany {
  columns: MeansColumn[];
  /** The index of the baseline. */
  baseline: number;
  /** Of each column with the baseline. */
  pairs: (ComparedPair | null)[];
}

/** Several candidates beside one of them. */
export function registerCompareMany(app: App, { db }: HttpDeps): void {
  app.get(
    '/api/v1/compare/many',
    {
      schema: {
        tags: ['Comparison'],
        operationId: 'compareMany',
        summary: 'Compare up to eight candidates with a baseline',
        description:
          'Each pair as in the comparison of two, on the seeds that count for these two; so a further column changes only the correction of the p-values. All columns must run the same instances.',
        querystring: manyQuerySchema,
        response: { 200: manySchema, ...problems(404, 409, 422) },
      },
    },
    (request) => db.org(request.caller.orgId, (tx) => readMany(tx, request.query)),
  );
}

async function readMany(tx: Tx, query: z.output<typeof manyQuerySchema>): Promise<Many> {
  const { columns: compared, baseline } = await readColumns(tx, query);
  const columns: MeansColumn[] = [];
  for (const column of compared) {
    const { means, failed } = await readSeedMeans(tx, column.jobId, column.candidateId);
    columns.push({ ...column, means, failed: new Set(failed) });
  }
  const pairs = compareWithBaseline(columns, baseline);
  const read: ReadMany = { columns, baseline, pairs };
  const groups = await readGroups(tx, read);
  const lengths = await readLengths(tx, columns);
  return {
    baseline: columns[baseline]!.id,
    columns: columns.map((column, at) => columnView(column, at, lengths[at]!, read, groups)),
    pairs: compareAll(columns).flatMap(({ a, b, pair }) =>
      pair ? [{ a: columns[a]!.id, b: columns[b]!.id, ...pairView(pair, columns[a]!, columns[b]!) }] : [],
    ),
    groups: groups.map(({ columns: indexes, rngSeeds, difference, spread }) => ({
      ids: indexes.map((at) => columns[at]!.id),
      rng_seeds: rngSeeds,
      difference: indexes.includes(baseline) || indexes.some((at) => !pairs[at]) ? null : difference,
      spread,
    })),
  };
}

function columnView(
  column: MeansColumn,
  at: number,
  tokens: number | null,
  { columns, baseline, pairs }: ReadMany,
  groups: readonly SearchGroup[],
): Many['columns'][number] {
  const pair = pairs[at] ?? null;
  const counted = at === baseline ? [...new Set(pairs.flatMap((each) => each?.seeds ?? []))] : (pair?.seeds ?? []);
  const side = counted.length === 0 ? null : sideOf(column.means, counted);
  return {
    id: column.id,
    kind: column.kind,
    name: column.name,
    job_id: column.jobId,
    candidate_id: candidateOf(column),
    mean_reward: side?.reward ?? null,
    mean_reward_interval: side?.interval ?? null,
    seeds: column.means.size,
    seeds_failed: column.failed.size,
    seeds_selected: counted.filter(column.isSelected).length,
    cost_usd: side?.costUsd ?? null,
    latency_ms: side?.latencyMs ?? null,
    prompt_tokens: tokens,
    against_baseline: pair && {
      ...pairView(pair, columns[baseline]!, column),
      baseline_reward: sideOf(columns[baseline]!.means, pair.seeds).reward,
      search_spread: spreadBetween(groups, at, baseline),
    },
  };
}

function pairView(
  { verdict, p, corrected, conclusion, won, lost, tied }: ComparedPair,
  a: MeansColumn,
  b: MeansColumn,
) {
  const { low, high, difference, basis, seeds, rowsNeeded } = verdict;
  return {
    seeds_in_common: [...a.means.keys()].filter((seed) => b.means.has(seed)).length,
    seeds_compared: seeds,
    basis,
    difference: { mean: difference, low, high },
    p_value: p,
    p_corrected: corrected,
    verdict: conclusion,
    rows_needed: rowsNeeded,
    won,
    lost,
    tied,
  };
}

/** Columns that are searches of one request. */
async function readGroups(tx: Tx, { columns, baseline, pairs }: ReadMany): Promise<SearchGroup[]> {
  const searches = [];
  for (const [column, { kind, jobId, spec }] of columns.entries()) {
    const difference = column === baseline ? 0 : pairs[column]?.verdict.difference;
    if ((kind !== 'session' && kind !== 'graph') || spec.kind === 'evaluation' || difference === undefined) continue;
    const request = await readRequest(tx, jobId);
    if (request) searches.push({ column, key: requestKey(request), rngSeed: spec.search.rngSeed, difference });
  }
  return groupSearches(searches);
}

/** The length of each prompt in estimated tokens; null: none is on record, or a graph. */
async function readLengths(tx: Tx, columns: readonly MeansColumn[]): Promise<(number | null)[]> {
  const ofSearches = await readPromptTokens(
    tx,
    columns.flatMap(({ spec, candidateId }) => (spec.kind === 'session' && candidateId ? [candidateId] : [])),
  );
  return columns.map(({ spec, candidateId }) => {
    if (spec.kind !== 'evaluation') return ofSearches.get(candidateId ?? '') ?? null;
    return spec.candidate ? promptTokens(spec.candidate.messages, spec.candidate.demos ?? []) : null;
  });
}

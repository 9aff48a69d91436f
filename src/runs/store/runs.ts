/** Pages, sums and groups of runs. Each page reads an index in the order of its sort. */
import type { QueryResultRow } from 'pg';
import { labelKeys } from '../../jobs/store/labels.js';
import { JobConditions, type JobMarks } from '../../jobs/store/list-pages.js';
import { datasetNameOf } from '../../datasets/store/datasets.js';
import type { Labels } from '../../contracts/labels.js';
import type { Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import type { Position } from '../../platform/db/positions.js';
import { without, type Grouping, type RunKind, type RunSort } from '../contract/run.js';

export interface RunFilter extends JobMarks {
  kind?: RunKind | undefined;
  /** All of these; `without`: none at all. */
  tags?: string[];
  metadata?: Labels['metadata'] | undefined;
  dataset?: string | undefined;
  model?: string | undefined;
  /** Of a policy or of the proposer. */
  provider?: string | undefined;
  /** Any of these. */
  states?: readonly Status[] | undefined;
  /** true: also those that other jobs started. */
  parts?: boolean;
}

export interface RunOrder {
  by: RunSort;
  isDescending: boolean;
}

/** A run's place in an order. `value` null: the order is by time, or the run has no value. */
export interface RunPlace extends Position {
  value: number | string | null;
}

/** What a list shows of a run beside its job. */
export interface ListedRun extends Record<string, unknown> {
  id: string;
  /** The time of its creation, to the microsecond. */
  position: string;
  value: number | string | null;
  parentId: string | null;
  datasetName: string | null;
  comparableKey: string | null;
  bestReward: number | null;
  promptTokens: number | null;
  lastResultAt: Date | null;
}

/** The SQL column by which a list is sorted; by time it is `created_at`. */
const values: Record<Exclude<RunSort, 'created'>, string> = {
  gain: 'j.gain',
  reward: 'j.best_reward',
  cost: 'j.final_cost_usd',
  rollouts: 'j.final_rollouts',
  name: 'j.name_key',
};

/** Rollouts end in about the order of their requests, at most 256 at once. */
const recentRollouts = 300;

const columns = `j.id, j.parent_id as "parentId", j.comparable_key as "comparableKey",
  j.best_reward as "bestReward", j.prompt_tokens as "promptTokens",
  to_char(j.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as position,
  ${datasetNameOf('j')} as "datasetName",
  case when j.completed_at is null then (
    select max(completed_at) from (
      select completed_at from rollouts where job_id = j.id order by idx desc limit ${recentRollouts}) r
  ) end as "lastResultAt"`;

/** The runs after a place, in an order; those without a value come last, the newest first. */
export async function listRuns(
  tx: Tx,
  filter: RunFilter,
  { by, isDescending }: RunOrder,
  { after, limit }: { after: RunPlace | undefined; limit: number },
): Promise<ListedRun[]> {
  const newestFirst = { key: 'j.created_at', isDescending: true };
  if (by === 'created') return select(tx, filter, { ...newestFirst, isDescending }, { after, limit });
  const key = values[by];
  const hasValue = after === undefined || after.value !== null;
  const ranked = hasValue ? await select(tx, filter, { key, isDescending }, { after, limit }) : [];
  if (ranked.length === limit) return ranked;
  const rest = { after: hasValue ? undefined : after, limit: limit - ranked.length };
  return [...ranked, ...(await select(tx, filter, { ...newestFirst, missing: key }, rest))];
}

/** `missing`: SQL of a value that the runs do not have. */
interface Segment {
  key: string;
  isDescending: boolean;
  missing?: string;
}

function select(
  tx: Tx,
  filter: RunFilter,
  { key, isDescending, missing }: Segment,
  { after, limit }: { after: RunPlace | undefined; limit: number },
): Promise<ListedRun[]> {
  const passing = conditionsOf(filter);
  const isByTime = key === 'j.created_at';
  passing.add(missing ? `${missing} is null` : `${key} is not null`);
  if (after) {
    const [value, type] = isByTime ? [after.createdAt, 'timestamptz'] : [after.value, typeOf(after.value)];
    passing.add(
      `(${key}, j.id) ${isDescending ? '<' : '>'} (${passing.value(value)}::${type}, ${passing.value(after.id)})`,
    );
  }
  const way = isDescending ? 'desc' : 'asc';
  return tx.query<ListedRun & QueryResultRow>(
    `select ${columns}, ${isByTime ? 'null' : key} as value from jobs j where ${passing.sql}
      order by ${key} ${way}, j.id ${way} limit ${passing.value(limit)}`,
    passing.values,
  );
}

const typeOf = (value: unknown) => (typeof value === 'number' ? 'float8' : 'text');

function conditionsOf(filter: RunFilter): JobConditions {
  const passing = new JobConditions();
  const { kind, tags = [], metadata = {}, dataset, model, provider, states, parts } = filter;
  passing.add(`j.org_id = current_setting('app.org')`);
  passing.add(`j.kind in ('session', 'evaluation', 'graph')`);
  if (kind) passing.add(`j.kind = ${passing.value(kind)}`);
  passing.addMarks(filter);
  if (states) passing.add(`j.status = any(${passing.value(states)})`);
  if (!parts) passing.add('j.parent_id is null');
  const isUntagged = tags.includes(without);
  if (isUntagged) passing.add(`j.tags = '{}'`);
  for (const label of labelKeys({ tags: isUntagged ? [] : tags, metadata })) passing.addLabel(label);
  if (dataset !== undefined)
    passing.add(dataset === without ? 'j.dataset_id is null' : `j.dataset_id = ${passing.value(dataset)}`);
  if (model !== undefined) passing.add(`j.model = ${passing.value(model)}`);
  if (provider !== undefined) {
    const named = passing.value(provider);
    passing.add(`(${named} in (j.spec->'policy'->>'provider', j.spec->'proposer'->>'provider')
      or j.spec->'policies' @> jsonb_build_array(jsonb_build_object('provider', ${named}::text)))`);
  }
  return passing;
}

/** Sums over runs. `unpriced`: runs of unknown cost. */
export interface RunSums extends Record<string, unknown> {
  runs: number;
  costUsd: number;
  unpriced: number;
  rollouts: number;
}

/** Cost and rollouts of job `j`: as of its end, else so far. */
const soFar = `cross join lateral (
  select case when j.completed_at is not null then j.final_cost_usd
              else (select sum(cost_usd) from job_usage u where u.job_id = j.id having sum(calls) > 0 and sum(unpriced) = 0) end as cost,
         coalesce(j.final_rollouts,
           (select rollouts_succeeded + rollouts_failed from job_controls c where c.job_id = j.id)) as rollouts) s`;
const sums = `count(*)::int as runs, coalesce(sum(s.cost), 0)::float8 as "costUsd",
  (count(*) filter (where s.cost is null))::int as unpriced, coalesce(sum(s.rollouts), 0)::bigint as rollouts`;

/** Sums over all runs that pass. */
export async function sumRuns(tx: Tx, filter: RunFilter): Promise<RunSums> {
  const passing = conditionsOf(filter);
  const [row] = await tx.query<RunSums>(`select ${sums} from jobs j ${soFar} where ${passing.sql}`, passing.values);
  return row!;
}

/** `key` null: the runs without one. `name`: that of a data set. */
export interface RunGroup extends RunSums {
  key: string | null;
  name: string | null;
}

const keys: Record<Grouping, { key: string; join?: string }> = {
  dataset: { key: 'j.dataset_id' },
  model: { key: 'j.model' },
  tag: { key: 't.tag', join: 'left join lateral unnest(j.tags) as t(tag) on true' },
};

/** The largest groups of the runs that pass. */
export async function groupRuns(tx: Tx, filter: RunFilter, by: Grouping, limit: number): Promise<RunGroup[]> {
  const passing = conditionsOf(filter);
  const { key, join = '' } = keys[by];
  return tx.query<RunGroup>(
    `select g.*, (select name from datasets d where d.org_id = current_setting('app.org') and d.id = g.key) as name
       from (select ${key} as key, ${sums} from jobs j ${join} ${soFar} where ${passing.sql} group by 1) g
      order by g.runs desc, g.key limit ${passing.value(limit)}`,
    passing.values,
  );
}

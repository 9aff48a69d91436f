/** Rows that judge what a name serves, and a search on others, for migrations and checkups. */
import type { SessionSpec, RowsGate } from '../../../core/jobs/spec.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import { leastRowsToSplit, splitForMigration, type MigrationSplit } from '../../../core/migrations/split.js';
import { leastRows } from '../../../core/migrations/verdict.js';
import { groupRows, groupWarnings, type RowGroups } from '../../../core/prompts/row-groups.js';
import { callerMessages, columnFinder, inputName, rowPlaceholders } from '../../../core/prompts/row-template.js';
import type { SeedSplit, SplitBounds } from '../../../core/search/split.js';
import type { PolicyRequest } from '../../../contracts/common.js';
import type { RowsRequest } from '../../../datasets/contract/rows.js';
import { categoriesOf, checkExpected, jobRows, rowContents, type JobRows } from '../../../datasets/routes/job-rows.js';
import { rowSource, type RowSource } from '../../../datasets/routes/row-source.js';
import { formWarnings } from '../../../datasets/routes/row-warnings.js';
import { scorerChecks, scorerErrors } from '../../../datasets/routes/scorer-errors.js';
import { sessionSpec } from '../../../jobs/routes/specs.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, pointerOf, refuse } from '../../../platform/http/server/errors.js';
import { scorerSpec, type ScorerRequest } from '../../../scorers/index.js';
import { optimizationFieldsSchema } from '../../session/contract/create.js';
import type { DeploymentRow } from '../store/deployments.js';
import { readSnapshot } from '../store/snapshots.js';
import { readLiveRows, whyNotByRows, type LivePrompt, type LiveRows } from './live-rows.js';

/** The most rows of an evaluation. */
const maxRows = 10_000;
/** The session's budget where the request names none, and its proposals per generation. */
export const usualRollouts = 200;
const usualSearch = { population_size: 2, generations: 200 };

/** What is done to what is live, in refusals. */
export interface Purpose {
  verb: 'Migrate' | 'Check up';
  code: 'not_migratable' | 'not_checkable';
  /** What to do with what rows cannot judge. */
  advice: string;
}

/** The prompt of what a name serves; throws if it serves none, or one that rows cannot judge. */
export async function livePrompt(
  { db }: HttpDeps,
  { id, name, live, orgId, snapshotId }: DeploymentRow,
  { verb, code, advice }: Purpose,
): Promise<LivePrompt> {
  if (!live) {
    const detail = `Deployment ${id} does not serve ${name}. ${verb} the name, or give its label production to this version first.`;
    throw new ApiError(409, 'deployment_not_live', detail);
  }
  const { content } = (await db.org(orgId, (tx) => readSnapshot(tx, snapshotId!)))!;
  const reason = whyNotByRows(content);
  if (reason === null) return content as LivePrompt;
  throw new ApiError(409, code, `${name} serves ${reason}, which rows cannot judge. ${advice}`);
}

/** Rows with those that no search has used; `unseen` empty: unknown. */
export interface JudgingRows {
  rows: JobRows;
  unseen: number[];
  keep: RowSource['keep'];
}

/** What the rows of a request are read for. */
interface Judging {
  live: DeploymentRow;
  prompt: LivePrompt;
  /** Of the model that answers. */
  provider: string;
}

/** The rows by which what is live was judged; null: none. */
export const ownRows = ({ db }: HttpDeps, { orgId, id }: DeploymentRow): Promise<LiveRows | null> =>
  db.org(orgId, (tx) => readLiveRows(tx, id));

/** Throws if the service cannot use their scorer by now. */
export async function judgingRowsOf(
  deps: HttpDeps,
  { live: { orgId }, provider }: Pick<Judging, 'live' | 'provider'>,
  { rows: spec, inputs: messages, unseen }: LiveRows,
): Promise<JudgingRows> {
  const errors = scorerErrors(spec.scorer, provider, ['scorer'], scorerChecks(deps, orgId));
  if (errors.length > 0) throw refuse.invalid(errors);
  const wanted = { dataset_id: spec.datasetId, input: 'input', expected: 'expected' };
  const source = await rowSource(deps, orgId, wanted, ['dataset']);
  return { rows: { source, spec, messages, warnings: [] }, unseen, keep: source.keep };
}

/** The rows of a request; `own`: their scorer is the default. `path`: that of the fields. */
export async function requestedRows(
  deps: HttpDeps,
  { live, prompt, provider }: Judging,
  { dataset, scorer: asked, own }: { dataset: RowsRequest; scorer?: ScorerRequest | undefined; own: LiveRows | null },
  path: readonly string[] = [],
): Promise<JudgingRows> {
  const { orgId } = live;
  const at = (...fields: string[]) => pointerOf([...path, ...fields]);
  const source = await rowSource(deps, orgId, dataset, [...path, 'dataset']);
  const columnOf = columnFinder(
    source.dataset.columns.map(({ name }) => name),
    dataset.input,
  );
  const isInput = (name: string) => name === inputName || columnOf(name) !== null;
  const [inside] = rowPlaceholders(prompt.messages, isInput);
  if (inside !== undefined) {
    const message = `has a column for {{${inside}}}, which stands in the live prompt as a plain text: rename the column`;
    throw refuse.invalid([{ pointer: at('dataset'), message }]);
  }
  const scorer = asked ? scorerSpec(asked, provider) : own?.rows.scorer;
  if (!scorer)
    throw refuse.invalid([{ pointer: at('scorer'), message: `is required: ${live.name} was not judged by rows` }]);
  const promptPath = [...path, 'dataset'];
  const fields = { dataset, scorer, provider, messages: callerMessages([], isInput), promptPath };
  const rows = jobRows(source, scorerChecks(deps, orgId), fields, path);
  rows.warnings.push(...(await formWarnings(rows)));
  return { rows, unseen: [], keep: source.keep };
}

/** The groups of equal inputs, and which rows decide; null: too few different rows for a search. */
export interface SplitRows {
  grouped: RowGroups;
  split: MigrationSplit | null;
}

/** `bounds` null: without a search. Warns of rows that are no independent tasks. */
export async function splitRows(
  { rows, unseen }: JudgingRows,
  bounds: SplitBounds | null,
  path: readonly string[],
): Promise<SplitRows> {
  const { numRows } = rows.spec;
  const grouped = groupRows(await rowContents(rows));
  const known = { groups: grouped.groups, numRows, categories: await categoriesOf(rows), unseen };
  const split = splitForMigration(known, bounds, maxRows);
  if (!split) return { grouped, split };
  const { deciding, search } = split;
  const searched = search ? [search.train, search.evaluation] : [];
  rows.warnings.push(...groupWarnings(grouped, 'row', [...searched, deciding]));
  await checkExpected(rows, [...deciding, ...searched.flat()], path);
  return { grouped, split };
}

/** Evaluations of what is live on the rows that decide. */
export const gateOf = (seeds: number[], { messages }: JobRows, maxConcurrent: number): RowsGate => ({
  seeds,
  inputs: messages,
  maxConcurrent,
  rolloutTimeoutS: 120,
  maxFailureRate: 0.5,
  preflight: true,
});

/** What a request says of its search. */
export interface SearchRequest {
  proposer?: PolicyRequest | undefined;
  budget?:
    | { max_rollouts?: number | undefined; max_minutes?: number | undefined; max_cost_usd?: number | undefined }
    | undefined;
  max_concurrent: number;
}

/** A search from the live messages on a model; its refusals are of `/policy_optimization`. */
export function liveSession(
  checks: HttpDeps,
  { prompt, policy, rows, split }: { prompt: LivePrompt; policy: PolicySpec; rows: JobRows; split: SeedSplit },
  { proposer, budget, max_concurrent }: SearchRequest,
): { session: SessionSpec; warnings: string[] } {
  const { provider, model, params } = policy;
  const wanted = optimizationFieldsSchema.parse({
    algorithm: 'gepa',
    gepa: usualSearch,
    policy: { ...params, provider, model },
    ...(proposer && { proposer }),
    budget: { max_rollouts: usualRollouts, ...budget },
    max_concurrent,
  });
  const messages = [...prompt.messages, ...rows.messages];
  const request = { ...wanted, dataset: undefined };
  const session = sessionSpec(request, checks, { spec: rows.spec, messages, split, warnings: [] });
  return { session, warnings: prompt.demos.length === 0 ? [] : [noDemos] };
}

const noDemos =
  'The session begins without the demonstrations of the live prompt, and chooses its own; the comparison of the live prompt has them.';

/** The fewest different rows of a search, half of which decide. */
export const leastToSearch = leastRowsToSplit;

/** Warns where even equal rewards on all rows cannot show that a difference is small enough. */
export function reachWarnings(count: number, most: number, field: 'max_loss' | 'max_change'): string[] {
  const least = leastRows(most);
  if (count >= least) return [];
  const shown =
    field === 'max_loss'
      ? `show a loss of at most ${most} only if the new model is better`
      : `cannot show that they are the same within ${most}`;
  return [
    `${count} rows decide. Right and wrong answers on so few rows ${shown}; ${least} equal rows would show it. Give more rows or a larger ${field}.`,
  ];
}

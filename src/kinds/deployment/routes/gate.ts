import type { FastifyRequest } from 'fastify';
import { scorerSpec } from '../../../scorers/index.js';
import type { GateRequest } from '../contract/deployment.js';
import type { DeploymentSource, DeploymentSpec, SessionSpec } from '../../../core/jobs/spec.js';
import { callerMessages, columnFinder, inputName, servedMessages } from '../../../core/prompts/row-template.js';
import type { IsInput } from '../../../core/prompts/template.js';
import { groupRows, type RowContent } from '../../../core/prompts/row-groups.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { checkExpected, jobRows, rowContents } from '../../../datasets/routes/job-rows.js';
import { rowSource, type RowSource } from '../../../datasets/routes/row-source.js';
import { scorerChecks } from '../../../datasets/routes/scorer-errors.js';
import type { HttpDeps } from '../../../platform/http/deps.js';
import { containerSpec, seedErrors } from '../../../jobs/routes/specs.js';
import { refuse } from '../../../platform/http/server/errors.js';
import { requireServable, type ResolvedSource } from './source.js';

type Judged = Pick<DeploymentSpec, 'source' | 'gate' | 'container' | 'rows'>;

/** The most seeds of a gate. */
const maxSeeds = 10_000;

/** The gate's part of a spec; throws if it is invalid. `keep`: in the transaction of the job. */
export async function gateSpec(
  deps: HttpDeps,
  request: FastifyRequest,
  gate: GateRequest,
  resolved: ResolvedSource,
): Promise<{ judged: Judged; keep?: RowSource['keep'] }> {
  const common = {
    minReward: gate.min_reward ?? null,
    minImprovement: gate.min_improvement ?? null,
    maxConcurrent: gate.max_concurrent,
    rolloutTimeoutS: gate.rollout_timeout,
    maxFailureRate: gate.max_failure_rate,
    preflight: gate.preflight,
    ...(gate.answer_cache && { answerCache: 'deterministic' as const }),
  };
  if (gate.dataset) {
    const { source, keep, rows, ...chosen } = await gateRows(deps, request, gate, resolved);
    return { judged: { source, rows, container: null, gate: { ...common, ...chosen } }, keep };
  }
  const url = gate.container_url!;
  const reason = deps.checkContainerUrl(url);
  if (reason !== null) throw invalid('container_url', reason);
  const container = containerSpec(gate, url, gate.env_name ?? null);
  return { judged: { source: resolved.source, container, gate: { ...common, seeds: gate.seeds! } } };
}

async function gateRows(
  deps: HttpDeps,
  request: FastifyRequest,
  { dataset, scorer, seeds: wanted }: GateRequest,
  { source, prompt }: ResolvedSource,
) {
  if (!prompt) {
    const what = source.kind === 'graph' ? 'a graph' : "a graph, or a prompt of spans inside its container's calls";
    throw invalid('dataset', `needs a prompt of messages, and the source is ${what}: use container_url`);
  }
  const field = fieldOf(source);
  const stored = await rowSource(deps, request.caller.orgId, dataset!, ['gate', 'dataset']);
  const { messages, provider } = prompt;
  const columnOf = columnFinder(
    stored.dataset.columns.map(({ name }) => name),
    dataset!.input,
  );
  const isInput: IsInput = prompt.isInput ?? ((name) => name === inputName || columnOf(name) !== null);
  requireServable(messages, isInput, field);
  const session = await sessionOf(deps, request, source);
  const judging = scorer ? scorerSpec(scorer, provider) : session?.rows?.scorer;
  if (!judging) throw invalid('scorer', 'is required: the source is no session on a data set');
  const promptPath = ['source', field];
  const fields = {
    dataset: dataset!,
    scorer: judging,
    provider,
    messages: callerMessages(messages, isInput),
    promptPath,
  };
  const rows = jobRows(stored, scorerChecks(deps, request.caller.orgId), fields, ['gate']);
  const { datasetId, numRows } = rows.spec;
  const seeds = wanted ?? unusedRows(session, datasetId, await rowContents(rows));
  const errors = seedErrors(numRows, [{ path: ['gate', 'seeds'], seeds }]);
  if (errors.length > 0) throw refuse.invalid(errors);
  await checkExpected(rows, seeds, ['gate']);
  // Callers bring these messages.
  const served = 'messages' in source && source.messages && servedMessages(source.messages, isInput);
  return {
    source: { ...source, ...(served && { messages: served }) },
    rows: rows.spec,
    seeds,
    inputs: rows.messages,
    keep: stored.keep,
  };
}

/** The field with the prompt of a source. */
function fieldOf(source: DeploymentSource): string {
  if ('messages' in source && source.messages) return 'messages';
  return source.kind === 'deployment' ? 'deployment' : 'session_id';
}

/** The session of a source; null: it has none. */
async function sessionOf(
  { db }: HttpDeps,
  { caller: { orgId } }: FastifyRequest,
  source: DeploymentSource,
): Promise<SessionSpec | null> {
  return source.kind === 'session' ? db.org(orgId, (tx) => readSpec<SessionSpec>(tx, source.jobId)) : null;
}

/** The distinct rows whose input a session did not search on; without a session, all. */
function unusedRows(spec: SessionSpec | null, datasetId: string, contents: readonly RowContent[]): number[] {
  const { trainSeeds = [], evaluationSeeds = [] } = spec?.rows?.datasetId === datasetId ? spec.search : {};
  const used = new Set([...trainSeeds, ...evaluationSeeds]);
  const unused = groupRows(contents)
    .groups.filter((group) => !group.some((row) => used.has(row)))
    .flat();
  if (unused.length === 0) throw invalid('seeds', 'is required: the session searched on all rows of this data set');
  if (unused.length > maxSeeds) {
    throw invalid('seeds', `is required: ${unused.length} rows are left, and a gate runs at most ${maxSeeds}`);
  }
  return unused;
}

function invalid(field: string, message: string) {
  return refuse.invalid([{ pointer: `/gate/${field}`, message }]);
}

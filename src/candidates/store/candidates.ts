import { componentTexts } from '../../core/prompts/components.js';
import type { Demo } from '../../core/prompts/demos.js';
import type { EditJson, GraphJson } from '../../kinds/graph/contract/graph.js';
import { promptTokens } from '../../core/prompts/length.js';
import type { Message } from '../../core/prompts/message.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import type { JobRef } from '../../jobs/store/events.js';
import type { SessionProjection } from '../../jobs/store/projection.js';
import { toJsonb } from '../../platform/db/json.js';
import { componentDigests } from './levers.js';
import { graphTexts } from '../../core/graphs/components.js';
import { graphFromJson } from '../../core/graphs/json.js';
import { candidateId } from '../../core/jobs/ids.js';

/**
 * A candidate to store. `messages` null: the baseline's prompt is not known yet. `demos` absent:
 * the search has no demonstrations.
 */
export interface NewCandidate {
  leverVersion: number;
  generation: number;
  parents: number[];
  messages: Message[] | null;
  demos?: Demo[];
  /** Graph jobs: instead of messages. */
  graph?: GraphJson;
  /** The edits of the parent's graph that made this graph. */
  edits?: EditJson[];
  detail?: Record<string, unknown>;
}

/** Stores a candidate unless it exists. */
export async function addCandidate(tx: Tx, job: JobRef, candidate: NewCandidate): Promise<void> {
  await tx.query(
    `insert into candidates (id, org_id, job_id, lever_version, generation, parent_ids, status, messages, detail, component_digests, demos, graph, edits)
     values ($1, $2, $3, $4, $5, $6, 'proposed', $7, $8, $9, $10, $11, $12) on conflict (id) do nothing`,
    [
      candidateId(job.jobId, candidate.leverVersion),
      job.orgId,
      job.jobId,
      candidate.leverVersion,
      candidate.generation,
      candidate.parents.map((parent) => candidateId(job.jobId, parent)),
      candidate.messages && toJsonb(candidate.messages),
      toJsonb(candidate.detail ?? {}),
      digestsOf(candidate.messages, candidate.demos ?? null),
      candidate.demos ? toJsonb(candidate.demos) : null,
      candidate.graph ? toJsonb(candidate.graph) : null,
      candidate.edits ? toJsonb(candidate.edits) : null,
    ],
    'add_candidate',
  );
}

const prompt = `messages, coalesce(demos, '[]') as demos, graph`;

export async function readPrompts(tx: Tx, jobId: string): Promise<Map<number, Message[] | null>> {
  const rows = await tx.query<{ lever_version: number; messages: Message[] | null }>(
    'select lever_version, messages from candidates where job_id = $1 order by lever_version',
    [jobId],
  );
  return new Map(rows.map((row) => [row.lever_version, row.messages]));
}

/** A candidate's prompt, or its graph in a graph job. `messages` null: not known yet. */
export interface StoredPrompt {
  messages: Message[] | null;
  demos: Demo[];
  graph: GraphJson | null;
}

/** A candidate's texts by component; empty while its prompt is not known. */
export function candidateTexts({
  messages,
  graph,
}: Pick<StoredPrompt, 'messages'> & { graph?: GraphJson | null }): Record<string, string> {
  return graph ? graphTexts(graphFromJson(graph)) : componentTexts(messages);
}

/** A candidate's prompt and the lever versions of its parents. */
export interface PooledCandidate extends StoredPrompt {
  parents: number[];
}

/** All candidates by lever version, ascending. */
export async function readPool(tx: Tx, jobId: string): Promise<Map<number, PooledCandidate>> {
  const rows = await tx.query<{ id: string; version: number; parents: string[] } & StoredPrompt>(
    `select id, lever_version as version, parent_ids as parents, ${prompt}
       from candidates where job_id = $1 order by lever_version`,
    [jobId],
    'read_pool',
  );
  const versions = new Map(rows.map(({ id, version }) => [id, version]));
  return new Map(
    rows.map(({ version, parents, messages, demos, graph }) => {
      const known = parents.map((parent) => versions.get(parent)).filter((parent) => parent !== undefined);
      return [version, { messages, demos, graph, parents: known }];
    }),
  );
}

/** The lengths of prompts with their demonstrations, in estimated tokens, by candidate id. */
export async function readPromptTokens(tx: Tx, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.query<{ id: string } & StoredPrompt>(
    `select id, ${prompt} from candidates where id = any($1)`,
    [ids],
  );
  return new Map(rows.map(({ id, messages, demos }) => [id, promptTokens(messages ?? [], demos)]));
}

/** The prompts of candidates with open rollouts, by lever version. */
export async function readOpenPrompts(tx: Tx, jobId: string): Promise<Map<number, StoredPrompt>> {
  const rows = await tx.query<{ version: number } & StoredPrompt>(
    `select lever_version as version, ${prompt} from candidates
      where id = any(array(select distinct candidate_id from rollouts where job_id = $1 and completed_at is null))`,
    [jobId],
    'read_open_prompts',
  );
  return new Map(rows.map(({ version, messages, demos, graph }) => [version, { messages, demos, graph }]));
}

/** Sets the baseline's prompt unless it is known. A baseline has no demonstrations. */
export async function setBaseline(tx: Tx, jobId: string, messages: Message[]): Promise<void> {
  await tx.query(
    `update candidates set messages = $2, component_digests = case when demos is null then $3::jsonb else $4::jsonb end
      where id = $1 and messages is null`,
    [candidateId(jobId, 0), toJsonb(messages), digestsOf(messages, null), digestsOf(messages, [])],
  );
}

function digestsOf(messages: Message[] | null, demos: Demo[] | null): string | null {
  const digests = componentDigests(messages, demos);
  return digests && toJsonb(digests);
}

const projection = jsonFields<SessionProjection>('projection');

/** Whether the session's container marks the components as spans. */
export async function readMarked(tx: Tx, jobId: string): Promise<boolean> {
  const [row] = await tx.query<{ marked: boolean }>(
    `select coalesce(${projection.text('leversMarked')}::boolean, false) as marked from jobs where id = $1`,
    [jobId],
  );
  return row?.marked ?? false;
}

/** Records that the session's container marks the components as spans. */
export async function markLevers(tx: Tx, jobId: string): Promise<void> {
  const marked: SessionProjection = { leversMarked: true };
  await tx.query('update jobs set projection = projection || $2::jsonb where id = $1', [jobId, toJsonb(marked)]);
}

/** A candidate's graph; null: the job has no such candidate. */
export async function readGraph(tx: Tx, jobId: string, candidate: string): Promise<GraphJson | null> {
  const [row] = await tx.query<{ graph: GraphJson | null }>(
    'select graph from candidates where job_id = $1 and id = $2',
    [jobId, candidate],
  );
  return row?.graph ?? null;
}

/** The number of a job's candidates. */
export async function countCandidates(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    'select count(*)::int as count from candidates where job_id = $1',
    [jobId],
    'count_candidates',
  );
  return row!.count;
}

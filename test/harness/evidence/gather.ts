import { eventsOf } from '../../support/jobs-over-http.js';
import { openTraces } from '../../support/otlp.js';
import type { CallRow, JobEvidence, RolloutRow, SeenEvent } from './evidence.js';
import type { Job } from '../jobs/jobs.js';
import { isOfClient, keyOf, rolloutOf } from '../jobs/keys.js';
import { gatherDeployment } from './gather-deployment.js';
import type { ModelLine } from './ledger.js';
import type { World } from '../worlds/world.js';

/** Reads the evidence about an ended job from service, database, Temporal and ledgers. */
export async function gather(world: World, job: Job, model: ModelLine[]): Promise<JobEvidence> {
  const { name, id, answered, kind, maxConcurrent, seeds, mayEnd, outside } = job;
  const [row] = await world.sql<{ status: string; code: string | null; completed: number | null; seq: number }>(
    `select status, error_details->>'code' as code, extract(epoch from completed_at)::float8 * 1000 as completed,
            event_seq::int as seq
       from jobs join job_controls on job_id = id where id = $1`,
    [id],
  );
  if (!row) throw new Error(`${id} is not in the database`);
  const isDeployment = kind === 'deployment';
  const view = await world.api.call<{ rollouts_resent?: number }>('GET', job.path);
  return {
    name,
    id,
    answered,
    kind,
    maxConcurrent,
    seeds,
    mayEnd,
    outside,
    hasContainer: job.container !== null,
    status: row.status,
    errorCode: row.code,
    completedAt: row.completed,
    eventSeq: row.seq,
    rollouts: await rollouts(world, id),
    frames: await world.sql(
      `select trace_ids as traces, (rollout->>'count')::int as count from sensor_frames where job_id = $1 order by ordinal`,
      [id],
    ),
    events: await world.sql('select seq::int, type, key, message, data from events where job_id = $1 order by seq', [
      id,
    ]),
    calls: await calls(world, id),
    pages: await pages(world, job),
    streams: job.readers.map(({ name: reader, events, cuts, ended }) => ({ reader, events, cuts, ended })),
    results: kind === 'evaluation' ? await results(world, job) : null,
    traces: isDeployment ? [] : await traces(world, job),
    resent: view.rollouts_resent ?? 0,
    workflow: await world.temporal(
      async (client) => (await client.workflow.getHandle(job.workflowId).describe()).status.name,
    ),
    // A gate's evaluations own the calls to its container.
    container: isDeployment ? [] : (job.container?.lines() ?? []),
    trapped: job.container?.trapped() ?? false,
    bought: model.filter((line) => isBoughtBy(job, line)),
    deployment: isDeployment ? await gatherDeployment(world, job) : null,
  };
}

/** A round's models are named after its jobs; a gate's containers call the candidate's model. */
function isBoughtBy({ name, id }: Job, { key, job }: ModelLine): boolean {
  const rollout = rolloutOf(key);
  return rollout === null ? !isOfClient(key) && job === name : rollout.startsWith(`rol_${id.slice(4)}_`);
}

const rollouts = (world: World, id: string) =>
  world.sql<RolloutRow>(
    `select id, seed::int, status, started_at is not null as began, attempt, resent, reward, error->>'code' as code, error->>'message' as message,
            details->'output' as output, extract(epoch from completed_at)::float8 * 1000 as "completedAt"
       from rollouts where job_id = $1 order by ordinal`,
    [id],
  );

async function calls(world: World, id: string): Promise<CallRow[]> {
  const rows = await world.sql<Omit<CallRow, 'key'> & { messages: { role: string; content: string }[] }>(
    `select id, purpose, rollout_id as "rolloutId", request->'messages' as messages, http_status as "httpStatus",
            coalesce(response->>'text', response->'choices'->0->'message'->>'content') as text,
            extract(epoch from created_at)::float8 * 1000 as "createdAt"
       from model_calls where job_id = $1 order by created_at`,
    [id],
  );
  return rows.map(({ messages, ...row }) => ({ ...row, key: keyOf(messages) }));
}

async function pages(world: World, { id }: Job): Promise<SeenEvent[]> {
  const events = await eventsOf(world, id, 50);
  return events.map(({ seq, type, message, data }) => ({ seq, type, message, data: { ...data } }));
}

async function results(world: World, job: Job): Promise<JobEvidence['results']> {
  interface Result {
    seed: number;
    status: string;
    reward: number | null;
    error: string | null;
    trace_id: string;
  }
  const said = await world.api.call<{ results: Result[] }>('GET', `${job.path}/results`);
  return said.results.map(({ trace_id: traceId, seed, status, reward, error }) => ({
    seed,
    status,
    reward,
    error,
    traceId,
  }));
}

async function traces(world: World, job: Job): Promise<JobEvidence['traces']> {
  const answer = await fetch(`${world.url}${job.path}/traces`, {
    headers: { authorization: `Bearer ${world.apiKey}` },
  });
  if (!answer.ok) throw new Error(`the archive of ${job.id} answered ${answer.status}`);
  const { json } = await openTraces(Buffer.from(await answer.arrayBuffer()));
  return json.map(({ text }) => {
    const { trace_id, status, reward, resent, calls } = JSON.parse(text) as {
      trace_id: string;
      status: string;
      reward: number | null;
      resent: number;
      calls: { call_id: string }[];
    };
    return { id: trace_id, status, reward, resent, calls: calls.map((call) => call.call_id) };
  });
}

import type { SearchSettings, SeedFields } from '../../core/algorithms/index.js';
import type { EmptyCounts } from '../../core/answers/empty-answers.js';
import type { QueryResultRow } from 'pg';
import { v7 as uuidv7 } from 'uuid';
import type {
  CheckupSpec,
  EvaluationSpec,
  GraphSpec,
  MigrationSpec,
  RowsSpec,
  SessionSpec,
  StoredSpec,
} from '../../core/jobs/spec.js';
import type { Labels, Marks } from '../../contracts/labels.js';
import { datasetNameOf } from '../../datasets/store/datasets.js';
import type { ScorerSpec } from '../../scorers/index.js';
import type { VerifierSpec } from '../../scorers/verifier.js';
import { comparableOf } from '../../core/jobs/instances.js';
import { jobKinds, kindOf, type JobKind } from '../../core/jobs/kinds.js';
import type { SinceStep } from '../../core/jobs/phase.js';
import type { Status } from '../../core/jobs/status.js';
import { lastCommandOf, type LastCommand } from './commands.js';
import { openCostBudget } from './cost-budget.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import { toJsonb } from '../../platform/db/json.js';
import type { EvaluationProjection, SessionProjection } from './projection.js';
import { webhookOf, type WebhookState } from './webhooks.js';
import { positionColumn } from '../../platform/db/positions.js';
import { insertLabels } from './labels.js';
import { JobPage, type JobFilter } from './list-pages.js';
import { keyOf, type NamedKey } from './named-keys.js';
import type { Stuck } from './stuck.js';
import { requestShard } from './usage.js';
import type { JobFault } from '../../core/jobs/fault.js';

/** A new job id: the kind's prefix and a UUIDv7 without dashes, so that ids sort by time. */
export function newJobId(kind: JobKind): string {
  return jobKinds[kind].prefix + uuidv7().replaceAll('-', '');
}

/** The job that a clone was made from, and the candidate that it began with. */
export interface JobOrigin {
  jobId: string;
  candidateId: string | null;
}

/** The columns of a new job. */
export interface NewJob {
  jobId: string;
  orgId: string;
  kind: JobKind;
  workflowId: string;
  /** The key that creates it; null: the service makes it as a part of a deployment. */
  keyId: string | null;
  algorithm: string | null;
  correlationId: string | null;
  /** The job that starts it; absent: none. */
  parentId?: string;
  branchedFrom?: JobOrigin | undefined;
  spec: StoredSpec;
  /** The request, for clones; absent: it cannot be cloned. */
  request?: object | undefined;
  /** Bytes of rows of a data set that are stored again with the job; default: 0. */
  copiedBytes?: number | undefined;
  /** Pending until started; default: it runs at once. */
  pending?: boolean;
  /** Left out of lists from the start; default: false. */
  archived?: boolean;
  /** Default: none. */
  warnings?: string[];
  /** Default: none. */
  labels?: Labels;
}

/** Bytes of the request that makes a job, and of the rows that it copies. */
export function sizeOf({ request, spec, copiedBytes = 0 }: Pick<NewJob, 'request' | 'spec' | 'copiedBytes'>): number {
  return Buffer.byteLength(JSON.stringify(request ?? spec)) + copiedBytes;
}

export async function hasJob(tx: Tx, { jobId }: { jobId: string }): Promise<boolean> {
  return (await tx.query('select 1 from jobs where id = $1', [jobId])).length > 0;
}

/** Stores a job and its control row. The reconciler starts its workflow if the start is lost. */
export async function insertJob(tx: Tx, job: NewJob): Promise<void> {
  await tx.query(
    `with job as (
       insert into jobs (id, org_id, kind, algorithm, status, workflow_id, correlation_id, spec, projection, warnings,
         name, tags, metadata, notes, request, key_id, parent_id, archived, branched_from, branched_candidate)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $18, $19, $20, $21) returning id, org_id
     ), sized as (
       insert into job_usage (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd, unpriced,
                              from_table, answered, cached, bytes)
       select id, org_id, ${requestShard}, 0, 0, 0, 0, 0, 0, 0, 0, $17::bigint from job
     )
     insert into job_controls (job_id, org_id) select id, org_id from job`,
    [
      job.jobId,
      job.orgId,
      job.kind,
      job.algorithm,
      job.pending ? 'pending' : 'running',
      job.workflowId,
      job.correlationId,
      toJsonb(job.spec),
      toJsonb(('seeds' in job.spec ? { total: job.spec.seeds.length } : {}) satisfies EvaluationProjection),
      job.warnings ?? [],
      job.labels?.name ?? null,
      job.labels?.tags ?? [],
      toJsonb(job.labels?.metadata ?? {}),
      job.labels?.notes ?? null,
      job.request ? toJsonb(job.request) : null,
      job.keyId,
      sizeOf(job),
      job.parentId ?? null,
      job.archived ?? false,
      job.branchedFrom?.jobId ?? null,
      job.branchedFrom?.candidateId ?? null,
    ],
  );
  const { spec } = job;
  if (spec.kind === 'session' || spec.kind === 'evaluation')
    await setComparable(tx, job.jobId, comparableOf(job.jobId, spec, null));
  if (job.labels) await insertLabels(tx, job.jobId, job.labels);
  const maxUsd = 'budget' in job.spec ? job.spec.budget?.maxCostUsd : null;
  if (maxUsd != null) await openCostBudget(tx, job, maxUsd);
}

/** Stores with which jobs a job is comparable; see `comparableOf`. */
export async function setComparable(tx: Tx, jobId: string, comparable: string | null): Promise<void> {
  await tx.query(
    `update jobs set comparable_key = left(encode(sha256(convert_to($2, 'UTF8')), 'hex'), 24) where id = $1`,
    [jobId, comparable],
    'set_comparable',
  );
}

/** A job's spec without fields that grow with the request: seeds, prompts, env_config, scoring. */
type RowsHead = { rows?: Omit<RowsSpec, 'scorer'> & { scorer: Pick<ScorerSpec, 'type'> } };
export type SessionHead = Omit<SessionSpec, 'search' | 'initialPrompt' | 'rows'> &
  RowsHead & {
    search: Omit<SearchSettings, SeedFields>;
  };
export type EvaluationHead = Omit<EvaluationSpec, 'seeds' | 'candidate' | 'rows'> &
  RowsHead & {
    candidate: { sessionId: string | null; candidateId: string | null } | null;
  };
export type GraphHead = Omit<GraphSpec, 'search' | 'initialGraph' | 'description' | 'verifier' | 'unused'> & {
  search: Omit<SearchSettings, SeedFields>;
  verifier: Pick<VerifierSpec, 'type'>;
};
export type MigrationHead = Omit<MigrationSpec, 'gate' | 'session' | 'rows'> & RowsHead;
export type CheckupHead = Omit<CheckupSpec, 'parts' | 'improve'> & {
  improve: Omit<NonNullable<CheckupSpec['improve']>, 'session'> | null;
};
export type JobHead = SessionHead | EvaluationHead | GraphHead;

/** A stored job. */
export interface JobRow<Head = JobHead> extends Marks {
  jobId: string;
  orgId: string;
  kind: JobKind;
  createdBy: NamedKey;
  branchedFrom: JobOrigin | null;
  status: Status;
  workflowId: string;
  workflowStarted: boolean;
  lastCommand: LastCommand | null;
  correlationId: string | null;
  spec: Head;
  /** null: none, or the job has no data set. */
  datasetName: string | null;
  numSeeds: number;
  projection: SessionProjection;
  /** Rollouts with an outcome, as the events count them. */
  rolloutsCompleted: number;
  /** Of an open search; see `phaseOfSearch`. */
  sinceStep: SinceStep;
  /** The succeeded ones: range of the rewards (null: none), with feedback, without an answer. */
  scored: { rollouts: number; withFeedback: number; low: number | null; high: number | null; empty: EmptyCounts };
  errorDetails: JobFault | null;
  stoppedBy: string | null;
  stuck: Stuck | null;
  warnings: string[];
  webhook: WebhookState | null;
  /** Whether its age has removed them. */
  tracesExpired: boolean;
  eventsExpired: boolean;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
}

const spec = jsonFields<Exclude<StoredSpec, { kind: 'deployment' }>>('spec');
const small = spec.without(
  ['seeds'],
  ['initialPrompt'],
  ['initialGraph'],
  ['description'],
  ['unused'],
  ['gate'],
  ['session'],
  ['parts'],
  ['improve', 'session'],
  ['search', 'trainSeeds'],
  ['search', 'evaluationSeeds'],
  ['search', 'heldoutSeeds'],
  ['candidate', 'messages'],
  ['candidate', 'demos'],
  ['container', 'envConfig'],
);
const head = spec.typesOnly(small, ['verifier'], ['rows', 'scorer']);

/** Sums of candidates are read where a mean is shown: a search has up to 2,000. */
const sinceStep = `(select json_build_object('rollouts', c.rollouts_succeeded + c.rollouts_failed - jobs.rollouts_counted,
    'rewardSum', case when status in ('pending', 'running', 'paused') and projection->'phase'->>'name' in ('baseline', 'evaluation')
      then c.reward_sum - coalesce((select sum(reward_sum) from candidates where job_id = jobs.id), 0) else 0 end)
  from job_controls c where c.job_id = jobs.id)`;

const columns = `id as "jobId", org_id as "orgId", kind, ${keyOf('jobs.key_id')} as "createdBy",
  case when branched_from is not null then json_build_object('jobId', branched_from, 'candidateId', branched_candidate) end as "branchedFrom",
  status, workflow_id as "workflowId",
  (select ${lastCommandOf('c')} from job_controls c where c.job_id = jobs.id) as "lastCommand",
  workflow_started as "workflowStarted", correlation_id as "correlationId", name, tags, metadata, notes, archived,
  ${head} as spec, ${datasetNameOf('jobs')} as "datasetName",
  coalesce(jsonb_array_length(${spec.json('seeds')}), 0) as "numSeeds", projection,
  (select rollouts_succeeded + rollouts_failed from job_controls where job_id = jobs.id) as "rolloutsCompleted", ${sinceStep} as "sinceStep",
  (select json_build_object('rollouts', rollouts_succeeded, 'withFeedback', rollouts_with_feedback,
            'low', reward_low, 'high', reward_high, 'empty', empty_answers)
     from job_controls where job_id = jobs.id) as scored,
  error_details as "errorDetails",
  stopped_by as "stoppedBy", stuck, warnings, ${webhookOf('jobs.id')} as webhook,
  traces_expired as "tracesExpired", events_expired as "eventsExpired", created_at as "createdAt", started_at as "startedAt", completed_at as "completedAt"`;

/** A job of the organization; null: none, a deleted one, or a malformed id. */
export async function readJob<Head>(tx: Tx, jobId: string): Promise<JobRow<Head> | null> {
  if (kindOf(jobId) === null) return null;
  const [row] = await tx.query<JobRow<Head> & QueryResultRow>(
    `select ${columns} from jobs where id = $1 and not deleted`,
    [jobId],
  );
  return row ?? null;
}

/** A job of a list. `meanReward`: of the succeeded rollouts; null: there are none. */
export type ListedJob<Head> = JobRow<Head> & { meanReward: number | null; position: string };

/** The mean that is kept at the end of an evaluation; before, of the sum so far. */
const meanReward = `coalesce((totals->>'meanReward')::float8,
  (select reward_sum / nullif(rollouts_succeeded, 0) from job_controls where job_id = jobs.id))`;

/** Jobs by their ids, in any order; without those that are gone. */
export function readJobs(tx: Tx, ids: readonly string[]): Promise<ListedJob<JobHead>[]> {
  return tx.query<ListedJob<JobHead> & QueryResultRow>(
    `select ${columns}, ${meanReward} as "meanReward", ${positionColumn} from jobs where id = any($1) and not deleted`,
    [ids],
  );
}

/** A page of jobs, newest first. */
export async function listJobs<Head>(tx: Tx, filter: JobFilter, limit: number): Promise<ListedJob<Head>[]> {
  const page = new JobPage(filter);
  return tx.query<ListedJob<Head> & QueryResultRow>(
    `select ${columns}, ${meanReward} as "meanReward", ${positionColumn} from jobs
      where id = any(array(${page.ids({ limit })})) order by created_at desc, id desc`,
    page.values,
  );
}

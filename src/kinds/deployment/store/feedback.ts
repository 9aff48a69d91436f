/** What callers report of answers. The first value of a metric counts for an answer or episode. */
import { v7 as uuid } from 'uuid';
import { keptMs, startOf, widths, type Width } from '../../../core/deployments/periods.js';
import type { Answered as AnsweredById } from './answer-ids.js';
import { keepForCanary } from './canary-values.js';
import type { Sample } from '../../../core/math/statistics.js';
import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import { positionColumn, type Position } from '../../../platform/db/positions.js';

export type MetricValue = number | boolean;

export interface FeedbackContent {
  reward?: MetricValue | undefined;
  metrics?: Record<string, MetricValue> | undefined;
  comment?: string | undefined;
  corrected?: string | undefined;
}

export interface Feedback extends Record<string, unknown> {
  id: string;
  deploymentId: string;
  answerId: string | null;
  correlationId: string | null;
  key: string;
  /** Answers of the episode, and deployments that gave them. */
  answers: number;
  deployments: number;
  content: FeedbackContent;
  createdAt: Date;
}

/** An answer or an episode of a name; `deploymentId`: of this deployment alone. */
export interface FeedbackSubject {
  orgId: string;
  name: string;
  deploymentId: string | null;
  /** `answered`: by the signed id; null: no answer had it. */
  about: { answerId: string; answered: AnsweredById | null } | { correlationId: string };
  /** Who asked for an answer. */
  unitOf: (answerId: string) => string | null;
}

/**
 * `uncounted`: metrics that an earlier report counts for. `full`: there is no room for a further
 * report of the subject, or for a further metric of the deployment.
 */
export type FeedbackOutcome =
  | { is: 'recorded' | 'duplicate'; feedback: Feedback; uncounted: string[] }
  | { is: 'unknown' }
  | { is: 'full'; of: 'reports' | 'metrics' }
  | { is: 'conflict'; feedback: Feedback };

export const mostReports = 100;
export const mostMetrics = 100;
/** Answers of an episode that are read, from the latest on. */
const mostAnswers = 1_000;

const columns = `id, deployment_id as "deploymentId", answer_id as "answerId", correlation_id as "correlationId", key, answers,
  deployments, content, created_at as "createdAt"`;

/** Records a report, once for each key. */
export async function recordFeedback(
  tx: Tx,
  subject: FeedbackSubject,
  { key, content }: { key: string; content: FeedbackContent },
): Promise<FeedbackOutcome> {
  const { orgId, name, about } = subject;
  const answered = await findAnswers(tx, subject);
  if (!answered) return { is: 'unknown' };
  const [answerId, correlationId] = 'answerId' in about ? [about.answerId, null] : [null, about.correlationId];
  const turn = takeTurn(tx, [orgId, name, answerId, correlationId]);
  const stored = { key, answerId, correlationId, within: correlationId === null ? '' : (subject.deploymentId ?? '') };
  const [, known] = await Promise.all([turn, readReports(tx, name, stored, content)]);
  const same = known.find((report) => report.key === key && report.within === stored.within);
  const values = Object.entries(valuesOf(content));
  const ofDeployment = known.filter(
    ({ id, deployments, deploymentId }) =>
      deployments === 1 && deploymentId === answered.deploymentId && (!same || id < same.id),
  );
  const earlier = new Set(ofDeployment.flatMap(({ metrics }) => metrics));
  const uncounted = values.flatMap(([metric]) => (earlier.has(metric) ? [metric] : []));
  if (same) {
    const [feedback] = await tx.query<Feedback>(`select ${columns} from deployment_feedback where id = $1`, [same.id]);
    return same.isSame ? { is: 'duplicate', feedback: feedback!, uncounted } : { is: 'conflict', feedback: feedback! };
  }
  if (known.length >= mostReports) return { is: 'full', of: 'reports' };
  // An episode of several deployments says nothing about one of them.
  const counted = answered.deployments > 1 ? [] : values.filter(([metric]) => !earlier.has(metric));
  if (!(await hasRoom(tx, answered.deploymentId, counted))) return { is: 'full', of: 'metrics' };
  const unit = counted.length > 0 ? subject.unitOf(answered.answerId) : null;
  if (unit !== null) {
    const numbers = counted.map(([metric, value]) => [metric, Number(value)] as const);
    await keepForCanary(tx, orgId, { name, ...answered, unit, values: numbers });
  }
  // Together: reports of a deployment wait for its metrics.
  const [feedback] = await Promise.all([
    insertFeedback(tx, subject, answered, { ...stored, content }),
    addMetrics(tx, orgId, answered, counted),
  ]);
  return { is: 'recorded', feedback, uncounted };
}

/** Reports of one subject take turns. */
export function takeTurn(tx: Tx, subject: readonly (string | null)[]): Promise<unknown> {
  const lock = JSON.stringify(subject);
  return tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock], 'feedback_turn');
}

interface StoredReport {
  key: string;
  answerId: string | null;
  correlationId: string | null;
  /** The deployment whose answers of the episode are meant; empty: those of the name. */
  within: string;
}

interface KnownReport extends Record<string, unknown> {
  id: string;
  key: string;
  within: string;
  deploymentId: string;
  deployments: number;
  /** Those with a value. */
  metrics: string[];
  /** Whether it has this content. */
  isSame: boolean;
}

/** The reports of an answer or an episode, without their texts. */
function readReports(
  tx: Tx,
  name: string,
  { answerId, correlationId }: StoredReport,
  content: FeedbackContent,
): Promise<KnownReport[]> {
  return tx.query<KnownReport>(
    `select id, key, within, deployment_id as "deploymentId", deployments, content = $3::jsonb as "isSame",
            array(select jsonb_object_keys(coalesce(content->'metrics', '{}')))
              || case when content ? 'reward' then array['reward'] else '{}' end as metrics
       from deployment_feedback
      where org_id = current_setting('app.org') and name = $1 and ${answerId === null ? 'correlation_id = $2 and answer_id is null' : 'answer_id = $2'}`,
    [name, answerId ?? correlationId, toJsonb(content)],
    answerId === null ? 'reports_of_episode' : 'reports_of_answer',
  );
}

export async function insertFeedback(
  tx: Tx,
  { orgId, name }: Pick<FeedbackSubject, 'orgId' | 'name'>,
  { deploymentId, answers, deployments }: Omit<Answered, 'at' | 'answerId'>,
  { answerId, correlationId, within, key, content }: StoredReport & { content: FeedbackContent },
): Promise<Feedback> {
  const id = `fdb_${uuid().replaceAll('-', '')}`;
  const [feedback] = await tx.query<Feedback>(
    `insert into deployment_feedback (id, org_id, deployment_id, name, answer_id, correlation_id, within, key, answers, deployments, content)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${columns}`,
    [id, orgId, deploymentId, name, answerId, correlationId, within, key, answers, deployments, toJsonb(content)],
    'insert_feedback',
  );
  return feedback!;
}

interface Answered {
  /** The last answer, what gave it, and when. */
  answerId: string;
  deploymentId: string;
  at: Date;
  answers: number;
  deployments: number;
}

/** What answered; null: nothing did, or it was deleted. */
async function findAnswers(tx: Tx, { name, deploymentId, about }: FeedbackSubject): Promise<Answered | null> {
  if ('answerId' in about) {
    const [row] = await tx.query<Omit<Answered, 'at' | 'answerId'> & Record<string, unknown>>(
      `select id as "deploymentId", 1 as answers, 1 as deployments from deployments
        where id = $1 and name = $2 and ($3::text is null or id = $3) and deleted_at is null for key share`,
      [about.answered?.deploymentId ?? null, name, deploymentId],
      'answer_of_feedback',
    );
    return row ? { ...row, answerId: about.answerId, at: about.answered!.at } : null;
  }
  // A deleted deployment answered, too: its part is not what another one earned.
  const [row] = await tx.query<Answered & Record<string, unknown>>(
    `with answers as (
       select e.deployment_id, e.answer_id, e.created_at, d.deleted_at
         from episode_answers e join deployments d on d.id = e.deployment_id
        where e.org_id = current_setting('app.org') and e.correlation_id = $1 and d.name = $2 and ($3::text is null or d.id = $3)
        order by e.created_at desc, e.answer_id desc limit $4)
     select (array_agg(deployment_id order by created_at desc, answer_id desc) filter (where deleted_at is null))[1] as "deploymentId",
            (array_agg(answer_id order by created_at desc, answer_id desc) filter (where deleted_at is null))[1] as "answerId",
            max(created_at) as at, count(*)::int as answers, count(distinct deployment_id)::int as deployments
       from answers having count(*) filter (where deleted_at is null) > 0`,
    [about.correlationId, name, deploymentId, mostAnswers],
    'episode_of_feedback',
  );
  return row ?? null;
}

/** Whether the deployment has these metrics, or room for further ones. */
async function hasRoom(
  tx: Tx,
  deploymentId: string,
  values: readonly (readonly [string, MetricValue])[],
): Promise<boolean> {
  if (values.every(([metric]) => metric === 'reward')) return true;
  const rows = await tx.query<{ metric: string }>(
    `select metric from deployment_metrics where deployment_id = $1 and width = 'all'`,
    [deploymentId],
  );
  return new Set([...rows.map(({ metric }) => metric), ...values.map(([metric]) => metric)]).size <= mostMetrics;
}

/** The values of a report by metric. */
function valuesOf({ reward, metrics = {} }: FeedbackContent): Record<string, MetricValue> {
  return reward === undefined ? metrics : { ...metrics, reward };
}

export async function addMetrics(
  tx: Tx,
  orgId: string,
  { deploymentId, at }: { deploymentId: string; at: Date },
  values: readonly (readonly [metric: string, value: MetricValue])[],
): Promise<void> {
  if (values.length === 0) return;
  const kept = widths.filter((width) => width === 'all' || +at >= Date.now() - keptMs[width]);
  const rows = kept.flatMap((width) =>
    values.map(([metric, value]) => ({ width, start: startOf(width, +at), metric, value: Number(value) })),
  );
  // Mean and squared distances by Chan, Golub and LeVeque (1979): a sum of squares would cancel.
  await tx.query(
    `insert into deployment_metrics as m (deployment_id, width, start, metric, org_id, count, mean, distances, least, greatest)
     select $1, width, start, metric, $2, 1, value, 0, value, value
       from jsonb_to_recordset($3::jsonb) as v(width text, start timestamptz, metric text, value float8) order by width, start, metric
     on conflict (deployment_id, width, start, metric) do update
       set count = m.count + 1, mean = m.mean + (excluded.mean - m.mean) / (m.count + 1),
           distances = m.distances + (excluded.mean - m.mean) * (excluded.mean - m.mean) * m.count / (m.count + 1),
           least = least(m.least, excluded.least), greatest = greatest(m.greatest, excluded.greatest)`,
    [deploymentId, orgId, JSON.stringify(rows)],
    'add_metrics',
  );
}

/** Counted values of a metric. */
export interface MetricTotals {
  deploymentId: string;
  start: Date;
  metric: string;
  sample: Sample;
}

/** The counted values of deployments' metrics by period. */
export async function readMetrics(
  tx: Tx,
  deploymentIds: readonly string[],
  width: Width,
  { from, to }: { from: Date; to: Date },
): Promise<MetricTotals[]> {
  const rows = await tx.query<Omit<MetricTotals, 'sample'> & Sample & Record<string, unknown>>(
    `select deployment_id as "deploymentId", start, metric, count, mean, least, greatest,
            case when count > 1 then distances / (count - 1) else 0 end as variance
       from deployment_metrics
      where deployment_id = any($1) and width = $2 and start >= $3 and start < $4 order by start, deployment_id, metric`,
    [deploymentIds, width, from, to],
  );
  return rows.map(({ deploymentId, start, metric, ...sample }) => ({ deploymentId, start, metric, sample }));
}

/** A deployment's feedback, newest first. */
export async function listFeedback(
  tx: Tx,
  deploymentId: string,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<(Feedback & { position: string })[]> {
  return tx.query<Feedback & { position: string }>(
    `select ${columns}, ${positionColumn} from deployment_feedback
      where deployment_id = $1 and ($2::timestamptz is null or (created_at, id) < ($2, $3))
      order by created_at desc, id desc limit $4`,
    [deploymentId, after?.createdAt ?? null, after?.id ?? null, limit],
  );
}

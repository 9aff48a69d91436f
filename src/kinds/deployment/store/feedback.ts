/** What callers report of answers. The first value of a metric counts for an answer or episode. */
import { v7 as uuid } from 'uuid';
import { startOf, widths, type Width } from '../../../core/deployments/periods.js';
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

/** An answer or an episode of a name; `id`: of this deployment alone. */
export interface FeedbackSubject {
  orgId: string;
  name: string;
  deploymentId: string | null;
  /** `answered`: by the signed id; null: no answer had it. */
  about: { answerId: string; answered: { deploymentId: string; at: Date } | null } | { correlationId: string };
}

/** `uncounted`: metrics with an earlier report of another key. */
export type FeedbackOutcome =
  | { is: 'recorded' | 'duplicate'; feedback: Feedback; uncounted: string[] }
  | { is: 'unknown' }
  | { is: 'conflict'; feedback: Feedback };

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
  // Reports of one subject take turns.
  const lock = JSON.stringify([orgId, name, answerId, correlationId]);
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [lock]);
  const known = await tx.query<Feedback & { isSame: boolean }>(
    `select ${columns}, content = $4::jsonb as "isSame" from deployment_feedback
      where org_id = current_setting('app.org') and name = $1 and coalesce(answer_id, correlation_id) = coalesce($2::text, $3)
        and (answer_id is null) = ($2::text is null)`,
    [name, answerId, correlationId, toJsonb(content)],
  );
  const ofOne = known.filter(({ deployments }) => deployments === 1);
  const earlier = new Set(ofOne.flatMap(({ content }) => Object.keys(valuesOf(content))));
  const same = known.find((feedback) => feedback.key === key);
  if (same)
    return same.isSame ? { is: 'duplicate', feedback: same, uncounted: [] } : { is: 'conflict', feedback: same };
  const [feedback] = await tx.query<Feedback>(
    `insert into deployment_feedback (id, org_id, deployment_id, name, answer_id, correlation_id, key, answers, deployments, content)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning ${columns}`,
    [
      `fdb_${uuid().replaceAll('-', '')}`,
      orgId,
      answered.deploymentId,
      name,
      answerId,
      correlationId,
      key,
      answered.answers,
      answered.deployments,
      toJsonb(content),
    ],
  );
  const values = Object.entries(valuesOf(content));
  // An episode of several deployments says nothing about one of them.
  const counted = answered.deployments > 1 ? [] : values.filter(([metric]) => !earlier.has(metric));
  await addMetrics(tx, orgId, answered, counted);
  return {
    is: 'recorded',
    feedback: feedback!,
    uncounted: values.flatMap(([name]) => (earlier.has(name) ? [name] : [])),
  };
}

interface Answered extends Record<string, unknown> {
  /** Of the last answer, and its time. */
  deploymentId: string;
  at: Date;
  answers: number;
  deployments: number;
}

/** What answered; null: nothing did, or it was deleted. */
async function findAnswers(tx: Tx, { name, deploymentId, about }: FeedbackSubject): Promise<Answered | null> {
  if ('answerId' in about) {
    const [row] = await tx.query<Answered>(
      `select id as "deploymentId", 1 as answers, 1 as deployments from deployments
        where id = $1 and name = $2 and ($3::text is null or id = $3) and deleted_at is null`,
      [about.answered?.deploymentId ?? null, name, deploymentId],
    );
    return row ? { ...row, at: about.answered!.at } : null;
  }
  const [row] = await tx.query<Answered>(
    `select (array_agg(e.deployment_id order by e.created_at desc, e.answer_id desc))[1] as "deploymentId", max(e.created_at) as at,
            count(*)::int as answers, count(distinct e.deployment_id)::int as deployments
       from episode_answers e join deployments d on d.id = e.deployment_id
      where e.org_id = current_setting('app.org') and e.correlation_id = $1 and d.name = $2
        and ($3::text is null or d.id = $3) and d.deleted_at is null
     having count(*) > 0`,
    [about.correlationId, name, deploymentId],
  );
  return row ?? null;
}

/** The values of a report by metric. */
function valuesOf({ reward, metrics = {} }: FeedbackContent): Record<string, MetricValue> {
  return reward === undefined ? metrics : { ...metrics, reward };
}

async function addMetrics(
  tx: Tx,
  orgId: string,
  { deploymentId, at }: Answered,
  values: readonly (readonly [metric: string, value: MetricValue])[],
): Promise<void> {
  if (values.length === 0) return;
  const rows = widths.flatMap((width) =>
    values.map(([metric, value]) => ({ width, start: startOf(width, +at), metric, value: Number(value) })),
  );
  await tx.query(
    `insert into deployment_metrics as m (deployment_id, width, start, metric, org_id, count, total, squares, least, greatest)
     select $1, width, start, metric, $2, 1, value, value * value, value, value
       from jsonb_to_recordset($3::jsonb) as v(width text, start timestamptz, metric text, value float8) order by width, start, metric
     on conflict (deployment_id, width, start, metric) do update
       set count = m.count + 1, total = m.total + excluded.total, squares = m.squares + excluded.squares,
           least = least(m.least, excluded.least), greatest = greatest(m.greatest, excluded.greatest)`,
    [deploymentId, orgId, JSON.stringify(rows)],
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
  const rows = await tx.query<Omit<MetricTotals, 'sample'> & Sums & Record<string, unknown>>(
    `select deployment_id as "deploymentId", start, metric, count, total, squares, least, greatest from deployment_metrics
      where deployment_id = any($1) and width = $2 and start >= $3 and start < $4 order by start, deployment_id, metric`,
    [deploymentIds, width, from, to],
  );
  return rows.map(({ deploymentId, start, metric, ...sums }) => {
    return { deploymentId, start, metric, sample: sampleOfSums(sums) };
  });
}

type Sums = Omit<Sample, 'mean' | 'variance'> & Record<'total' | 'squares', number>;

function sampleOfSums({ count, total, squares, least, greatest }: Sums): Sample {
  const mean = total / count;
  const variance = count > 1 ? Math.max(0, (squares - total * mean) / (count - 1)) : 0;
  return { count, mean, variance, least, greatest };
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

/** A report of an answer that its reviewer may change: a review counts as feedback, once. */
import { startOf, widths } from '../../../core/deployments/periods.js';
import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { Answered } from './answer-ids.js';
import { keepForCanary } from './canary-values.js';
import { addMetrics, insertFeedback, mostReports, takeTurn, type FeedbackContent } from './feedback.js';

/** An answer of a name. */
export interface AnswerOfName {
  orgId: string;
  name: string;
  answerId: string;
  answered: Answered;
}

/** `counted`: a reward that no report of the answer gave before; null: none. */
export type Revision = { is: 'revised'; counted: boolean | null } | { is: 'unknown' | 'full' };

/** Replaces the report of a key; null deletes it. The first reward counts, as it is now. */
export async function reviseFeedback(
  tx: Tx,
  answer: AnswerOfName,
  { key, content }: { key: string; content: (FeedbackContent & { reward?: boolean | undefined }) | null },
): Promise<Revision> {
  const { orgId, name, answerId, answered } = answer;
  const { deploymentId } = answered;
  const [deployment] = await tx.query(
    'select id from deployments where id = $1 and name = $2 and deleted_at is null for key share',
    [deploymentId, name],
  );
  if (!deployment) return { is: 'unknown' };
  await takeTurn(tx, [orgId, name, answerId, null]);
  const reports = await readRewards(tx, answer);
  const own = reports.find((report) => report.key === key);
  if (!own && content !== null && reports.length >= mostReports) return { is: 'full' };
  const [before, after] = [firstReward(reports), firstReward(revised(reports, key, content))];
  if (content === null) await tx.query('delete from deployment_feedback where id = $1', [own?.id ?? null]);
  else if (own) await tx.query('update deployment_feedback set content = $2 where id = $1', [own.id, toJsonb(content)]);
  else {
    const report = { key, answerId, correlationId: null, within: '', content };
    await insertFeedback(tx, answer, { deploymentId, answers: 1, deployments: 1 }, report);
  }
  if (before !== after) {
    if (before !== null) await removeReward(tx, answered, before);
    if (after !== null) await addMetrics(tx, orgId, answered, [['reward', after]]);
  }
  if (before !== null || after === null) return { is: 'revised', counted: null };
  // What a canary has counted stays: its test is sequential.
  await keepForCanary(tx, orgId, { name, ...answered, values: [['reward', after]] });
  return { is: 'revised', counted: after === 1 };
}

interface RewardReport extends Record<string, unknown> {
  id: string;
  key: string;
  /** null: the report has none. */
  reward: number | null;
}

/** The reports of an answer in their order. */
function readRewards(tx: Tx, { name, answerId, answered }: AnswerOfName): Promise<RewardReport[]> {
  return tx.query<RewardReport>(
    `select id, key, case jsonb_typeof(content->'reward') when 'boolean' then (content->'reward')::boolean::int::float8
                          else (content->'reward')::float8 end as reward
       from deployment_feedback
      where org_id = current_setting('app.org') and name = $1 and answer_id = $2 and deployment_id = $3 order by id`,
    [name, answerId, answered.deploymentId],
  );
}

function revised(
  reports: readonly RewardReport[],
  key: string,
  content: (FeedbackContent & { reward?: boolean | undefined }) | null,
): RewardReport[] {
  const reward = content?.reward === undefined ? null : Number(content.reward);
  const known = reports.map((report) => (report.key === key ? { ...report, reward } : report));
  return known.some((report) => report.key === key) ? known : [...known, { id: '', key, reward }];
}

const firstReward = (reports: readonly RewardReport[]): number | null =>
  reports.find(({ reward }) => reward !== null)?.reward ?? null;

/** Takes a reward out of the sums; their least and greatest value stay, as a wider range. */
async function removeReward(tx: Tx, { deploymentId, at }: Answered, reward: number): Promise<void> {
  const starts = widths.map((width) => startOf(width, +at));
  // As `addMetrics` adds it (Chan, Golub and LeVeque, 1979), in the same order of locks.
  await tx.query(
    `with held as (
       select m.width, m.start, m.mean + (m.mean - $4) / nullif(m.count - 1, 0) as mean
         from deployment_metrics m join unnest($2::text[], $3::timestamptz[]) as p(width, start) using (width, start)
        where m.deployment_id = $1 and m.metric = 'reward' order by m.width, m.start for update of m)
     update deployment_metrics m
        set count = m.count - 1, mean = coalesce(h.mean, 0),
            distances = coalesce(greatest(0, m.distances - ($4 - m.mean) * ($4 - h.mean)), 0)
       from held h where m.deployment_id = $1 and m.metric = 'reward' and (m.width, m.start) = (h.width, h.start)`,
    [deploymentId, [...widths], starts, reward],
  );
  await tx.query(`delete from deployment_metrics where deployment_id = $1 and metric = 'reward' and count = 0`, [
    deploymentId,
  ]);
}

import { randomUUID } from 'node:crypto';
import { paused } from '../../src/core/events/jobs.js';
import type { Db } from '../../src/platform/db/db.js';
import { writeCounters } from '../../src/kinds/deployment/store/counters.js';
import { noCalls, writeCalls } from '../../src/health/store/provider-calls.js';
import { writeUses } from '../../src/kinds/deployment/store/uses.js';
import { beginCanary } from '../../src/core/deployments/canary/canary.js';
import { noCounts } from '../../src/core/deployments/canary/counts.js';
import { insertCanary } from '../../src/kinds/deployment/store/canaries.js';
import { insertRequests } from '../../src/kinds/deployment/store/logged-requests.js';
import { enqueueAnswers } from '../../src/kinds/deployment/store/judgements.js';
import { addJudge } from '../../src/kinds/deployment/store/judges.js';
import { recordFeedback } from '../../src/kinds/deployment/store/feedback.js';
import { insertDeployment, setSnapshot } from '../../src/kinds/deployment/store/deployments.js';
import { byService, promote, setLabel } from '../../src/kinds/deployment/store/names.js';
import { putDataset } from '../../src/datasets/store/datasets.js';
import { insertTasks } from '../../src/kinds/graph/store/tasks.js';
import { ensureBootstrapKey } from '../../src/access/store/keys.js';
import { noLimits, setLimits } from '../../src/access/store/limits.js';
import { takeRequests } from '../../src/access/store/request-windows.js';
import { readStoredBytes } from '../../src/access/store/stored-bytes.js';
import { recordDecision } from '../../src/jobs/store/decisions/record.js';
import { insertTrace } from '../../src/jobs/store/traces.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { insertWebhook } from '../../src/jobs/store/webhooks.js';
import { planRollouts } from '../../src/rollouts/store/rollouts.js';
import { publishSlots } from '../../src/rollouts/store/slots.js';
import { putReview } from '../../src/reviews/store/reviews.js';
import { insertLabels } from '../../src/jobs/store/labels.js';
import { putSnapshot } from '../../src/kinds/deployment/store/snapshots.js';
import type { ScheduleSpec } from '../../src/schedules/contract/schedule.js';
import { insertRun } from '../../src/schedules/store/runs.js';
import { insertSchedule } from '../../src/schedules/store/schedules.js';
import { putProviderKey } from '../../src/access/store/provider-keys.js';
import { putSecret } from '../../src/access/store/secrets.js';
import { counterOf } from './counters.js';
import { insertJob } from './job.js';

/** The tables with rows of an organization. */
export const tables = [
  'orgs',
  'api_keys',
  'limits',
  'request_windows',
  'call_slots',
  'provider_keys',
  'audit_log',
  'jobs',
  'job_labels',
  'job_controls',
  'search_inputs',
  'search_states',
  'secrets',
  'candidates',
  'rollouts',
  'model_calls',
  'provider_calls',
  'job_usage',
  'daily_spend',
  'stored_bytes',
  'job_budgets',
  'cost_reservations',
  'rewards',
  'slots',
  'sensor_frames',
  'graph_tasks',
  'snapshots',
  'deployments',
  'deployment_names',
  'deployment_versions',
  'deployment_labels',
  'deployment_changes',
  'deployment_canaries',
  'canary_values',
  'deployment_counters',
  'deployment_uses',
  'deployment_failures',
  'deployment_requests',
  'episode_answers',
  'deployment_feedback',
  'deployment_metrics',
  'deployment_judgements',
  'deployment_judges',
  'reviews',
  'schedules',
  'schedule_runs',
  'datasets',
  'dataset_rows',
  'commands',
  'suggestions',
  'events',
  'webhooks',
  'job_traces',
  'idempotency_keys',
  'deletions',
];

/** Fills all of them for an organization. */
export async function fillEveryTable(db: Db, org: string): Promise<JobRef> {
  const job = await insertJob(db, org);
  await ensureBootstrapKey(db, Buffer.alloc(32, 1), org, `key-of-the-organization-named-${org}`);
  await db.org(org, async (tx) => {
    await planRollouts(tx, job, [{ ordinal: 0, candidate: 0, seed: 1, stage: 'evaluation', generation: 0 }], false);
    await recordDecision(tx, job, { events: [paused(1, null)] });
    await setLimits(tx, org, org, { ...noLimits, requestsPerMinute: 1 });
    await takeRequests(tx, { orgId: org, subject: org, limit: 1, waiting: 1 });
    await tx.query('insert into call_slots values ($1, $1, $2, 1, now())', [org, randomUUID()]);
    await putProviderKey(tx, Buffer.alloc(32, 2), { orgId: org, provider: 'openai', value: 'key' });
    await putSecret(tx, Buffer.alloc(32, 2), { ...job, name: 'n', origin: 'http://x' }, 'secret');
    await tx.query(
      `insert into candidates (id, org_id, job_id, lever_version, generation, status) values ($1, $2, $3, 0, 0, 'proposed')`,
      [`cand_${org}`, org, job.jobId],
    );
    await tx.query(
      `insert into model_calls (id, org_id, job_id, purpose, request_hash, provider, model, request, http_status)
       values ($1, $2, $3, 'caller', '', 'p', 'm', '{}', 200)`,
      [`call_${org}`, org, job.jobId],
    );
    await tx.query(
      `insert into job_usage (job_id, org_id, shard, calls, prompt_tokens, completion_tokens, cost_usd, unpriced,
                              from_table, answered, cached)
       values ($1, $2, 0, 0, 0, 0, 0, 0, 0, 0, 0)`,
      [job.jobId, org],
    );
    await readStoredBytes(tx, org);
    await tx.query('insert into job_budgets (job_id, org_id, max_usd) values ($1, $2, 1)', [job.jobId, org]);
    await tx.query(
      'insert into cost_reservations (id, job_id, org_id, amount_usd, presence) values ($1, $2, $3, 1, 1)',
      [`res_${org}`, job.jobId, org],
    );
    await tx.query(`insert into rewards (id, org_id, job_id, body, counted) values ($1, $2, $3, '{}', true)`, [
      `rwd_${org}`,
      org,
      job.jobId,
    ]);
    await tx.query(`insert into search_states (job_id, org_id, run, step, state) values ($1, $2, 1, 0, '{}')`, [
      job.jobId,
      org,
    ]);
    await tx.query(`insert into search_inputs (job_id, org_id, step, input) values ($1, $2, 1, '{}')`, [
      job.jobId,
      org,
    ]);
    await tx.query(`insert into commands (id, org_id, job_id, kind) values ($1, $2, $3, 'pause')`, [
      `cmd_${org}`,
      org,
      job.jobId,
    ]);
    await tx.query(`insert into suggestions (command_id, org_id, hint) values ($1, $2, 'hint')`, [`cmd_${org}`, org]);
    await insertLabels(tx, job.jobId, { tags: ['tag'], metadata: {} });
    const reviewed = { ...job, subjectId: 'subject', seed: 1, candidateId: null, judge: null };
    await putReview(tx, reviewed, 'reviewer', { verdict: 'right', note: null, corrected: null });
    await insertWebhook(tx, job, 'http://x');
    await insertTrace(tx, job, { traceId: 'a', parentId: null, sampled: true });
    await publishSlots(tx, job, [{ ordinal: 1, candidate: 0, seed: 1, stage: 'evaluation', generation: 0 }]);
    await tx.query(
      `insert into sensor_frames (job_id, org_id, ordinal, candidate_id, stage, generation, trace_ids)
       values ($1, $2, 0, $3, 'evaluation', 0, '{}')`,
      [job.jobId, org, `cand_${org}`],
    );
    await insertTasks(tx, job, [{ index: 0, taskId: 'a', input: { question: 'q' }, gold: null, rubric: null }]);
    const snapshot = await putSnapshot(tx, org, {
      kind: 'messages',
      messages: [],
      demos: [],
      levers_marked: false,
      lever_versions: {},
      policy: { provider: 'p', model: 'm' },
      provenance: { source: 'messages', job_id: null, candidate_id: null, reward: null, verdict: null },
    });
    await insertDeployment(tx, job, { name: 'name', reason: null });
    await setSnapshot(tx, job.jobId, snapshot);
    await promote(tx, job);
    await setLabel(tx, { name: 'name', label: 'staging', target: { version: 1 } }, byService);
    const spec = { every: '1d', checkup: {} } as ScheduleSpec;
    const scheduleId = await insertSchedule(tx, { name: 'name', spec, paused: false, keyId: null });
    await insertRun(tx, { scheduleId }, { at: new Date(), manual: false });
    const dataset = { id: `ds_${org}`, numRows: 1, columns: [], bytes: 2 };
    await putDataset(
      tx,
      org,
      dataset,
      (async function* () {
        yield await Promise.resolve(['{}']);
      })(),
    );
    const spend = { counterId: randomUUID(), day: '2026-01-01', keyId: null, costUsd: 1 };
    const deploymentId = `dep_${org}`;
    const episodes = [{ deploymentId, answerId: 'a', correlationId: 'c' }];
    const at = new Date().toISOString();
    const failures = [{ deploymentId, answerId: 'a', at, status: 502, code: 'c', message: '', latencyMs: 1 }];
    await writeCounters(tx, org, { counters: [counterOf({ deploymentId })], spend: [spend], episodes, failures });
    const called = { provider: 'p', model: 'm', startMs: 0, counterId: randomUUID(), ...noCalls(), calls: 1 };
    await writeCalls(tx, org, [called]);
    await writeUses(tx, org, [{ subject: 'deployment name', counterId: randomUUID(), tokens: 1, usd: 1 }]);
    const texts = { provider: 'p', model: 'm', request: '{}', answer: '{}' };
    const totals = { outcome: 'ok' as const, latencyMs: 1, promptTokens: 1, completionTokens: 1, costUsd: 0 };
    const logged = { deploymentId: job.jobId, answerId: 'a', at, code: null, correlationId: null, ...texts, ...totals };
    await insertRequests(tx, org, [logged]);
    await addJudge(tx, 'name');
    await enqueueAnswers(tx, org, [{ deploymentId: job.jobId, answerId: 'a', request: '{}', answer: '{}' }]);
    const subject = { orgId: org, name: 'name', deploymentId: null, unitOf: () => 'u' };
    const about = {
      answerId: 'a',
      answered: { deploymentId: job.jobId, at: new Date(Date.now() + 60_000), unit: 'u' },
    };
    const ids = { deploymentId: job.jobId, liveId: job.jobId };
    const canary = { ...ids, name: 'name', metric: 'reward', percent: 1, isShadow: false, stickyBy: null };
    await insertCanary(tx, org, canary, beginCanary(0, { live: noCounts, canary: noCounts }));
    await recordFeedback(tx, { ...subject, about }, { key: '', content: { reward: 1 } });
    await tx.query(`insert into idempotency_keys (org_id, key, fingerprint) values ($1, 'k', '')`, [org]);
    await tx.query(`insert into deletions (job_id, org_id, what) values ($1, $2, 'events')`, [job.jobId, org]);
  });
  return job;
}

import { expect, test } from '@jest/globals';
import { pino } from 'pino';
import { startReconciler } from '../../../src/platform/temporal/reconciler.js';
import { workflowId } from '../../../src/core/jobs/kinds.js';
import { InstallationClient } from '../../../src/platform/temporal/installation-client.js';
import { insertJob } from '../../support/job.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { ended, readJob, type Evaluation } from '../../support/jobs-over-http.js';
import { Operator, payloadOf } from '../../support/operator.js';
import { until } from '../../support/until.js';

// A job whose workflow tasks fail: one line for each cause, a mark in the API, a count in the
// details of the readiness, which stays as it is.

const on = serviceOfFile();

const readInstallation = async () =>
  (
    await on.service.query<{ id: string; taskQueue: string }>('select id, task_queue as "taskQueue" from installation')
  )[0]!;

/** A job whose workflow has an input that no key opens, so that each of its tasks fails. */
async function startStuckJob(): Promise<string> {
  const { jobId } = await insertJob(on.service.db);
  const { taskQueue } = await readInstallation();
  const sealed = payloadOf('sealed', 'binary/encrypted');
  await new Operator(on.service.temporal).start(workflowId('evaluation', jobId), 'evaluationWorkflow', taskQueue, [
    sealed,
  ]);
  await on.service.query(
    `update jobs set created_at = now() - interval '1 minute', workflow_started = true where id = $1`,
    [jobId],
  );
  return jobId;
}

const stuckOf = async (jobId: string) => (await readJob<Evaluation>(on.service, jobId)).stuck;

test('a job whose workflow task fails is marked, counted and logged once, until it ends', async () => {
  const jobId = await startStuckJob();
  await until('it is marked', async () => (await stuckOf(jobId)) !== null);
  const { stuck } = await readJob<Evaluation>(on.service, jobId);
  expect(stuck).toEqual({
    cause: 'workflow_worker_unhandled_failure',
    message: expect.any(String),
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
  const list = await on.service.api.call<{ data: { job_id: string; stuck: object | null }[] }>(
    'GET',
    '/api/v1/offline/jobs',
  );
  expect(list.data.find(({ job_id }) => job_id === jobId)!.stuck).toEqual(stuck);
  const ready = await on.service.api.call('GET', '/readyz');
  expect(ready).toMatchObject({
    status: 'ready',
    checks: { jobs: { ok: true, detail: expect.stringContaining('1 by workflow_worker_unhandled_failure') } },
  });

  // Further attempts and other processes report the same cause no more.
  const lines: object[] = [];
  const causes: string[] = [];
  const reconciler = startReconciler({
    client: new InstallationClient(on.service.temporal.options, await readInstallation()),
    db: on.service.db,
    log: pino({}, { write: (line: string) => void lines.push(JSON.parse(line) as object) }),
    everyMs: 3_600_000,
    onStuck: (cause) => void causes.push(cause),
  });
  await reconciler.sweep();
  expect([lines, causes]).toEqual([[], []]);
  await on.service.query(`update jobs set stuck = null where id = $1`, [jobId]);
  await until('it is reported', async () => {
    await reconciler.sweep();
    return causes.length > 0 || (await stuckOf(jobId)) !== null;
  });
  expect(lines.length).toBe(causes.length);
  await reconciler.stop();

  await on.service.workflow(jobId).terminate();
  expect(await ended<Evaluation>(on.service, jobId)).toMatchObject({ status: 'failed', stuck: null });
});

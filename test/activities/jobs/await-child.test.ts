import { expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { awaitChildActivities } from '../../../activities/jobs/await-child.js';
import { createEvaluation, httpOfFile } from '../../platform/http/support.js';
import { activityOf } from '../../support/job-activity.js';

const http = httpOfFile();

test('a worker that stops hands its wait to another one', async () => {
  const jobId = await createEvaluation(http, { seeds: [0] });
  const temporal = { workflow: { getHandle: () => ({ describe: () => ({ status: { name: 'RUNNING' } }) }) } };
  const draining = new AbortController();
  const activities = awaitChildActivities({
    db: http.db,
    temporal,
    draining: draining.signal,
  } as unknown as ActivityDeps);
  const job = { orgId: 'default', jobId };
  const waiting = activityOf(jobId).run(activities.awaitChildJob, job);
  draining.abort();
  await waiting;
  expect(await activities.readChildJob(job)).toBeNull();
}, 10_000);

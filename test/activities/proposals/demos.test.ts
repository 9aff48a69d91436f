import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Concurrency } from '../../../activities/rollouts/concurrency.js';
import type { ActivityDeps } from '../../../activities/deps.js';
import { executeRollout, type RunnableJob } from '../../../activities/rollouts/execute.js';
import { prepareActivities } from '../../../activities/lifecycle/prepare.js';
import type { RolloutRequest } from '../../../src/clients/container/client.js';
import { createContainerClient, type ContainerClient } from '../../../src/clients/container/client.js';
import type { Demo } from '../../../src/core/prompts/demos.js';
import type { EvaluationSpec } from '../../../src/core/jobs/spec.js';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { readOpenPrompts } from '../../../src/candidates/store/candidates.js';
import { startHttp, type TestHttp } from '../../platform/http/support.js';
import { startFakeContainer } from '../../support/fakes/container.js';
import { activityOf } from '../../support/job-activity.js';
import { anySpec, insertJob } from '../../support/job.js';

let http: TestHttp;
let container: ContainerClient;
beforeAll(async () => {
  http = await startHttp();
  container = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
});
afterAll(async () => {
  await container.close();
  await http.close();
});

const demos = [0, 1].map((seed): Demo => ({ component: null, seed, ordinal: seed, input: `i${seed}`, output: 'o' }));
const messages = [{ role: 'system' as const, content: 'Do.' }];

test('gives each rollout of an evaluation the candidate’s demonstrations except its own', async () => {
  const box = await startFakeContainer({});
  const candidate = { messages, demos, sessionId: null, candidateId: null };
  const spec: EvaluationSpec = { ...anySpec, container: { ...anySpec.container, url: box.url }, candidate };
  const job = await insertJob(http.db, 'default', spec);
  const deps = { db: http.db, container, secretKey: http.deps.secretKey } as ActivityDeps;
  await activityOf(job.jobId).run(prepareActivities(deps).prepare, job);
  const prompts = await http.db.org('default', (tx) => readOpenPrompts(tx, job.jobId));
  expect([...prompts]).toEqual([[0, { messages, demos, graph: null }]]);

  const sent: Pick<RolloutRequest, 'messages' | 'demos'>[] = [];
  const recording = {
    ...deps,
    container: {
      ...container,
      rollout: ({ messages, demos }: RolloutRequest) => {
        sent.push({ messages, ...(demos && { demos }) });
        return Promise.resolve({ kind: 'pending' as const });
      },
    },
  };
  const runnable: RunnableJob = { spec, apiKey: null, trace: null, prompts };
  for (const seed of [0, 1, 2]) {
    const claim = { rolloutId: `rol_${seed}`, attempt: 1, ordinal: seed, seed, candidateId: candidateId(job.jobId, 0) };
    await executeRollout(recording, job, runnable, claim, {
      signal: new AbortController().signal,
      concurrency: {} as Concurrency,
      mayRetry: () => true,
    });
  }
  expect(sent).toEqual([
    { messages, demos: [demos[1]] },
    { messages, demos: [demos[0]] },
    { messages, demos },
  ]);
  await box.close();
});

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { prepareActivities } from '../../../activities/lifecycle/prepare.js';
import { createContainerClient, type ContainerClient } from '../../../src/clients/container/client.js';
import { readPrompts } from '../../../src/candidates/store/candidates.js';
import { createSession, startHttp, type TestHttp } from '../../platform/http/support.js';
import { startFakeContainer } from '../../support/fakes/container.js';
import { activityOf } from '../../support/job-activity.js';

let http: TestHttp;
let container: ContainerClient;
let activities: ReturnType<typeof prepareActivities>;
beforeAll(async () => {
  http = await startHttp();
  container = createContainerClient({ egress: { mode: 'dev', allowlist: [] } });
  activities = prepareActivities({ db: http.db, container, secretKey: http.deps.secretKey } as ActivityDeps);
});
afterAll(async () => {
  await container.close();
  await http.close();
});
const baselineOf = async (jobId: string) => (await http.db.org('default', (tx) => readPrompts(tx, jobId))).get(0);

describe('session baseline', () => {
  const shared = { role: 'system', content: 'The one.' };
  const example = { role: 'user', content: 'An example.' };
  const [plan, act] = [
    { role: 'system', content: 'Plan.', name: 'plan' },
    { role: 'user', content: 'Act.', name: 'act' },
  ];

  async function prepared(prompt: (typeof shared)[], initialPrompt?: object[]) {
    const box = await startFakeContainer({ prompt });
    const more = initialPrompt && { initial_prompt: { messages: initialPrompt } };
    const jobId = await createSession(http, { container_url: box.url, preflight: false, ...more });
    await activityOf(jobId).run(activities.prepare, { orgId: 'default', jobId });
    await box.close();
    return baselineOf(jobId);
  }

  test.each([
    ['the only system message', [example, shared], [shared]],
    ['none of several system messages', [shared, shared], null],
    ['the named messages, if any', [shared, plan, example, act], [plan, act]],
  ])('takes from the container’s prompt %s', async (_, prompt, baseline) => {
    expect(await prepared(prompt)).toEqual(baseline);
  });

  test('is the complete prompt of the request', async () => {
    expect(await prepared([shared], [plan, example, act])).toEqual([plan, example, act]);
  });
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import { tmpdir } from 'node:os';
import { ratchet as run } from '../support/command-line.js';
import { ask, built, deploy, readDeployment, saying } from '../support/deployments-over-http.js';
import { startFakeModel } from '../support/fakes/model.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { until } from '../support/until.js';

// `ratchet rollout` on a real service.

const on = serviceOfFile(async () => {
  const model = await startFakeModel();
  return { model, env: { RATCHET_PROVIDERS: 'fake', FAKE_BASE_URL: model.url }, close: () => model.close() };
});

const ratchet = (...args: string[]) =>
  run(['rollout', ...args], {
    cwd: tmpdir(),
    env: { RATCHET_URL: on.service.url, RATCHET_API_KEY: on.service.apiKey },
  });

describe('ratchet rollout', () => {
  let live: string;
  let next: string;
  beforeAll(async () => {
    live = await deploy(on.service, { name: 'support', source: saying('live') });
    await built(on.service, live);
    const rollout = { until: 'decided', steps: [1, 50, 100] };
    next = await deploy(on.service, { name: 'support', source: saying('new'), rollout });
    await until('it is rolled out', async () => (await readDeployment(on.service, next)).status === 'rolling_out');
  }, 60_000);

  test('shows how far a version has come, by its name and its id', async () => {
    await ask(on.service, live, { messages: [{ role: 'user', content: 'Where is my card?' }] });
    const [shown, json] = await Promise.all([ratchet('support'), ratchet(next, '--json')]);
    expect(shown.code).toBe(0);
    expect(shown.out.split('\n')[0]).toBe(`support: ${next} is running, step 1 of 2: 1 % of the requests`);
    expect(JSON.parse(json.out)).toMatchObject({
      deployment_id: next,
      live_deployment_id: live,
      status: 'running',
      evidence: { requests: { live: 1, canary: 0 } },
    });
  }, 30_000);

  test('decides: pauses, resumes and promotes, with a reason for the changes', async () => {
    const paused = await ratchet('support', 'pause', '--json');
    expect(JSON.parse(paused.out)).toMatchObject({ status: 'paused' });
    expect((await ratchet(next, 'resume')).out).toContain(`${next} is running`);
    const promoted = await ratchet('support', 'promote', '--reason', 'Two quiet days.');
    expect(promoted).toMatchObject({ code: 0, out: expect.stringContaining('Promoted by hand: Two quiet days.') });
    expect(await built(on.service, next)).toMatchObject({ live: true, previous_id: live });
  }, 30_000);

  test('fails with the refusal where nothing is rolled out, and for an unknown action', async () => {
    const [ended, unknown] = await Promise.all([ratchet('support', 'roll_back'), ratchet('support', 'stop')]);
    expect(ended).toMatchObject({ code: 1, err: expect.stringContaining('409 No version of support') });
    expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('roll_back') });
  }, 30_000);
});

import { describe, expect, test } from '@jest/globals';
import { built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { deployments as base, eventsOf } from '../../support/jobs-over-http.js';
import { until } from '../../support/until.js';
import { range } from '../../support/range.js';
import { canaryServiceOfFile, undecided } from './canary-service.js';

// Invariants: every request is in the counts of exactly one version; a user keeps its version in a
// step, and the new one to the end; what decides is the evidence, and a person at any moment.

const { on, begin, answered, command } = canaryServiceOfFile();

const report = (name: string, answer_id: string, reward: number) =>
  on.service.api.call('POST', `${base}/${name}/feedback`, { answer_id, reward });
const requestsOf = async (id: string) =>
  (await on.service.api.call<{ requests: number }>('GET', `${base}/${id}/stats`)).requests;
const typesOf = async (id: string) => (await eventsOf(on.service, id)).map(({ type }) => type);

describe('a metric', () => {
  test('that is better promotes; users keep their version, and each request is counted once', async () => {
    const { live, next } = await begin('better');
    const versions = new Map<string, Set<string>>();
    let asked = 0;
    await until(
      'it is promoted',
      async () => {
        const users = range(0, 20).map((n) => `user-${asked + n}`);
        const answers = await Promise.all(
          users.flatMap((user) => [user, user]).map(async (user) => ({ user, ...(await answered('better', user)) })),
        );
        asked += users.length;
        for (const { user, by } of answers) versions.set(user, (versions.get(user) ?? new Set()).add(by));
        await Promise.all(answers.map(({ by, id }) => report('better', id, by === next ? 1 : 0)));
        return (await readDeployment(on.service, next)).status === 'ready';
      },
      60,
    );
    expect(await readDeployment(on.service, next)).toMatchObject({
      live: true,
      previous_id: live,
      rollout: {
        status: 'promoted',
        evidence: { metric: { verdict: 'better', live: { mean: 0 }, canary: { mean: 1 } } },
      },
    });
    // All users of the last round may be beyond the promotion.
    const split = [...versions.values()].slice(0, -20);
    expect(split.every((by) => by.size === 1)).toBe(true);
    expect(new Set(split.flatMap((by) => [...by]))).toEqual(new Set([live, next]));
    expect((await requestsOf(live)) + (await requestsOf(next))).toBe(2 * asked);
    expect(await typesOf(next)).toEqual(expect.arrayContaining(['canary_step', 'canary_decided', 'job_complete']));
    const { data } = await on.service.api.call<{ data: object[] }>('GET', `${base}/better/changes`);
    expect(data[0]).toMatchObject({ action: 'canary', from_version: 1, to_version: 2, by: null });
  }, 90_000);

  test('that is worse rolls back, and the name serves what it served', async () => {
    const { live, next } = await begin('worse');
    let asked = 0;
    await until(
      'it is rolled back',
      async () => {
        const answers = await Promise.all(range(0, 20).map((n) => answered('worse', `user-${asked + n}`)));
        asked += answers.length;
        await Promise.all(answers.map(({ by, id }) => report('worse', id, by === next ? 0 : 1)));
        return (await readDeployment(on.service, next)).status === 'failed';
      },
      60,
    );
    expect(await readDeployment(on.service, next)).toMatchObject({
      live: false,
      error_details: { code: 'canary_rolled_back' },
      rollout: { status: 'rolled_back', evidence: { metric: { verdict: 'worse' } } },
    });
    expect((await answered('worse', 'anyone')).by).toBe(live);
    expect(await answered(next, 'anyone')).toMatchObject({ by: next, status: 200 });
  }, 90_000);
});

describe('a guard', () => {
  test('rolls back a version whose calls fail, after ten requests', async () => {
    on.world.model.reply(({ body }) =>
      body.messages[0]!.content.includes('broken') ? { status: 400, error: { message: 'no' } } : {},
    );
    const { next } = await begin('guarded', { hold: '1d', steps: [50, 100] }, 'broken');
    await until('ten requests have failed', async () => {
      await Promise.all(range(0, 10).map((n) => answered('guarded', `user-${n}-${Math.random()}`)));
      return (await readDeployment(on.service, next)).status === 'failed';
    });
    const { rollout: ended } = await readDeployment(on.service, next);
    expect(ended!.evidence.guards).toEqual([{ guard: 'error_rate', live: 0, canary: 1, bound: 0.05, is_beyond: true }]);
    on.world.model.reply(() => ({}));
  }, 60_000);
});

describe('steps', () => {
  test('of a time end with the promotion', async () => {
    const { next } = await begin('timed', { hold: '1s', steps: [20, 60, 100], min_requests: 1 });
    const done = await until('it is promoted', async () => {
      await Promise.all(range(0, 5).map(() => answered('timed', `user-${Math.random()}`)));
      const deployment = await readDeployment(on.service, next);
      return deployment.status === 'ready' && deployment;
    });
    expect(done).toMatchObject({ live: true, rollout: { status: 'promoted', step: 2, steps: 2 } });
    const steps = (await eventsOf(on.service, next)).filter(({ type }) => type === 'canary_step');
    expect(steps.map(({ data }) => data)).toMatchObject([
      { step: 1, percent: 20, evidence: null },
      { step: 2, percent: 60 },
    ]);
  }, 60_000);

  test('wait for requests, stand while they are paused, and promote by hand', async () => {
    const { live, next } = await begin('paused', { hold: '1s', steps: [1, 100], min_requests: 1_000 });
    await until('it waits', async () => (await readDeployment(on.service, next)).rollout?.waits === 'few_requests');
    expect(await command('paused', 'pause')).toMatchObject({ status: 'paused', percent: 1 });
    expect(await command(next, 'resume')).toMatchObject({ status: 'running' });
    expect(await command(next, 'promote', 'It is good.')).toMatchObject({ status: 'promoted' });
    expect((await answered('paused', 'anyone')).by).toBe(next);
    expect(await built(on.service, next)).toMatchObject({ status: 'ready', live: true, previous_id: live });
    const { data } = await on.service.api.call<{ data: object[] }>('GET', `${base}/paused/changes`);
    expect(data[0]).toMatchObject({ action: 'canary', reason: 'It is good.', by: { key_id: expect.any(String) } });
    await expect(command(next, 'pause')).rejects.toMatchObject({ code: 'canary_not_running' });
  }, 60_000);

  test('wait for an approval', async () => {
    const { next } = await begin('approved', { hold: '1s', steps: [50, 100], min_requests: 1, require_approval: true });
    await until('it awaits', async () => {
      await answered('approved', `user-${Math.random()}`);
      return (await readDeployment(on.service, next)).rollout?.status === 'awaiting_approval';
    });
    expect(await command('approved', 'roll_back', 'Not today.')).toMatchObject({ status: 'rolled_back' });
    expect(await built(on.service, next)).toMatchObject({ status: 'failed', live: false });
  }, 60_000);
});

test('a shadow is asked what callers ask, and no caller sees it', async () => {
  const { live, next } = await begin('shadowed', { hold: '1s', steps: [100], shadow: 100, min_requests: 5 });
  const before = on.world.model.requests.length;
  const seen = await Promise.all(range(0, 5).map((n) => answered('shadowed', `user-${n}`)));
  expect(new Set(seen.map(({ by }) => by))).toEqual(new Set([live]));
  expect(await built(on.service, next)).toMatchObject({
    live: true,
    rollout: { is_shadow: true, evidence: { requests: { live: 5, canary: 5 } } },
  });
  expect(await requestsOf(next)).toBe(0);
  const prompts = on.world.model.requests.slice(before).map(({ body }) => body.messages[0]!.content);
  expect(prompts.filter((prompt) => prompt === 'shadowed new')).toHaveLength(5);
}, 60_000);

test('failed calls of a shadow count against it, and are no failures of the version', async () => {
  on.world.model.reply(({ body }) =>
    body.messages[0]!.content.includes('shaky') ? { status: 400, error: { message: 'no' } } : {},
  );
  const { live, next } = await begin('unseen', { hold: '1d', steps: [100], shadow: 100 }, 'shaky');
  await Promise.all(range(0, 5).map((n) => answered('unseen', `user-${n}`)));
  await until('the shadow is counted', async () => {
    const { rollout: seen } = await readDeployment(on.service, next);
    return seen!.evidence.requests.canary === 5;
  });
  for (const id of [live, next])
    expect((await on.service.api.call<{ data: object[] }>('GET', `${base}/${id}/failures`)).data).toEqual([]);
  await command(next, 'roll_back');
  // Its own callers' failures are listed.
  expect((await answered(next, 'anyone')).status).toBe(400);
  const { data } = await on.service.api.call<{ data: object[] }>('GET', `${base}/${next}/failures`);
  expect(data).toMatchObject([{ status: 400, message: expect.stringMatching(/./) }]);
  on.world.model.reply(() => ({}));
}, 60_000);

describe('a name', () => {
  test('has one canary at a time', async () => {
    const { next } = await begin('single');
    const second = { name: 'single', source: saying('third'), rollout: undecided };
    await expect(deploy(on.service, second)).rejects.toMatchObject({ code: 'canary_in_progress' });
    await command(next, 'roll_back');
  }, 60_000);

  test('that gets another version ends the canary of the one before', async () => {
    const { next } = await begin('overtaken');
    const third = await built(on.service, await deploy(on.service, { name: 'overtaken', source: saying('third') }));
    expect(await built(on.service, next)).toMatchObject({ status: 'failed', rollout: { status: 'rolled_back' } });
    expect((await answered('overtaken', 'anyone')).by).toBe(third.id);
  }, 60_000);

  test('whose canary gets the label production by hand serves it', async () => {
    const { live, next } = await begin('labelled');
    await on.service.api.call('PUT', `${base}/labelled/labels/production`, { deployment_id: next });
    expect(await built(on.service, next)).toMatchObject({
      live: true,
      previous_id: live,
      rollout: { status: 'promoted' },
    });
  }, 60_000);

  test('serves one version again when the workflow of a canary is terminated', async () => {
    const { live, next } = await begin('terminated', { ...undecided, steps: [100], shadow: 100 });
    await on.service.workflow(next).terminate('by an operator');
    expect(await built(on.service, next)).toMatchObject({
      status: 'failed',
      error_details: { code: 'workflow_terminated' },
      rollout: { status: 'rolled_back' },
    });
    expect((await answered('terminated', 'anyone')).by).toBe(live);
  }, 60_000);

  test('that serves nothing gets its first version at once', async () => {
    const first = await deploy(on.service, { name: 'first', source: saying('first'), rollout: undecided });
    expect(await built(on.service, first)).toMatchObject({ live: true, rollout: null });
  }, 60_000);
});

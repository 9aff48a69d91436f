import { beforeEach, describe, expect, test } from '@jest/globals';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { ask, built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import { answers } from '../../support/fakes/container.js';
import { gate } from '../../support/gate.js';
import { createSession, deployments, ended, eventsOf, resultsOf, type Session } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { promptOf, startRulesWorld } from '../../support/worlds/rules.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { stopReasonAttribute } from '../../../workflows/messages.js';

const on = serviceOfFile(startRulesWorld);
beforeEach(() => on.world.reset());

const container = containersOfEachTest();
const question = { messages: [{ role: 'user', content: 'Where is my card?' }] };
/** A container with the reward named in the prompt, `worth 0.7`, plus a hundredth of the seed. */
const rewarding = () =>
  container({
    behave: answersWorth((worth, seed) => worth + seed / 100),
  });
const answersWorth =
  (reward: (worth: number, seed: number) => number) => (call: Parameters<typeof promptOf>[0] & { seed: number }) =>
    answers.reward(reward(Number(/worth (-?[\d.]+)/.exec(promptOf(call))?.[1] ?? 0), call.seed));

describe('a deployment', () => {
  test('of a session serves its best prompt, with its provenance frozen', async () => {
    const session = await createSession(on.service, {
      ...on.world.job,
      proposer: on.world.job.policy,
      gepa: { population_size: 2, generations: 4, evaluation: { seeds: range(0, 8), heldout_seeds: range(100, 112) } },
      budget: { max_rollouts: 300 },
    });
    expect(await ended<Session>(on.service, session)).toMatchObject({ status: 'completed' });
    const { best_prompt, best_candidate, best_reward, verdict, lever_versions } = await resultsOf(on.service, session);
    const id = await deploy(on.service, { name: 'cards', source: { session_id: session } });
    const deployment = await built(on.service, id);
    expect(deployment).toMatchObject({
      id,
      name: 'cards',
      status: 'ready',
      live: true,
      error: null,
      previous_id: null,
    });
    const snapshot = await on.service.api.call('GET', `${deployments}/snapshots/${deployment.snapshot_id}`);
    expect(snapshot).toMatchObject({
      kind: 'messages',
      messages: best_prompt!.messages,
      policy: on.world.job.policy,
      lever_versions,
      provenance: {
        source: 'session',
        job_id: session,
        candidate_id: best_candidate!.candidate_id,
        reward: best_reward,
        verdict,
      },
    });
    on.world.model.reply(() => ({ text: 'here' }));
    on.world.model.requests.length = 0;
    for (const ref of ['cards', id]) {
      const answer = await ask(on.service, ref, { model: 'whatever', temperature: 0.3, ...question });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('x-ratchet-deployment-id')).toBe(id);
      expect(answer.headers.get('x-ratchet-snapshot-id')).toBe(deployment.snapshot_id);
      expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'here' } }] });
    }
    const [first] = on.world.model.requests;
    expect(first!.body).toEqual({
      model: 'any',
      temperature: 0.3,
      messages: [...best_prompt!.messages, ...question.messages],
    });
    expect((await eventsOf(on.service, id)).map(({ type }) => type)).toEqual([
      'deployment_building',
      'snapshot_frozen',
      'job_complete',
    ]);
    const stats = await until('both are counted', async () => {
      const seen = await on.service.api.call<{ requests: number }>('GET', `${deployments}/${id}/stats`);
      return seen.requests === 2 && seen;
    });
    expect(stats).toMatchObject({ requests: 2, errors: 0, since: deployment.ready_at });
  });

  test('goes live if it passes its gate; otherwise the live one stays live', async () => {
    const box = await rewarding();
    const gated = (more: object) => ({ container_url: box.url, seeds: range(0, 10), ...more });
    const create = (worth: number, more: object) =>
      deploy(on.service, { name: 'gated', source: saying(`worth ${worth}`), gate: gated(more) });

    const first = await built(on.service, await create(0.5, { min_reward: 0.5 }));
    expect(first).toMatchObject({ status: 'ready', live: true });
    expect(first.gate).toMatchObject({ passed: true, seeds: 10, incumbent: null, comparison: null });
    expect(first.gate!.candidate!.reward).toBeCloseTo(0.545);

    const low = await built(on.service, await create(0.4, { min_reward: 0.5 }));
    expect(low).toMatchObject({ status: 'failed', live: false, snapshot_id: expect.any(String) });
    expect(low.error_details!.code).toBe('gate_not_passed');
    expect(low.error).toMatch(/0\.445.*min_reward.*0\.5/);

    const worse = await built(on.service, await create(0.55, { min_improvement: 0.1 }));
    expect(worse.status).toBe('failed');
    expect(worse.error_details!.code).toBe('gate_not_passed');
    expect(worse.error).toMatch(/0\.595\b.*\b10\b.*0\.545\b.*0\.05/);
    expect(await readDeployment(on.service, first.id)).toMatchObject({ live: true });

    const better = await built(on.service, await create(0.9, { min_improvement: 0.1 }));
    expect(better).toMatchObject({ status: 'ready', live: true, previous_id: first.id });
    expect(better.gate).toMatchObject({ passed: true, incumbent: { deployment_id: first.id } });
    expect(better.gate!.comparison!.difference).toBeCloseTo(0.4);
    expect(await readDeployment(on.service, first.id)).toMatchObject({ live: false });
    // The evaluations are ordinary jobs.
    const evaluation = await on.service.api.call('GET', `/api/v1/offline/jobs/${better.gate!.candidate!.job_id}`);
    expect(evaluation).toMatchObject({ status: 'completed', progress: { completed: 10, total: 10 } });
  });

  test('shows its gate in Temporal while it is judged, then its end', async () => {
    const isJudged = gate();
    const box = await container({ behave: () => answers.held(isJudged.opened, answers.reward(1)) });
    const id = await deploy(on.service, {
      name: 'shown',
      source: saying('x'),
      gate: { container_url: box.url, seeds: [1], min_reward: 0.5, preflight: false },
    });
    const workflow = on.service.workflow(id);
    const details = async () =>
      (await workflow.query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
    await until('the gate is shown', async () => /^gate: evaluation evl_/.test(await details()));
    isJudged.open();
    await workflow.result();
    expect(await details()).toBe('ready');
    expect((await workflow.describe()).typedSearchAttributes.get(stopReasonAttribute)).toBe('completed');
  });

  test('is judged with its own model, whatever model its container names', async () => {
    const asks = answers.askModel(
      () => ({ system: '', user: 'hello' }),
      () => ({ reward: 1 }),
    );
    const box = await container({ behave: () => asks });
    on.world.model.requests.length = 0;
    const policy = { provider: 'fake', model: 'frozen-model' };
    const id = await deploy(on.service, {
      name: 'judged',
      source: saying('x', policy),
      // Every call is a rollout's.
      gate: { container_url: box.url, seeds: [1, 2], min_reward: 1, preflight: false },
    });
    const judged = await built(on.service, id);
    expect(judged.status).toBe('ready');
    expect(on.world.model.requests.map(({ body }) => body.model)).toEqual(['frozen-model', 'frozen-model']);
    const other = saying('y', { ...policy, model: 'another-model' });
    on.world.model.requests.length = 0;
    // This container names a model of its own.
    const stubborn = await container({
      behave: () => async (call, response) => {
        call.body.policy.config.model = 'the-containers-own';
        await asks(call, response);
      },
    });
    const next = await deploy(on.service, {
      name: 'judged',
      source: other,
      gate: { container_url: stubborn.url, seeds: [1], min_reward: 1, preflight: false },
    });
    expect((await built(on.service, next)).status).toBe('ready');
    expect(on.world.model.requests.map(({ body }) => body.model)).toEqual(['another-model']);
  });
});

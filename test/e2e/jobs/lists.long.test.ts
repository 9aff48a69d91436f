import { beforeEach, describe, expect, test } from '@jest/globals';
import { deploy, saying } from '../../support/deployments-over-http.js';
import { answers } from '../../support/fakes/container.js';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { gate } from '../../support/gate.js';
import {
  command,
  createEvaluation,
  createSession,
  deployments,
  ended,
  pathOf,
  readJob,
  type Evaluation,
  type Session,
} from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';
import { startRulesWorld } from '../../support/worlds/rules.js';

// Invariant: what Temporal's lists show of a job is what the API says, at its end and at rest.

const on = serviceOfFile(startRulesWorld);
const container = containersOfEachTest();
beforeEach(() => on.world.reset());

const described = async (id: string) => {
  const { memo, searchAttributes, status } = await on.service.workflow(id).describe();
  return { memo, attributes: searchAttributes, status: status.name };
};
const isUnset = ({ attributes }: Awaited<ReturnType<typeof described>>, name: string) =>
  (attributes[name] ?? []).every((value) => value === null);
const changed = (id: string, labels: object, path = pathOf(id)) => on.service.api.call('PATCH', path, labels);
const detailsOf = async (id: string) =>
  (await on.service.workflow(id).query<{ currentDetails: string }>('__temporal_workflow_metadata')).currentDetails;
const search = { gepa: { population_size: 2, generations: 2, evaluation: { seeds: range(0, 21) } } };

describe('a job that fails in its first slice', () => {
  test.each(['session', 'evaluation'] as const)('%s: has its code, its cause and its counts', async (kind) => {
    on.world.container.behave(() => answers.status(500, 'boom'));
    const labels = { name: 'will fail', tags: ['x'] };
    const id =
      kind === 'session'
        ? await createSession(on.service, { ...on.world.job, ...search })
        : await createEvaluation(on.service, { ...on.world.job, ...labels, seeds: range(0, 30) });
    const job = await ended<Session | Evaluation>(on.service, id);
    expect(job.error_details!.code).toBe('too_many_failures');
    await expect(on.service.workflow(id).result()).rejects.toMatchObject({
      cause: { type: 'too_many_failures', message: expect.stringMatching(/^too_many_failures: .*: .*\bboom$/) },
    });
    const { progress } = job as { progress: { completed?: number; rollouts_completed?: number } };
    const rollouts = progress.completed ?? progress.rollouts_completed;
    expect(rollouts).toBeGreaterThanOrEqual(20);
    const { memo, attributes } = await described(id);
    expect(attributes).toMatchObject({ RatchetStatus: ['failed'], RatchetStopReason: ['too_many_failures'] });
    expect(attributes).toMatchObject({ RatchetRollouts: [rollouts] });
    expect(memo).toMatchObject({ rollouts, ...(kind === 'evaluation' && labels) });
    const query = `RatchetStopReason = 'too_many_failures' and WorkflowId = '${kind}-${id}'`;
    await until('it is listed', async () => {
      for await (const found of on.service.temporal.workflow.list({ query })) return found !== undefined;
      return false;
    });
  });
});

describe('an evaluation', () => {
  test('shows rollouts, mean reward and new labels while it is paused, and once it is cancelled', async () => {
    const held = gate();
    const box = await container({
      behave: ({ seed }) => (seed < 5 ? answers.reward(seed / 10) : answers.held(held.opened, answers.reward(1))),
    });
    const { policy } = on.world.job;
    const created = { container_url: box.url, policy, preflight: false, max_concurrent: 1, seeds: range(0, 30) };
    const id = await createEvaluation(on.service, { ...created, name: 'old', tags: ['a'] });
    await until('five have ended', () => box.ledger.length === 6);
    expect(await detailsOf(id)).toMatch(/^0 of 30 seeds\nnext: 30 seeds\nthe time limit ends it at \d{4}-/);
    await changed(id, { name: 'new', tags: ['b', 'c'], metadata: { team: 'x' } });
    await until('the new name is shown', async () => (await described(id)).attributes['RatchetName']?.[0] === 'new');
    const labels = { name: 'new', tags: ['b', 'c'], metadata: { team: 'x' } };
    expect((await described(id)).memo).toMatchObject(labels);
    await command(on.service, id, 'pause');
    held.open();
    const shown = { RatchetName: ['new'], RatchetTags: ['b', 'c'], RatchetRollouts: [6] };
    await until('the slice is shown', async () => (await described(id)).attributes['RatchetRollouts']?.[0] === 6);
    expect((await described(id)).attributes).toMatchObject({ ...shown, RatchetStatus: ['paused'] });
    expect((await described(id)).attributes['RatchetBestReward']![0]).toBeCloseTo(2 / 6);
    expect(await detailsOf(id)).toMatch(/^paused since \d{4}-.*Z.*\n6 of 30 seeds\n\d+ min of the time limit are left/);
    await changed(id, { name: null, tags: [] });
    await until('no name is shown', async () => isUnset(await described(id), 'RatchetName'));
    await command(on.service, id, 'cancel');
    await workflowIs(on.service.workflow(id), 'CANCELLED');
    const last = await described(id);
    const { memo, attributes } = last;
    expect(attributes).toMatchObject({ RatchetStatus: ['cancelled'], RatchetStopReason: ['cancelled'] });
    expect(isUnset(last, 'RatchetTags')).toBe(true);
    expect(memo).toMatchObject({ rollouts: 6, metadata: { team: 'x' } });
    // Temporal drops an empty list.
    expect([memo!['name'], memo!['tags']]).toEqual([undefined, undefined]);
    expect((await readJob<Evaluation>(on.service, id)).progress.completed).toBe(6);
  });
});

test('a job whose container reports rewards later says so, and since when', async () => {
  const box = await container({ behave: ({ seed }) => (seed === 0 ? answers.reward(1) : answers.status(202, '{}')) });
  const { policy } = on.world.job;
  const created = { container_url: box.url, policy, preflight: false, rollout_timeout: 600, seeds: range(0, 3) };
  const id = await createEvaluation(on.service, created);
  await until('the wait is shown', async () =>
    /^waits for the rewards of 2 answers since \d{4}-\S+Z\n1 of 3 seeds/.test(await detailsOf(id)),
  );
  expect((await described(id)).attributes).toMatchObject({ RatchetRollouts: [1], RatchetBestReward: [1] });
  await command(on.service, id, 'cancel');
  await workflowIs(on.service.workflow(id), 'CANCELLED');
});

describe('a deployment with a gate', () => {
  test('shows its rollouts and reward; its evaluation has its name; both take new labels', async () => {
    const isJudged = gate();
    const box = await container({ behave: () => answers.held(isJudged.opened, answers.reward(0.75)) });
    const judged = { container_url: box.url, seeds: [1, 2], min_reward: 0.5, preflight: false };
    const id = await deploy(on.service, { name: 'listed', source: saying('x'), gate: judged });
    const evaluation = await until('its gate runs', async () => {
      const { evaluation } = await on.service.workflow(id).query<{ evaluation?: string }>('status');
      return box.ledger.length > 0 && evaluation;
    });
    expect(await detailsOf(id)).toMatch(/^gate: evaluation evl_\w+ since \d{4}-/);
    expect((await described(evaluation)).attributes).toMatchObject({ RatchetName: ['listed'] });
    await changed(id, { tags: ['live'] }, `${deployments}/${id}`);
    await changed(evaluation, { tags: ['of the gate'] });
    for (const job of [id, evaluation])
      await until('the tags are shown', async () => (await described(job)).attributes['RatchetTags'] !== undefined);
    isJudged.open();
    await on.service.workflow(id).result();
    const { memo, attributes } = await described(id);
    expect(attributes).toMatchObject({ RatchetName: ['listed'], RatchetTags: ['live'], RatchetStatus: ['completed'] });
    expect(attributes).toMatchObject({ RatchetRollouts: [2], RatchetBestReward: [0.75] });
    expect(memo).toMatchObject({ name: 'listed', tags: ['live'], rollouts: 2, bestReward: 0.75 });
    expect((await described(evaluation)).attributes).toMatchObject({
      RatchetTags: ['of the gate'],
      RatchetRollouts: [2],
      RatchetBestReward: [0.75],
    });
  });

  test('that fails has its code and cause', async () => {
    const box = await container({ behave: () => answers.reward(0.25) });
    const judged = { container_url: box.url, seeds: [1, 2], min_reward: 0.5, preflight: false };
    const id = await deploy(on.service, { name: 'refused', source: saying('x'), gate: judged });
    await expect(on.service.workflow(id).result()).rejects.toMatchObject({
      cause: { type: 'gate_not_passed', message: expect.stringMatching(/^gate_not_passed: .*0\.25/) },
    });
    const { attributes } = await described(id);
    expect(attributes).toMatchObject({ RatchetStatus: ['failed'], RatchetStopReason: ['gate_not_passed'] });
    expect(attributes).toMatchObject({ RatchetRollouts: [2], RatchetBestReward: [0.25] });
  });
});

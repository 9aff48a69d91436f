import { afterEach, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { ask, readDeployment } from '../../support/deployments-over-http.js';
import { range } from '../../support/range.js';
import { until } from '../../support/until.js';
import { canaryServiceOfFile, question, undecided } from './canary-service.js';

const { on, begin, answered, command } = canaryServiceOfFile();
afterEach(() => on.world.model.reply(() => ({})));
const close = (value: number) => expect.closeTo(value, 9) as unknown;

describe('a guard that the plan names', () => {
  const isNew = (messages: { content: string }[], text: string) => messages[0]!.content.endsWith(text);
  /** Asks until the rollout ends; returns what its guards found. */
  async function guardsOf(name: string, next: string) {
    const ended = await until('it is decided', async () => {
      await Promise.all(range(0, 10).map(() => answered(name, `user-${Math.random()}`)));
      const deployment = await readDeployment(on.service, next);
      return ['ready', 'failed'].includes(deployment.status) && deployment;
    });
    expect(ended).toMatchObject({ status: 'failed', rollout: { status: 'rolled_back' } });
    return ended.rollout!.evidence.guards;
  }

  test('rolls back a version that is slower than the bound', async () => {
    on.world.model.reply(async ({ body }) => {
      if (isNew(body.messages, 'slow')) await delay(1_000);
      return {};
    });
    const guard = { error_rate: null, p95_latency: { max_ratio: 2 } };
    const { next } = await begin('latent', { hold: '1d', steps: [50, 100], guard }, 'slow');
    const [found, ...others] = await guardsOf('latent', next);
    expect(others).toEqual([]);
    expect(found).toMatchObject({ guard: 'p95_latency', is_beyond: true });
    expect(found!.canary).toBeGreaterThan(900);
    expect(found!.bound).toBeCloseTo(2 * found!.live);
  }, 60_000);

  test('rolls back a version that costs more than the bound', async () => {
    on.world.model.reply(({ body }) => ({
      usage: {
        prompt_tokens: 5,
        completion_tokens: 5,
        total_tokens: 10,
        cost: isNew(body.messages, 'dear') ? 0.03 : 0.01,
      },
    }));
    const guard = { error_rate: null, cost: { max_ratio: 2 } };
    const { next } = await begin('costly', { hold: '1d', steps: [50, 100], guard }, 'dear');
    expect(await guardsOf('costly', next)).toEqual([
      { guard: 'cost', live: close(0.01), canary: close(0.03), bound: close(0.02), is_beyond: true },
    ]);
  }, 60_000);
});

test('sticky_by a header: each of its values keeps its version, whoever the user is', async () => {
  const { live, next } = await begin('by-header', { ...undecided, min_requests: 1_000, sticky_by: 'header:X-Tenant' });
  const byOf = async (tenant: string, user: string) => {
    const headers = { 'x-tenant': tenant };
    const response = await ask(on.service, 'by-header', question(user), { headers });
    return response.headers.get('x-ratchet-deployment-id')!;
  };
  const versions = await Promise.all(
    range(0, 20).map(async (n) => {
      const by = await Promise.all(range(0, 5).map((user) => byOf(`tenant-${n}`, `user-${n}-${user}`)));
      return [...new Set(by)];
    }),
  );
  expect(versions.map((by) => by.length)).toEqual(Array(20).fill(1));
  expect(new Set(versions.flat())).toEqual(new Set([live, next]));
  await command(next, 'roll_back');
}, 60_000);

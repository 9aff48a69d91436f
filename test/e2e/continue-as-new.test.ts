import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { statusAttribute } from '../../workflows/messages.js';
import { chainOf, inputOf, type History } from '../support/chain.js';
import { answers } from '../support/fake-container.js';
import { startRulesWorld, type RulesWorld } from '../support/rules-world.js';
import { startTestService, type TestService } from '../support/service.js';
import { startShortHistories, type OwnTemporal } from '../support/short-histories.js';
import { gate } from '../support/gate.js';
import { until } from '../support/until.js';

// Jobs whose histories grow too long for one run go on in new ones, at any point and with nothing lost. The server's own
// suggestion, which comes at 4,096 events by default, comes at 40 here.

const suggested = 40;
let temporal: OwnTemporal;
let world: RulesWorld;
let short: TestService;
beforeAll(async () => {
  [temporal, world] = await Promise.all([startShortHistories(suggested), startRulesWorld(6)]);
  short = await startTestService({ ...world.env, TEMPORAL_ADDRESS: temporal.address });
}, 90_000);
afterAll(async () => {
  await short.stop();
  await world.close();
  await temporal.stop();
}, 60_000);
afterEach(() => world.container.behave((call) => ruled(call)));

const ruled: Parameters<typeof world.container.behave>[0] = (call) => {
  const prompt = call.body.policy.config.prompt_template?.sections[0]?.content ?? '';
  return answers.reward(world.score(prompt, call.seed), `needs rule-${call.seed % world.rules}.`);
};
type Kind = 'session' | 'evaluation';
const base = { session: '/api/v1/online/sessions', evaluation: '/api/v1/offline/jobs' };
const policy = { provider: 'fake', model: 'any' };
const seeds = [0, 1, 2, 3, 4, 5];

async function create(kind: Kind, more: Record<string, unknown> = {}, service = short): Promise<string> {
  const common = { container_url: world.container.url, policy, max_concurrent: 3, ...more };
  const body =
    kind === 'session'
      ? {
          policy_optimization: {
            algorithm: 'gepa',
            gepa: { population_size: 4, generations: 6, evaluation: { seeds } },
            ...common,
          },
        }
      : { app_id: 'a', env_name: 'e', seeds, ...common };
  return (await service.api.call<{ job_id: string }>('POST', base[kind], body)).job_id;
}
interface HandedOn {
  resume: { plan: { leftMs: number }; leftMs: number; control: { status: string } };
}
interface Job {
  status: string;
  stopped_by: string | null;
  best_reward?: number;
  rollouts_resent: number;
  error: string | null;
  progress: { completed: number };
}
const read = (kind: Kind, id: string, service = short) => service.api.call<Job>('GET', `${base[kind]}/${id}`);
const ended = (kind: Kind, id: string, service = short) =>
  until(
    `${id} has ended`,
    async () => {
      const job = await read(kind, id, service);
      return ['completed', 'failed', 'cancelled'].includes(job.status) && job;
    },
    60,
  );
const workflow = (kind: Kind, id: string) => short.temporal.workflow.getHandle(`${kind}-${id}`);
const mine = (id: string) => world.container.ledger.filter((entry) => entry.rolloutId.includes(id.slice(4)));
const command = (kind: Kind, id: string, name: string) =>
  short.api.call<{ status: string }>('POST', `${base[kind]}/${id}/${name}`);

const unanswered = (id: string) =>
  short.db.org('default', (tx) =>
    tx.query('select id, kind from commands where job_id = $1 and outcome is null', [id]),
  );

/** Every run ended soon after the suggestion came, and every event of the job is there once, in order. */
async function expectChain(kind: Kind, id: string, least: number): Promise<History[]> {
  const runs = await chainOf(short.temporal, `${kind}-${id}`);
  expect(runs.length).toBeGreaterThanOrEqual(least);
  for (const run of runs) expect(run.events.length).toBeLessThan(10 * suggested);
  const rows = await short.db.org('default', (tx) =>
    tx.query<{ seq: number }>('select seq from events where job_id = $1 order by seq', [id]),
  );
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, i) => i + 1));
  expect(await unanswered(id)).toEqual([]);
  return runs;
}

/** What a session found, without ids of its own. */
async function found(id: string, service = short) {
  const bare = (text: string | null) => text?.replace(id.slice(4), '') ?? null;
  const rows = await service.db.org('default', (tx) =>
    tx.query<{ parents: string[]; status: string; reward: number | null; rollouts: number; messages: unknown }>(
      `select parent_ids as parents, status, reward, rollout_count as rollouts, messages
         from candidates where job_id = $1 order by lever_version`,
      [id],
    ),
  );
  const results = await service.api.call<{ best_reward: number; best_candidate: { candidate_id: string } }>(
    'GET',
    `${base.session}/${id}/results`,
  );
  return {
    best: [results.best_reward, bare(results.best_candidate.candidate_id)],
    candidates: rows.map((row) => ({ ...row, parents: row.parents.map(bare) })),
  };
}

const runsOf = async (kind: Kind, id: string) => (await chainOf(short.temporal, `${kind}-${id}`)).length;

/** Sends signals that change nothing, as a script of an operator's might, until the workflow has so many runs; says how many. */
async function flood(kind: Kind, id: string, signal: string, runs: number): Promise<number> {
  let sent = 0;
  await until(`${id} has ${runs} runs`, async () => {
    await Promise.all(Array.from({ length: 10 }, () => workflow(kind, id).signal(signal)));
    sent += 10;
    return (await runsOf(kind, id)) >= runs;
  });
  return sent;
}
const msOf = (event: History['events'][number] | undefined) =>
  Number(event!.eventTime!.seconds) * 1_000 + Math.floor(Number(event!.eventTime!.nanos) / 1e6);
const signalsIn = (runs: History[]) =>
  runs.flatMap((run) => run.events).filter((event) => event.workflowExecutionSignaledEventAttributes).length;

describe('a session', () => {
  test('goes on over many runs to the very end that it has in one', async () => {
    const one = await startTestService(world.env);
    try {
      const [whole, parts] = [await create('session', {}, one), await create('session')];
      expect(await ended('session', whole, one)).toMatchObject({ status: 'completed', best_reward: 1 });
      expect(await ended('session', parts)).toMatchObject({ status: 'completed', best_reward: 1, rollouts_resent: 0 });
      expect(await found(parts)).toEqual(await found(whole, one));
    } finally {
      await one.stop();
    }
  }, 90_000);

  test('is found by operators in each run, and its query answers', async () => {
    const id = await create('session');
    await ended('session', id);
    // The row is closed first.
    await workflow('session', id).result();
    const runs = await expectChain('session', id, 3);
    expect(runs.at(-1)!.events.at(-1)!.workflowExecutionCompletedEventAttributes).toBeTruthy();
    const seen = await workflow('session', id).describe();
    expect(seen.status.name).toBe('COMPLETED');
    expect(seen.typedSearchAttributes.get(statusAttribute)).toBe('completed');
    expect(await workflow('session', id).query('status')).toMatchObject({ status: 'completed', bestReward: 1 });
    // Temporal does not hand the static summary on; the details are set by each run.
    const { currentDetails } = await workflow('session', id).query<{ currentDetails: string }>(
      '__temporal_workflow_metadata',
    );
    expect(currentDetails).toMatch(/generation \d of 6, best reward 1\.000/);
  });
});

describe('a session with max_minutes', () => {
  test('takes what is left of them along; a pause takes nothing of it', async () => {
    world.container.behave((call) => (call.seed < 100 ? ruled(call) : answers.pending202()));
    const id = await create('session', {
      budget: { max_minutes: 0.1 },
      gepa: { population_size: 2, generations: 2, train_seeds: [100, 101], evaluation: { seeds } },
    });
    await until('a minibatch waits', () => mine(id).some(({ seed }) => seed >= 100));
    await command('session', id, 'pause');
    await flood('session', id, 'pause', 4);
    await command('session', id, 'resume');
    expect(await ended('session', id)).toMatchObject({ status: 'completed', stopped_by: 'max_minutes' });
    const runs = await expectChain('session', id, 4);
    const handed = runs.slice(1).map((run) => inputOf<HandedOn>(run).resume);
    const left = handed.map(({ leftMs }) => leftMs);
    expect(left[0]).toBeLessThan(6_000);
    // The runs of the pause took nothing.
    const within = handed.filter(({ control }) => control.status === 'paused').map(({ leftMs }) => leftMs);
    expect(within.length).toBeGreaterThan(1);
    expect(new Set(within).size).toBe(1);
  });
});

describe.each<Kind>(['session', 'evaluation'])('a %s', (kind) => {
  test('that is paused and sent signals continues as new, stays paused, and goes on when it is resumed', async () => {
    const id = await create(kind);
    await command(kind, id, 'pause');
    const sent = await flood(kind, id, 'pause', 3);
    expect(await workflow(kind, id).query('status')).toMatchObject({ status: 'paused' });
    expect(await read(kind, id)).toMatchObject({ status: 'paused' });
    expect((await command(kind, id, 'resume')).status).toBe('running');
    expect(await ended(kind, id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    // With the pause and the resume.
    expect(signalsIn(await expectChain(kind, id, 3))).toBe(sent + 2);
  });

  test('takes every command that comes while it continues as new', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create(kind);
    await until('a rollout is in flight', () => mine(id).length > 0);
    const inTurn = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'resume' : 'pause'));
    for (const names of [inTurn, inTurn.map(() => 'pause')]) {
      const runs = (await runsOf(kind, id)) + 3;
      await until('it went on three times', async () => {
        await Promise.all(names.map((name) => command(kind, id, name)));
        return (await runsOf(kind, id)) >= runs;
      });
    }
    // The end would answer what nobody has answered.
    await until('every command is answered', async () => (await unanswered(id)).length === 0);
    expect((await command(kind, id, 'pause')).status).toBe('paused');
    expect((await command(kind, id, 'cancel')).status).toBe('cancelled');
    await until('it is closed', async () => (await workflow(kind, id).describe()).status.name === 'CANCELLED');
    const runs = await expectChain(kind, id, 3);
    expect(runs.at(-1)!.events.at(-1)!.workflowExecutionCanceledEventAttributes).toBeTruthy();
    const types = await short.db.org('default', (tx) =>
      tx.query<{ type: string }>(
        `select type from events where job_id = $1 and type in ('paused', 'resumed') order by seq`,
        [id],
      ),
    );
    expect(types.map((row) => row.type)).toEqual(types.map((_, i) => (i % 2 ? 'resumed' : 'paused')));
  });

  test('is cancelled by Temporal itself in a later run', async () => {
    const id = await create(kind);
    await command(kind, id, 'pause');
    await flood(kind, id, 'pause', 2);
    await workflow(kind, id).cancel();
    expect(await ended(kind, id)).toMatchObject({ status: 'cancelled' });
    await until('it is closed', async () => (await workflow(kind, id).describe()).status.name === 'CANCELLED');
    await expectChain(kind, id, 2);
  });

  test('is closed when a later run is terminated', async () => {
    const id = await create(kind);
    await command(kind, id, 'pause');
    await flood(kind, id, 'pause', 2);
    await workflow(kind, id).terminate('by hand');
    expect(await ended(kind, id)).toMatchObject({ status: 'failed', error: expect.stringMatching(/terminated/) });
  });
});

describe('an evaluation', () => {
  test('whose rewards come late continues as new while it waits, and no rollout is sent again', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create('evaluation', { rollout_timeout: 600 });
    await until('three wait', () => mine(id).length === 3);
    await flood('evaluation', id, 'resume', 3);
    for (const [i] of seeds.entries()) {
      const { rolloutId } = await until(`rollout ${i} is asked`, () => mine(id)[i]);
      await short.api.call('POST', `${base.evaluation}/${id}/reward`, { rollout_id: rolloutId, reward: 1 });
    }
    expect(await ended('evaluation', id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    expect(mine(id)).toHaveLength(seeds.length);
    await expectChain('evaluation', id, 3);
  });

  test('lets what is in flight end before it continues as new: nothing is sent again', async () => {
    const { opened, open } = gate();
    world.container.behave(() => answers.held(opened, answers.reward(1)));
    const id = await create('evaluation');
    await until('three are in flight', () => mine(id).length === 3);
    await until('its slice is asked to end', async () => {
      await workflow('evaluation', id).signal('resume');
      const [run] = await chainOf(short.temporal, `evaluation-${id}`);
      return run!.events.some((event) => event.activityTaskCancelRequestedEventAttributes);
    });
    // The answer to one heartbeat tells it; by the next it has been told.
    const beats = new Set<string>();
    await until('it has been told', async () => {
      const { raw } = await workflow('evaluation', id).describe();
      beats.add(JSON.stringify(raw.pendingActivities?.[0]?.lastHeartbeatTime));
      return beats.size > 2;
    });
    open();
    expect(await ended('evaluation', id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    expect(mine(id).map((entry) => entry.attempt)).toEqual(seeds.map(() => 1));
    await expectChain('evaluation', id, 2);
  });

  test('takes what is left of its timeout along; a pause takes nothing of it', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create('evaluation', { timeout: 4 });
    await until('three wait', () => mine(id).length === 3);
    await command('evaluation', id, 'pause');
    await flood('evaluation', id, 'pause', 4);
    await command('evaluation', id, 'resume');
    const job = await ended('evaluation', id);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(/its timeout of 4 s/) });
    const runs = await expectChain('evaluation', id, 4);
    const handed = runs.slice(1).map((run) => inputOf<HandedOn>(run).resume);
    const left = handed.map(({ plan }) => plan.leftMs);
    expect(left[0]).toBeLessThan(4_000);
    // Each of these runs began and ended within the pause.
    expect(new Set(left.slice(0, 2)).size).toBe(1);
    const { events } = runs.at(-1)!;
    const timers = events.map((event) => event.timerStartedEventAttributes?.startToFireTimeout);
    const ms = timers.filter(Boolean).map((t) => Number(t!.seconds) * 1_000 + Number(t!.nanos) / 1e6);
    // The resume may have come while the last run but one still went on: then the last counts from its start.
    const begun = events.find((event) => event.workflowTaskStartedEventAttributes);
    const counted = handed.at(-1)!.control.status === 'running' ? msOf(begun) - msOf(events[0]) : 0;
    expect(ms).toContain(left.at(-1)! - counted);
  });
});

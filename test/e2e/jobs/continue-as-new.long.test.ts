import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { statusAttribute } from '../../../workflows/messages.js';
import { cancelRequested, chainOf, inputOf, type History } from '../../support/chain.js';
import { answers } from '../../support/fakes/container.js';
import { startGraphWorld, type GraphWorld } from '../../support/worlds/graph.js';
import {
  command,
  createEvaluation,
  createGraphJob,
  createSession,
  ended,
  readJob,
  resultsOf,
  type GraphJob,
  type Session,
} from '../../support/jobs-over-http.js';
import { startRulesWorld, type RulesWorld } from '../../support/worlds/rules.js';
import { startTestService, type TestService } from '../../support/service.js';
import { startShortHistories, type OwnTemporal } from '../../support/servers/short-histories.js';
import { gate } from '../../support/gate.js';
import { signalWhileRunning } from '../../support/many-runs.js';
import { until } from '../../support/until.js';
import { workflowIs } from '../../support/workflow-is.js';

// Jobs continue as new at any point without losing anything. The server suggests it at 40 events
// instead of 4,096.

const suggested = 40;
let temporal: OwnTemporal;
let world: RulesWorld;
/** The calls to OpenAI; the rest go to its provider `fake`. */
let graphs: GraphWorld;
let short: TestService;
beforeAll(async () => {
  [temporal, world, graphs] = await Promise.all([
    startShortHistories(suggested),
    startRulesWorld(6),
    startGraphWorld(),
  ]);
  short = await startTestService({ ...graphs.env, ...world.env, TEMPORAL_ADDRESS: temporal.address });
}, 90_000);
afterAll(async () => {
  await short.stop();
  await world.close();
  await graphs.close();
  await temporal.stop();
}, 60_000);
afterEach(() => world.reset());

type Kind = 'session' | 'evaluation';
const seeds = [0, 1, 2, 3, 4, 5];

function create(kind: Kind, more: object = {}, service = short): Promise<string> {
  const common = { ...world.job, max_concurrent: 3, ...more };
  return kind === 'evaluation'
    ? createEvaluation(service, { seeds, ...common })
    : createSession(service, { gepa: { population_size: 4, generations: 6, evaluation: { seeds } }, ...common });
}
interface HandedOn {
  carried: { leftMs: number; status: string };
}
const mine = (id: string) => world.container.callsOf(id);

const runsOf = (id: string) => chainOf(short.temporal, short.workflow(id).workflowId);
const unanswered = (id: string) =>
  short.query('select id, kind from commands where job_id = $1 and outcome is null', [id]);

/** Every run ended soon after the suggestion; every event of the job exists once, in order. */
async function expectChain(id: string, least: number): Promise<History[]> {
  const runs = await runsOf(id);
  expect(runs.length).toBeGreaterThanOrEqual(least);
  for (const run of runs) expect(run.events.length).toBeLessThan(10 * suggested);
  const rows = await short.query<{ seq: number }>('select seq from events where job_id = $1 order by seq', [id]);
  expect(rows.map((row) => row.seq)).toEqual(rows.map((_, i) => i + 1));
  expect(await unanswered(id)).toEqual([]);
  return runs;
}

/** A session's results without its ids. */
async function found(id: string, service = short) {
  const bare = (text: string | null) => text?.replace(id.slice(4), '') ?? null;
  const rows = await service.query<{
    parents: string[];
    status: string;
    reward: number | null;
    rollouts: number;
    messages: unknown;
  }>(
    `select parent_ids as parents, status, reward, rollouts_counted as rollouts, messages
       from candidates where job_id = $1 order by lever_version`,
    [id],
  );
  const results = await resultsOf(service, id);
  return {
    best: [results.best_reward, bare(results.best_candidate!.candidate_id)],
    candidates: rows.map((row) => ({ ...row, parents: row.parents.map(bare) })),
  };
}

/** Sends signals without effect until the workflow has this many runs; returns their number. */
async function flood(id: string, signal: string, runs: number): Promise<number> {
  let sent = 0;
  const handle = short.workflow(id);
  await until(`${id} has ${runs} runs`, async () => {
    const { raw } = await handle.describe();
    // A slice that has been asked to end lasts until a heartbeat says so.
    if (!raw.pendingActivities?.some(({ state }) => state === cancelRequested)) {
      await Promise.all(Array.from({ length: 10 }, () => handle.signal(signal)));
      sent += 10;
    }
    // A run cannot end while signals go on to arrive.
    await until('they are handled', async () => !(await handle.describe()).raw.pendingWorkflowTask);
    return (await runsOf(id)).length >= runs;
  });
  return sent;
}
async function endedInManyRuns<T extends Session | GraphJob = Session>(id: string): Promise<T> {
  await signalWhileRunning(short, id);
  return ended<T>(short, id);
}
/** Rollouts long enough for several runs. */
const slowly = () => world.container.behave((call) => answers.held(delay(400), world.answer(call)));
const msOf = (event: History['events'][number] | undefined) =>
  Number(event!.eventTime!.seconds) * 1_000 + Math.floor(Number(event!.eventTime!.nanos) / 1e6);
const signalsIn = (runs: History[]) =>
  runs.flatMap((run) => run.events).filter((event) => event.workflowExecutionSignaledEventAttributes).length;

describe('a session', () => {
  test('ends the same after many runs as after one', async () => {
    const long = await startTestService(world.env);
    slowly();
    try {
      const [whole, parts] = [await create('session', {}, long), await create('session')];
      expect(await endedInManyRuns(parts)).toMatchObject({ status: 'completed', best_reward: 1, rollouts_resent: 0 });
      expect(await ended(long, whole)).toMatchObject({ status: 'completed', best_reward: 1 });
      expect(await found(parts)).toEqual(await found(whole, long));
      expect((await runsOf(parts)).length).toBeGreaterThan(2);
    } finally {
      await long.stop();
    }
  }, 90_000);

  test('is visible to operators in each run and answers its query', async () => {
    slowly();
    const id = await create('session');
    await endedInManyRuns(id);
    // The row closes before the workflow.
    await short.workflow(id).result();
    const runs = await expectChain(id, 3);
    expect(runs.at(-1)!.events.at(-1)!.workflowExecutionCompletedEventAttributes).toBeTruthy();
    const seen = await short.workflow(id).describe();
    expect(seen.status.name).toBe('COMPLETED');
    expect(seen.typedSearchAttributes.get(statusAttribute)).toBe('completed');
    expect(await short.workflow(id).query('status')).toMatchObject({ status: 'completed', bestReward: 1 });
    // Temporal does not carry the static summary over; each run sets the details.
    const { currentDetails } = await short
      .workflow(id)
      .query<{ currentDetails: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toMatch(/^completed \(solved\): \d+ answers, best reward 1\.000$/);
  });
});

test('a graph job continues over many runs', async () => {
  const model = { policy_model: 'gpt-4o-mini', policy_provider: 'openai', proposer: undefined };
  const id = await createGraphJob(short, graphs.job(20, { ...model, rollout_budget: 300 }));
  expect(await endedInManyRuns<GraphJob>(id)).toMatchObject({ status: 'completed', best_reward: 1 });
  await short.workflow(id).result();
  await expectChain(id, 2);
}, 90_000);

describe('a session with max_minutes', () => {
  test('carries its remaining minutes over, without the time of pauses', async () => {
    world.container.behave((call) => (call.seed < 100 ? world.answer(call) : answers.pending202()));
    const id = await create('session', {
      budget: { max_minutes: 0.1 },
      gepa: { population_size: 2, generations: 2, train_seeds: [100, 101], evaluation: { seeds } },
    });
    await until('a minibatch waits', () => mine(id).some(({ seed }) => seed >= 100));
    await command(short, id, 'pause');
    await flood(id, 'pause', 4);
    await command(short, id, 'resume');
    expect(await ended(short, id)).toMatchObject({ status: 'completed', stopped_by: 'max_minutes' });
    const runs = await expectChain(id, 4);
    const handed = runs.slice(1).map((run) => inputOf<HandedOn>(run).carried);
    const left = handed.map(({ leftMs }) => leftMs);
    expect(left[0]).toBeLessThan(6_000);
    // The runs during the pause took no minutes.
    const within = handed.filter(({ status }) => status === 'paused').map(({ leftMs }) => leftMs);
    expect(within.length).toBeGreaterThan(1);
    expect(new Set(within).size).toBe(1);
  });
});

describe.each<Kind>(['session', 'evaluation'])('a %s', (kind) => {
  test('continues as new while paused, stays paused, and continues after a resume', async () => {
    const id = await create(kind);
    await command(short, id, 'pause');
    const sent = await flood(id, 'pause', 3);
    expect(await short.workflow(id).query('status')).toMatchObject({ status: 'paused' });
    expect(await readJob(short, id)).toMatchObject({ status: 'paused' });
    expect((await command(short, id, 'resume')).status).toBe('running');
    expect(await ended(short, id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    // Including the pause and the resume.
    expect(signalsIn(await expectChain(id, 3))).toBe(sent + 2);
  });

  test('takes every command that arrives while it continues as new', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create(kind);
    await until('a rollout is in flight', () => mine(id).length > 0);
    const inTurn = Array.from({ length: 20 }, (_, i): 'pause' | 'resume' => (i % 2 ? 'resume' : 'pause'));
    for (const names of [inTurn, inTurn.map(() => 'pause' as const)]) {
      const runs = (await runsOf(id)).length + 3;
      await until('it went on three times', async () => {
        await Promise.all(names.map((name) => command(short, id, name)));
        return (await runsOf(id)).length >= runs;
      });
    }
    // Commands without an answer would be answered at the end.
    await until('every command is answered', async () => (await unanswered(id)).length === 0);
    expect((await command(short, id, 'pause')).status).toBe('paused');
    expect((await command(short, id, 'cancel')).status).toBe('cancelled');
    await workflowIs(short.workflow(id), 'CANCELLED');
    const runs = await expectChain(id, 3);
    expect(runs.at(-1)!.events.at(-1)!.workflowExecutionCanceledEventAttributes).toBeTruthy();
    const types = await short.query<{ type: string }>(
      `select type from events where job_id = $1 and type in ('paused', 'resumed') order by seq`,
      [id],
    );
    expect(types.map((row) => row.type)).toEqual(types.map((_, i) => (i % 2 ? 'resumed' : 'paused')));
  });

  test('is cancelled by Temporal’s own cancel in a later run', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create(kind);
    await command(short, id, 'pause');
    await flood(id, 'pause', 2);
    await short.workflow(id).cancel();
    expect(await ended(short, id)).toMatchObject({ status: 'cancelled' });
    await workflowIs(short.workflow(id), 'CANCELLED');
    await expectChain(id, 2);
  });

  test('is closed when a later run is terminated', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create(kind);
    await command(short, id, 'pause');
    await flood(id, 'pause', 2);
    await short.workflow(id).terminate('by hand');
    expect(await ended(short, id)).toMatchObject({ status: 'failed', error: expect.stringMatching(/terminated/) });
  });
});

describe('an evaluation', () => {
  test('with late rewards continues as new while waiting, and sends no rollout again', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create('evaluation', { rollout_timeout: 600 });
    await until('three wait', () => mine(id).length === 3);
    await flood(id, 'resume', 3);
    for (const [i] of seeds.entries()) {
      const { rolloutId } = await until(`rollout ${i} is asked`, () => mine(id)[i]);
      await command(short, id, 'reward', { rollout_id: rolloutId, reward: 1 });
    }
    expect(await ended(short, id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    expect(mine(id)).toHaveLength(seeds.length);
    await expectChain(id, 3);
  });

  test('waits for rollouts in flight before it continues as new, and sends none again', async () => {
    const { opened, open } = gate();
    world.container.behave(() => answers.held(opened, answers.reward(1)));
    const id = await create('evaluation');
    await until('three are in flight', () => mine(id).length === 3);
    await until('its slice is asked to end', async () => {
      await short.workflow(id).signal('resume');
      const [run] = await runsOf(id);
      return run!.events.some((event) => event.activityTaskCancelRequestedEventAttributes);
    });
    // The answer to one heartbeat reports it; the next heartbeat comes after the report.
    const beats = new Set<string>();
    await until('it has been told', async () => {
      const { raw } = await short.workflow(id).describe();
      beats.add(JSON.stringify(raw.pendingActivities?.[0]?.lastHeartbeatTime));
      return beats.size > 2;
    });
    open();
    expect(await ended(short, id)).toMatchObject({ status: 'completed', rollouts_resent: 0 });
    expect(mine(id).map((entry) => entry.attempt)).toEqual(seeds.map(() => 1));
    await expectChain(id, 2);
  });

  test('carries its remaining timeout over, without the time of pauses', async () => {
    world.container.behave(() => answers.pending202());
    const id = await create('evaluation', { timeout: 4 });
    await until('three wait', () => mine(id).length === 3);
    await command(short, id, 'pause');
    await flood(id, 'pause', 4);
    await command(short, id, 'resume');
    const job = await ended(short, id);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(/its timeout of 4 s/) });
    const runs = await expectChain(id, 4);
    const handed = runs.slice(1).map((run) => inputOf<HandedOn>(run).carried);
    const left = handed.map(({ leftMs }) => leftMs);
    expect(left[0]).toBeLessThan(4_000);
    // Each of these runs began and ended within the pause.
    expect(new Set(left.slice(0, 2)).size).toBe(1);
    const { events } = runs.at(-1)!;
    const timers = events.map((event) => event.timerStartedEventAttributes?.startToFireTimeout);
    const ms = timers.filter(Boolean).map((t) => Number(t!.seconds) * 1_000 + Number(t!.nanos) / 1e6);
    // The resume may arrive during the second last run; the last run then counts from its start.
    const firstTask = events.find((event) => event.workflowTaskStartedEventAttributes);
    const counted = handed.at(-1)!.status === 'running' ? msOf(firstTask) - msOf(events[0]) : 0;
    expect(ms).toContain(left.at(-1)! - counted);
  });
});

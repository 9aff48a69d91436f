import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { now } from '../clock.js';
import { range } from '../jobs.js';
import { openLoop } from '../open-loop.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import { difference, type HeldRollout, type World } from '../world.js';

const perSecond = 100;
const seconds = 20;
const held = 50;
const patienceMs = 30_000;
const policy = { provider: 'fake', model: 'fake-1' };
const system = [{ role: 'system', content: 'Answer like a shop that is sorry, in one sentence.' }];

/** Milliseconds from when a call was due. */
interface Timed {
  firstByte: number;
  end: number;
}

/**
 * What the proxy adds to a model call. The calls are those of rollouts under way, with the keys that the rollouts brought:
 * one half of a session's baseline, one half of an evaluation's candidate, so that each has its system message replaced.
 * The same calls go to the model directly, in turns with them.
 */
export async function run(world: World): Promise<Row[]> {
  const jobs = [await holdSession(world), await holdEvaluation(world)];
  const rollouts = await rolloutsHeld(world, jobs.length * held);
  await measure(world, rollouts, { stream: false, seconds: 3 });
  const whole = await measure(world, rollouts, { stream: false, seconds });
  const streamed = await measure(world, rollouts, { stream: true, seconds });
  for (const path of jobs) await world.call('POST', `${path}/cancel`);
  return [
    ...withUse(rowsOf(`proxy at ${perSecond}/s`, 'end', whole), whole),
    ...withUse(rowsOf(`proxy at ${perSecond}/s, streaming, first byte`, 'firstByte', streamed), streamed),
    ...rowsOf(`proxy at ${perSecond}/s, streaming, last byte`, 'end', streamed),
  ];
}

type Measured = Awaited<ReturnType<typeof measure>>;

function rowsOf(what: string, moment: keyof Timed, { proxied, direct }: Measured): Row[] {
  return ([50, 99] as const).map((p) => {
    const [through, without] = [proxied, direct].map((calls) =>
      percentile(
        calls.map((call) => call[moment]),
        p,
      ),
    ) as [number, number];
    return {
      what: `${what}: p${p}`,
      value: through,
      unit: 'ms',
      beside: { what: 'the model called directly', value: without },
      aim: { of: 'difference', most: p === 50 ? 3 : 15 },
    };
  });
}

/** What a call used belongs to the first of its rows. */
function withUse([first, ...rest]: Row[], { proxied, spent }: Measured): Row[] {
  return [{ ...first!, used: { unit: 'call', n: proxied.length, spent } }, ...rest];
}

async function holdSession(world: World): Promise<string> {
  const created = await world.call<{ session_id: string }>('POST', '/api/v1/online/sessions', {
    policy_optimization: {
      algorithm: 'gepa',
      container_url: `${world.container.url}/proxy/hold/0`,
      policy,
      initial_prompt: { messages: system },
      gepa: { population_size: 1, generations: 1, evaluation: { seeds: range(held) } },
      max_concurrent: held,
    },
  });
  return `/api/v1/online/sessions/${created.session_id}`;
}

async function holdEvaluation(world: World): Promise<string> {
  const created = await world.call<{ job_id: string }>('POST', '/api/v1/offline/jobs', {
    container_url: `${world.container.url}/proxy/hold/0`,
    app_id: 'bench',
    env_name: 'bench',
    seeds: range(held),
    policy,
    candidate: { messages: system },
    max_concurrent: held,
  });
  return `/api/v1/offline/jobs/${created.job_id}`;
}

async function rolloutsHeld(world: World, wanted: number): Promise<HeldRollout[]> {
  const deadline = now() + patienceMs;
  for (;;) {
    const found = await world.container.ask<HeldRollout[]>('held', 'proxy');
    if (found.length === wanted) return found;
    if (now() > deadline) throw new Error(`the container holds ${found.length} rollouts, not ${wanted}`);
    await delay(100);
  }
}

async function measure(world: World, rollouts: HeldRollout[], run: { stream: boolean; seconds: number }) {
  const dispatcher = new Agent({ pipelining: 1 });
  const proxied: Timed[] = [];
  const direct: Timed[] = [];
  const call = async (url: string, key: string, dueAt: number, index: number): Promise<Timed> => {
    const answer = await request(`${url}/chat/completions`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: 'fake-1',
        messages: [system[0], { role: 'user', content: `Where is parcel ${index}?` }],
        ...(run.stream && { stream: true, stream_options: { include_usage: true } }),
      }),
      signal: AbortSignal.timeout(patienceMs),
    });
    let firstByte: number | undefined;
    let text = '';
    for await (const chunk of answer.body) {
      firstByte ??= now() - dueAt;
      text += String(chunk);
    }
    if (answer.statusCode !== 200 || firstByte === undefined) throw new Error(`${url}: ${answer.statusCode} ${text}`);
    if (run.stream && !text.endsWith('data: [DONE]\n\n')) throw new Error(`${url}: the stream broke off`);
    return { firstByte, end: now() - dueAt };
  };
  const before = await world.spent();
  // Twice the rate: every other call goes to the model directly.
  await openLoop(2 * perSecond, run.seconds, async (dueAt, index) => {
    const rollout = rollouts[(index >> 1) % rollouts.length]!;
    if (index % 2 === 0) proxied.push(await call(rollout.url, rollout.key, dueAt, index));
    else direct.push(await call(world.model.url, 'none', dueAt, index));
  });
  const spent = difference(before, await world.spent());
  await dispatcher.close();
  return { proxied, direct, spent };
}

import { now } from '../clock.js';
import { system } from '../inference-load.js';
import { createLoadCaller, type Answers, type Asked, type LoadCaller } from '../overload/caller.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';
import { deploy } from './deployment.js';
import { holdRollouts } from './proxy.js';

/** Calls at once that find out what the machine can carry. */
const atOnce = 64;
const times = 10;
const warmUpSeconds = 2;
const capacitySeconds = 4;
const beforeSeconds = 5;
const burstSeconds = 5;
const overloadSeconds = 10;
/** The load before and after, as a share of what the machine can carry. */
const usual = 0.5;
const normalWithinSeconds = 30;

/** Ten times the load that the machine can carry: deployment calls, proxy calls, creates. */
export async function run(world: World): Promise<Row[]> {
  const caller = createLoadCaller();
  try {
    const rows: Row[] = [];
    for (const [what, asked] of await kindsOf(world)) rows.push(...(await overload(caller, what, asked)));
    return rows;
  } finally {
    await caller.close();
  }
}

async function kindsOf(world: World): Promise<[what: string, asked: Asked][]> {
  const chat = (index: number) =>
    JSON.stringify({
      model: 'fake-1',
      messages: [system, { role: 'user', content: `Where is parcel ${index}?` }],
    });
  const toModel = (urls: string[], key: string): Asked => ({
    url: (index) => `${urls[index % urls.length]}/chat/completions`,
    headers: { authorization: `Bearer ${key}` },
    body: chat,
  });
  const deployed = await deploy(world);
  const { rollouts } = await holdRollouts(world);
  const create: Asked = {
    url: () => `${world.url}/api/v1/offline/jobs`,
    headers: { authorization: `Bearer ${world.apiKey}` },
    body: () =>
      JSON.stringify({
        container_url: `${world.container.url}/overload/delay/0`,
        app_id: 'bench',
        env_name: 'bench',
        seeds: [0],
        preflight: false,
        policy: { provider: 'fake', model: 'fake-1' },
      }),
  };
  return [
    ['deployment calls', toModel([deployed.url], deployed.key)],
    // With an API key: the calls of containers are bounded by max_concurrent instead.
    [
      'proxy calls',
      toModel(
        rollouts.map(({ url }) => url),
        world.apiKey,
      ),
    ],
    ['creates', create],
  ];
}

async function overload(caller: LoadCaller, what: string, asked: Asked): Promise<Row[]> {
  await caller.closed(asked, atOnce, warmUpSeconds);
  const carried = (await caller.closed(asked, atOnce, capacitySeconds)).admitted.length / capacitySeconds;
  const before = await caller.open(asked, carried * usual, beforeSeconds);
  // The queues take the first of them, as they take any burst.
  const during = await caller.open(asked, carried * times, overloadSeconds, burstSeconds);
  const usualMs = latest(before);
  const normal = await untilNormal(caller, asked, carried * usual, usualMs);
  const all = `${what} at ${times} times the load`;
  const sum = (answers: Answers) => Object.values(answers.failed).reduce((total, n) => total + n, 0);
  return [
    {
      what: `${all}: answers but 2xx, and 429 or 503 with retry-after`,
      value: sum(before) + sum(during.early) + sum(during),
      unit: 'answers',
      aim: { of: 'value', most: 0 },
      raw: { carried, before, during, normal },
    },
    {
      what: `${all}: admitted`,
      value: during.admitted.length / overloadSeconds,
      unit: '/s',
      beside: { what: `the rate that ${atOnce} callers reach`, value: carried },
    },
    {
      what: `${all}: admitted after ${burstSeconds} s, p99`,
      value: latest(during),
      unit: 'ms',
      beside: { what: `at ${usual} times the load`, value: usualMs },
      aim: { of: 'ratio', most: 2 },
    },
    {
      what: `${all}: time until p99 is normal again`,
      value: normal,
      unit: 's',
      aim: { of: 'value', most: normalWithinSeconds },
    },
  ];
}

const latest = ({ admitted }: Answers): number => percentile(admitted, 99);

/** Seconds until a second of the usual load has no refusal and at most twice the usual latency. */
async function untilNormal(caller: LoadCaller, asked: Asked, perSecond: number, usualMs: number): Promise<number> {
  const from = now();
  for (;;) {
    const startedAt = now();
    const answers = await caller.open(asked, perSecond, 1);
    const isNormal = answers.refused + answers.unsent === 0 && latest(answers) <= 2 * usualMs;
    if (isNormal) return (startedAt - from) / 1_000;
    if (startedAt - from > normalWithinSeconds * 2_000) return Infinity;
  }
}

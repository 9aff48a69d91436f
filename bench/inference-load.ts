import { Agent, request } from 'undici';
import { now } from './clock.js';
import { openLoop } from './open-loop.js';
import { percentile } from './stats.js';
import type { Row } from './table.js';
import { difference, type Spent, type World } from './world.js';

/** The system message of every call that is measured, so that what replaces one by another sends the model the same. */
export const system = { role: 'system', content: 'Answer like a shop that is sorry, in one sentence.' };

const patienceMs = 30_000;

/** Where chat completions are asked for (`url`, before /chat/completions), and with which key. */
export interface Target {
  url: string;
  key: string;
}

/** How many calls a second go through what is measured, for how long, and whether their answers are streamed. */
export interface Load {
  perSecond: number;
  seconds: number;
  stream: boolean;
  /** Of so many calls in all one goes to the model directly. Default: 2, every other one. */
  directEvery?: number;
}

/** Milliseconds from when a call was due. */
export interface Timed {
  firstByte: number;
  end: number;
}

/** What calls through something took, and those to the model directly; `spent` by all of them. */
export interface Measured {
  through: Timed[];
  direct: Timed[];
  spent: Spent;
}

/**
 * Calls the targets, one after the other, at a constant rate, and the model directly in turns with them. Rejects with the first
 * call that fails.
 */
export async function measure(
  world: World,
  targets: readonly Target[],
  { perSecond, seconds, stream, directEvery = 2 }: Load,
): Promise<Measured> {
  const dispatcher = new Agent({ pipelining: 1, connect: { timeout: patienceMs } });
  const through: Timed[] = [];
  const direct: Timed[] = [];
  const model = { url: world.model.url, key: 'none' };
  const before = await world.spent();
  try {
    const all = (perSecond * directEvery) / (directEvery - 1);
    await openLoop(all, seconds, async (dueAt, index) => {
      const place = index % directEvery;
      const isDirect = place === directEvery - 1;
      const nth = Math.floor(index / directEvery) * (directEvery - 1) + place;
      const target = isDirect ? model : targets[nth % targets.length]!;
      (isDirect ? direct : through).push(await call(dispatcher, target, stream, dueAt, index));
    });
    return { through, direct, spent: difference(before, await world.spent()) };
  } finally {
    await dispatcher.destroy();
  }
}

async function call(
  dispatcher: Agent,
  { url, key }: Target,
  stream: boolean,
  dueAt: number,
  index: number,
): Promise<Timed> {
  const answer = await request(`${url}/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: 'fake-1',
      messages: [system, { role: 'user', content: `Where is parcel ${index}?` }],
      ...(stream && { stream: true, stream_options: { include_usage: true } }),
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
  if (stream && !text.endsWith('data: [DONE]\n\n')) throw new Error(`${url}: the stream broke off`);
  return { firstByte, end: now() - dueAt };
}

/** The rows of whole answers and of streamed ones beside those of the model itself; what a call used with the first of each. */
export function addedRows(what: string, whole: Measured, streamed: Measured): Row[] {
  return [
    ...withUse(rowsOf(what, 'end', whole), whole),
    ...withUse(rowsOf(`${what}, streaming, first byte`, 'firstByte', streamed), streamed),
    ...rowsOf(`${what}, streaming, last byte`, 'end', streamed),
  ];
}

function rowsOf(what: string, moment: keyof Timed, { through, direct }: Measured): Row[] {
  return ([50, 99] as const).map((p) => ({
    what: `${what}: p${p}`,
    value: latency(through, moment, p),
    unit: 'ms',
    beside: { what: 'the model called directly', value: latency(direct, moment, p) },
    aim: { of: 'difference', most: p === 50 ? 3 : 15 },
  }));
}

/** A percentile of what calls took, milliseconds. */
export function latency(calls: readonly Timed[], moment: keyof Timed, p: number): number {
  return percentile(
    calls.map((call) => call[moment]),
    p,
  );
}

function withUse([first, ...rest]: Row[], { through, spent }: Measured): Row[] {
  return [{ ...first!, used: { unit: 'call', n: through.length, spent } }, ...rest];
}

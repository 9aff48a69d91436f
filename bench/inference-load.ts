import { Agent, request } from 'undici';
import { now } from './clock.js';
import { openLoop } from './open-loop.js';
import { percentile } from './stats.js';
import type { Row } from './table.js';
import { difference, type Spent, type World } from './world.js';

/** System message of all measured calls, so that a replaced message reaches the model unchanged. */
export const system = { role: 'system' as const, content: 'Answer like a shop that is sorry, in one sentence.' };

const patienceMs = 30_000;

/** A chat completions server: its URL before /chat/completions, its key, and further headers. */
export interface Target {
  url: string;
  key: string;
  headers?: (index: number) => Record<string, string>;
  /** Called with each whole answer, after its latency is known. */
  onAnswer?: (answer: { id: string }) => Promise<void>;
}

/** Rate, duration and mode of the measured calls. */
export interface Load {
  perSecond: number;
  seconds: number;
  stream: boolean;
  /** Of the user's message; default: a short question. */
  textOf?: (index: number) => string;
  /** One call in this many goes directly to the model. Default 2. */
  directEvery?: number;
}

/** Milliseconds since the call was due; of a direct call since its own start. */
export interface Timed {
  firstByte: number;
  end: number;
}

/** Latencies of the measured and the direct calls; `spent` by all of them. */
export interface Measured {
  through: Timed[];
  direct: Timed[];
  spent: Spent;
}

/**
 * Calls the targets in turn at a constant rate, with direct model calls between. Rejects with the
 * first failure.
 */
export async function measure(
  world: World,
  targets: readonly Target[],
  { perSecond, seconds, stream, directEvery = 2, textOf = question }: Load,
): Promise<Measured> {
  const dispatcher = new Agent({ pipelining: 1, connect: { timeout: patienceMs } });
  const through: Timed[] = [];
  const direct: Timed[] = [];
  const model = { url: world.model.url, key: 'none' };
  const before = await world.spent();
  try {
    const all = (perSecond * directEvery) / (directEvery - 1);
    await openLoop(all, seconds, async (dueAt, index) => {
      const slot = index % directEvery;
      const isDirect = slot === directEvery - 1;
      const nth = Math.floor(index / directEvery) * (directEvery - 1) + slot;
      const target = isDirect ? model : targets[nth % targets.length]!;
      const asked = { stream, index, text: textOf(index), from: isDirect ? now() : dueAt };
      (isDirect ? direct : through).push(await call(dispatcher, target, asked));
    });
    return { through, direct, spent: difference(before, await world.spent()) };
  } finally {
    await dispatcher.destroy();
  }
}

const question = (index: number) => `Where is parcel ${index}?`;

/** A call; its times count from `from`. */
interface Asked {
  stream: boolean;
  index: number;
  text: string;
  from: number;
}

async function call(
  dispatcher: Agent,
  { url, key, headers, onAnswer }: Target,
  { stream, index, text: asked, from }: Asked,
): Promise<Timed> {
  const answer = await request(`${url}/chat/completions`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers?.(index) },
    body: JSON.stringify({
      model: 'fake-1',
      messages: [system, { role: 'user', content: asked }],
      ...(stream && { stream: true, stream_options: { include_usage: true } }),
    }),
    signal: AbortSignal.timeout(patienceMs),
  });
  let firstByte: number | undefined;
  let text = '';
  for await (const chunk of answer.body) {
    firstByte ??= now() - from;
    text += String(chunk);
  }
  if (answer.statusCode !== 200 || firstByte === undefined) throw new Error(`${url}: ${answer.statusCode} ${text}`);
  if (stream && !text.endsWith('data: [DONE]\n\n')) throw new Error(`${url}: the stream was aborted`);
  const timed = { firstByte, end: now() - from };
  await onAnswer?.(JSON.parse(text) as { id: string });
  return timed;
}

/** Rates of the rows, in calls per second. */
const rates = [100, 200];
/** One direct call in this many: more would use a core for model and client. */
const directEvery = 5;
const warmUpSeconds = 3;
const seconds = 15;

/**
 * Rows of whole and streamed answers at each rate next to the model's own, and their CPU; usage is
 * on the first of each.
 */
export async function addedRows(world: World, what: string, targets: readonly Target[]): Promise<Row[]> {
  await measure(world, targets, { perSecond: rates[0]!, seconds: warmUpSeconds, stream: false, directEvery });
  const rows: Row[] = [];
  for (const perSecond of rates) {
    const load = { perSecond, seconds, directEvery };
    const whole = await measure(world, targets, { ...load, stream: false });
    const streamed = await measure(world, targets, { ...load, stream: true });
    const at = `${what} at ${perSecond}/s`;
    rows.push(
      ...withUse(loadRows(at, 'end', whole), whole),
      cpuRow(at, whole),
      ...withUse(loadRows(`${at}, streaming, first byte`, 'firstByte', streamed), streamed),
      ...loadRows(`${at}, streaming, last byte`, 'end', streamed),
      cpuRow(`${at}, streaming`, streamed),
    );
  }
  return rows;
}

function cpuRow(what: string, { through, spent }: Measured): Row {
  return {
    what: `${what}: CPU a call`,
    value: cpuMs(spent, through.length),
    unit: 'ms',
    aim: { of: 'value', most: 1.2 },
  };
}

/** CPU of API, worker and Postgres for a call, in milliseconds. */
export function cpuMs({ service, postgres }: Spent, calls: number): number {
  return ((service + postgres) * 1_000) / calls;
}

function loadRows(what: string, moment: keyof Timed, { through, direct }: Measured): Row[] {
  return ([50, 99] as const).map((p) => ({
    what: `${what}: p${p}`,
    value: latency(through, moment, p),
    unit: 'ms',
    beside: { what: 'the model called directly', value: latency(direct, moment, p) },
    aim: { of: 'difference', most: p === 50 ? 1.5 : 8 },
  }));
}

/** A percentile of the calls' latencies, in milliseconds. */
export function latency(calls: readonly Timed[], moment: keyof Timed, p: number): number {
  return percentile(
    calls.map((call) => call[moment]),
    p,
  );
}

function withUse([first, ...rest]: Row[], { through, spent }: Measured): Row[] {
  return [{ ...first!, used: { unit: 'call', n: through.length, spent } }, ...rest];
}

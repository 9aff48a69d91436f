import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startChild, type Child } from '../child.js';
import { now } from '../clock.js';
import { openLoop } from '../open-loop.js';
import { percentile } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const perSecond = 50;
const seconds = 8;
const warmUpMs = 3_000;
const sessions = '/api/v1/online/sessions?limit=1';
const floods = [
  { what: 'unknown keys', path: sessions },
  { what: '/readyz', path: '/readyz' },
  { what: '/openapi.json', path: '/openapi.json' },
];

/** Latency of a caller with a key while 64 connections without one ask without pause. */
export async function run(world: World): Promise<Row[]> {
  const strangers = await startChild(join(import.meta.dirname, '..', 'flood.ts'));
  try {
    const rows: Row[] = [];
    for (const flood of floods) rows.push(await row(world, strangers, flood));
    return rows;
  } finally {
    await strangers.stop();
  }
}

async function row(world: World, strangers: Child, { what, path }: (typeof floods)[number]): Promise<Row> {
  const alone = await latencies(world);
  await strangers.ask('begin', world.url + path);
  await delay(warmUpMs);
  const during = await latencies(world);
  const answers = await strangers.ask<Record<number, number>>('end');
  return {
    what: `64 connections of strangers, ${what}: p50 of another caller`,
    value: percentile(during, 50),
    unit: 'ms',
    beside: { what: 'without them', value: percentile(alone, 50) },
    aim: { of: 'value', most: 15 },
    raw: { answers, p99: percentile(during, 99), p99Alone: percentile(alone, 99) },
  };
}

/** Milliseconds since each call was due. */
async function latencies(world: World): Promise<number[]> {
  const took: number[] = [];
  await openLoop(perSecond, seconds, async (dueAt) => {
    await world.call('GET', sessions);
    took.push(now() - dueAt);
  });
  return took;
}

/** Warm starts: data, binaries and build are there. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startTree } from '../../test/support/servers/tree.js';
import { now } from '../clock.js';
import { median } from '../stats.js';
import type { Row } from '../table.js';
import { embeddedSettings, newFolder } from '../service.js';

const starts = 5;
const demos = 2;
const root = join(import.meta.dirname, '..', '..');

/** `npm start` to its line "Ready" and to /readyz, and `npm run demo`, as medians. */
export async function startUp(): Promise<Row[]> {
  const folder = newFolder();
  try {
    const ready: number[] = [];
    const polled: number[] = [];
    // The first start creates the data.
    for (let n = -1; n < starts; n += 1) {
      const took = await startOnce(join(folder, 'data'));
      if (n < 0) continue;
      ready.push(took.readyMs);
      polled.push(took.readyzMs);
    }
    const demo: number[] = [];
    for (let n = -1; n < demos; n += 1) {
      const took = await demoOnce(join(folder, 'demo'));
      if (n >= 0) demo.push(took);
    }
    return [
      row('npm start, warm: to "Ready"', ready, 3),
      row('npm start, warm: to /readyz 200', polled, 3),
      row('npm run demo, warm', demo, 20),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function row(what: string, times: readonly number[], most: number): Row {
  return { what, value: median(times) / 1_000, unit: 's', aim: { of: 'value', most }, raw: times };
}

async function startOnce(dataDir: string): Promise<{ readyMs: number; readyzMs: number }> {
  const from = now();
  const tree = await startTree(embeddedSettings(dataDir));
  try {
    const readyMs = now() - from;
    while ((await fetch(`${tree.url}/readyz`)).status !== 200) await delay(5);
    return { readyMs, readyzMs: now() - from };
  } finally {
    await tree.stop();
  }
}

async function demoOnce(dataDir: string): Promise<number> {
  const from = now();
  const variables = Object.entries(embeddedSettings(dataDir)).map(([name, value]) => `${name}=${value}`);
  const child = spawn('env', [...variables, 'npm', 'run', 'demo', '--silent'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`npm run demo ended with ${code}`);
  return now() - from;
}

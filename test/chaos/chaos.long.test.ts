import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs, seedOf } from '../support/runs.js';
import { kinds } from './kinds.js';
import { play } from './play.js';
import { Worlds } from '../harness/round.js';

// A slice of `npm run chaos` on real processes: one round of one kind, of several kinds in
// test:all. A broken round keeps its folder.

const seed = seedOf('test/chaos', 4);
// Cheapest first; kills have their own test.
const slice = ['model', 'container', 'kill-worker', 'served-kill-worker'].slice(0, runs(1, 4));
const out = mkdtempSync(join(tmpdir(), 'ratchet-chaos-out-'));
const worlds = new Worlds();
let allHeld = true;

afterAll(async () => {
  await worlds.stop();
  if (allHeld) rmSync(out, { recursive: true });
}, 60_000);

test.each(slice)(
  '%s: no rule is violated',
  async (name) => {
    const said: string[] = [];
    const wanted = kinds.filter((kind) => kind.name === name);
    const [played] = await play(wanted, { seed, rounds: 1 }, { worlds, out, say: (line) => said.push(line) });
    allHeld &&= played?.violations.length === 0;
    expect({ violations: played?.violations, said }).toMatchObject({ violations: [] });
  },
  180_000,
);

/**
 * True reward against rollouts spent, by the official gepa and by sessions of the service on the frozen worlds:
 *
 *   node scripts/tool.mjs bench/curve/main.ts [--kinds rules,strict] [--worlds 1-10] [--by gepa,ratchet,core]
 *                                             [--merge] [--shuffled] [--out FILE]
 *
 * Writes a line of JSON for each search and leaves out those that the file has; then prints the means.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gepaPython } from '../peers/gepa/venv.js';
import { startWorlds } from '../worlds/client.js';
import { devSeeds, frozenHash, worldsHash } from '../worlds/freeze.js';
import { worldKinds, type WorldKind } from '../worlds/world.js';
import { appendTrajectory, readTrajectories } from './file.js';
import { startRatchet, type Ratchet } from '../gepa/ratchet.js';
import { gepaName, searchGepa } from './search-gepa.js';
import { coreName, searchCore } from './search-core.js';
import { ratchetName, searchRatchet } from './search-ratchet.js';
import { tablesOf } from './summary.js';
import { budgets } from './task.js';
import { keyOf, type Search, type Trajectory } from './trajectory.js';

const home = join(import.meta.dirname, '..', '..', '.ratchet');

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: worldKinds.join(',') },
    worlds: { type: 'string', default: `${devSeeds[0]}-${devSeeds[9]}` },
    by: { type: 'string', default: `gepa,${ratchetName}` },
    merge: { type: 'boolean', default: false },
    shuffled: { type: 'boolean', default: false },
    out: { type: 'string', default: join(home, 'curve.jsonl') },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

const hash = worldsHash();
print(`worlds ${hash}${hash === frozenHash ? '' : `: not the frozen ones, which are ${frozenHash}`}`);
const ours = new Set([ratchetName, coreName]);
const known = new Set((await readTrajectories(values.out)).map(keyOf));
const missing = searches().filter((one) => !known.has(keyOf(one)));
const python = missing.some(({ optimizer }) => !ours.has(optimizer)) ? await gepaPython(join(home, 'bench-venv')) : '';
const worlds = await startWorlds();
let ratchet: Ratchet | null = null;
try {
  if (missing.some(({ optimizer }) => optimizer === ratchetName)) ratchet = await startRatchet(worlds.proposerUrl);
  for (const search of missing) {
    const trajectory = await run(search);
    await appendTrajectory(values.out, trajectory);
    print(`${search.optimizer}, ${search.kind} ${search.world}: ${trajectory.steps.at(-1)!.trueReward.toFixed(3)}`);
  }
} finally {
  await ratchet?.stop();
  await worlds.close();
}
const all = await readTrajectories(values.out);
print(
  tablesOf(
    all.filter((trajectory) => trajectory.worlds === hash),
    budgets,
  ),
);

function run(search: Search): Trajectory | Promise<Trajectory> {
  if (search.optimizer === coreName) return searchCore(search, budgets);
  if (search.optimizer === ratchetName) return searchRatchet(ratchet!, worlds, search, budgets);
  return searchGepa(python, worlds, search);
}

function searches(): Search[] {
  const [from = NaN, to = from] = values.worlds.split('-').map(Number);
  const kinds = values.kinds.split(',').map(kindOf);
  if (![from, to].every(Number.isInteger))
    throw new Error(`--worlds ${values.worlds}: give a number, or two as in 1-10`);
  const optimizers = values.by.split(',').map((name) => (ours.has(name) ? name : gepaName(values.merge)));
  return optimizers.flatMap((optimizer) =>
    kinds.flatMap((kind) =>
      Array.from({ length: to - from + 1 }, (_, at) => ({
        optimizer,
        kind,
        world: from + at,
        shuffledFeedback: values.shuffled,
        // What sessions have found by 800 they have found.
        maxRollouts: ours.has(optimizer) ? 800 : budgets.at(-1)!,
        worlds: hash,
      })),
    ),
  );
}

function kindOf(name: string): WorldKind {
  const kind = worldKinds.find((known) => known === name);
  if (!kind) throw new Error(`--kinds: there is no kind ${name}; give some of ${worldKinds.join(',')}`);
  return kind;
}

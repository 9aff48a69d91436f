/**
 * True reward by rollouts, of the official gepa and of sessions, on frozen worlds. Adds missing
 * searches to `--out`, prints means and worst worlds. `--populations 1,2,4` and `--parents
 * estimate,pareto` vary `--by core`: node scripts/tool.mjs bench/curve/main.ts [--worlds 1-10]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gepaPython } from '../peers/gepa/venv.js';
import { startWorlds } from '../worlds/client.js';
import { devSeeds, frozenHash, worldsHash } from '../worlds/freeze.js';
import { openWorld, worldKinds } from '../worlds/world.js';
import { kindsIn, worldsIn } from './arguments.js';
import { appendTrajectory, readTrajectories } from './file.js';
import { startService, type Service } from '../service.js';
import { gepaName, searchGepa } from './search-gepa.js';
import { ceilingOf } from './ceiling.js';
import { diagnosisTables } from './diagnosis.js';
import { coreName, searchCore, type CoreOptions } from './search-core.js';
import { ratchetName, searchRatchet } from './search-ratchet.js';
import { summaryTables } from './summary.js';
import { budgets, searchTask } from './task.js';
import { searchKey, type Search, type Trajectory } from './trajectory.js';

const home = join(import.meta.dirname, '..', '..', '.ratchet');

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: worldKinds.join(',') },
    worlds: { type: 'string', default: `${devSeeds[0]}-${devSeeds[9]}` },
    by: { type: 'string', default: `gepa,${ratchetName}` },
    populations: { type: 'string', default: '4' },
    parents: { type: 'string', default: 'estimate' },
    merge: { type: 'boolean', default: false },
    shuffled: { type: 'boolean', default: false },
    out: { type: 'string', default: join(home, 'curve.jsonl') },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

const hash = worldsHash();
print(`worlds ${hash}${hash === frozenHash ? '' : `: differs from the frozen worlds (${frozenHash})`}`);
const cores = new Map(coreOptions().map((options) => [coreName(options), options]));
const ours = new Set([ratchetName, ...cores.keys()]);
const known = new Set((await readTrajectories(values.out)).map(searchKey));
const missing = searches().filter((search) => !known.has(searchKey(search)));
const python = missing.some(({ optimizer }) => !ours.has(optimizer)) ? await gepaPython(join(home, 'bench-venv')) : '';
const worlds = await startWorlds();
let service: Service | null = null;
try {
  if (missing.some(({ optimizer }) => optimizer === ratchetName)) service = await startService(worlds.proposerUrl);
  for (const search of missing) {
    const trajectory = await run(search);
    await appendTrajectory(values.out, trajectory);
    print(`${search.optimizer}, ${search.kind} ${search.world}: ${trajectory.steps.at(-1)!.trueReward.toFixed(3)}`);
  }
} finally {
  await service?.stop();
  await worlds.close();
}
const all = (await readTrajectories(values.out)).filter((trajectory) => trajectory.worlds === hash);
print(summaryTables(all, budgets));
const ceilings = new Map<string, number | null>();
print('');
print(diagnosisTables(all, budgets, ceiling));

/** Kept for each world: its exact value takes many judgements. */
function ceiling({ kind, world }: Trajectory): number | null {
  const key = `${kind} ${world}`;
  if (!ceilings.has(key)) ceilings.set(key, ceilingOf(openWorld(kind, world), searchTask(world, 0, kind).trainSeeds));
  return ceilings.get(key)!;
}

function coreOptions(): CoreOptions[] {
  return values.parents.split(',').flatMap((parentSelection) => {
    if (parentSelection !== 'estimate' && parentSelection !== 'pareto')
      throw new Error(`--parents ${parentSelection}: expected estimate or pareto`);
    return values.populations.split(',').map((size) => ({ populationSize: Number(size), parentSelection }));
  });
}

function run(search: Search): Trajectory | Promise<Trajectory> {
  const options = cores.get(search.optimizer);
  if (options) return searchCore(search, budgets, options);
  if (search.optimizer === ratchetName) return searchRatchet(service!.client, worlds, search, budgets);
  return searchGepa(python, worlds, search);
}

function searches(): Search[] {
  const kinds = kindsIn(values.kinds, worldKinds);
  const optimizers = values.by.split(',').flatMap((name) => {
    if (name === 'core') return [...cores.keys()];
    return name === ratchetName ? [name] : [gepaName(values.merge)];
  });
  return optimizers.flatMap((optimizer) =>
    kinds.flatMap((kind) =>
      worldsIn(values.worlds).map((world) => ({
        optimizer,
        kind,
        world,
        shuffledFeedback: values.shuffled,
        // Budgets above 800 are the same searches.
        maxRollouts: ours.has(optimizer) ? 800 : budgets.at(-1)!,
        worlds: hash,
      })),
    ),
  );
}

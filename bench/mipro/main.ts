/**
 * True reward by task model calls, of DSPy's MIPROv2 and of MIPRO sessions, on frozen worlds with
 * models: node scripts/tool.mjs bench/mipro/main.ts [--kinds examples,instructions] [--labels …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { appendTrajectory, readTrajectories } from '../curve/file.js';
import { summaryTables } from '../curve/summary.js';
import { searchKey, type Trajectory } from '../curve/trajectory.js';
import { startService, type Service } from '../service.js';
import { dspyPython } from '../peers/dspy/venv.js';
import { startWorlds } from '../worlds/client.js';
import { frozenTaskHash, taskWorldsHash } from '../worlds/freeze.js';
import { taskKinds } from '../worlds/tasks.js';
import { tableColumns, kindName, plannedSearches, totals, type Wanted } from './plan.js';
import { searchDspy } from './search-dspy.js';
import { searchRatchet } from './search-ratchet.js';
import { budgets } from './task.js';

const home = join(import.meta.dirname, '..', '..', '.ratchet');

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: taskKinds.join(',') },
    worlds: { type: 'string', default: '1-10' },
    feedback: { type: 'string', default: 'yes,no' },
    labels: { type: 'boolean', default: false },
    optimizers: { type: 'string', default: 'mipro-light,mipro-heavy,ratchet' },
    out: { type: 'string', default: join(home, 'mipro.jsonl') },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

const hash = taskWorldsHash();
print(`worlds ${hash}${hash === frozenTaskHash ? '' : `: differs from the frozen worlds (${frozenTaskHash})`}`);
const wanted = plannedSearches(values, hash);
const known = new Map((await readTrajectories<string>(values.out)).map((item) => [searchKey(item), item]));
const missing = wanted.filter(({ search }) => !known.has(searchKey(search)));
const worlds = await startWorlds();
let service: Service | null = null;
try {
  if (missing.some(({ by }) => 'algorithm' in by)) service = await startService(worlds.proposerUrl);
  for (const planned of missing) {
    const { calls, steps } = await run(planned);
    const trajectory: Trajectory<string> = { ...planned.search, rollouts: calls, steps };
    known.set(searchKey(trajectory), trajectory);
    await appendTrajectory(values.out, trajectory);
    const { optimizer, kind, world } = trajectory;
    print(`${optimizer}, ${kind} ${world}: ${steps.at(-1)!.trueReward.toFixed(3)} after ${calls} calls`);
  }
} finally {
  await service?.stop();
  await worlds.close();
}
const all = [...known.values()].filter((trajectory) => trajectory.worlds === hash);
print(summaryTables(all, tableColumns(all, budgets)));

async function run({ by, setup, search }: Wanted) {
  if ('algorithm' in by) {
    const also = totals([...known.values()], search);
    return searchRatchet(service!.client, worlds, setup, by.algorithm, [...budgets, ...also]);
  }
  // MIPROv2 reads no feedback: its result is the same with and without.
  const other = kindName({ ...setup, feedback: !setup.feedback });
  const same = known.get(searchKey({ ...search, kind: other }));
  if (same) return { calls: same.rollouts, steps: same.steps };
  return searchDspy(await dspyPython(join(home, 'bench-venv')), worlds, { ...setup, auto: by.auto });
}

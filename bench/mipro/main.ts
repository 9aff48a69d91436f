/**
 * True reward against calls of the task model, by DSPy's MIPROv2 and by MIPRO sessions of the service, on frozen worlds in which a
 * model is called:
 *
 *   node scripts/tool.mjs bench/mipro/main.ts [--kinds examples,instructions] [--worlds 1-10] [--feedback yes,no] [--labels]
 *                                             [--optimizers mipro-light,mipro-heavy,ratchet,ratchet-gepa] [--out FILE]
 *
 * Writes a line of JSON for each search and leaves out those that the file has; then prints the means. Sessions are run with
 * the calls that MIPROv2 took in the same world as well, where the file says how many.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { appendTrajectory, readTrajectories } from '../curve/file.js';
import { tablesOf } from '../curve/summary.js';
import { keyOf, type Trajectory } from '../curve/trajectory.js';
import { startService, type Service } from '../gepa/ratchet.js';
import { dspyPython } from '../peers/dspy/venv.js';
import { startWorlds } from '../worlds/client.js';
import { frozenTaskHash, taskWorldsHash } from '../worlds/freeze.js';
import { taskKinds } from '../worlds/tasks.js';
import { columnsOf, kindName, searchesOf, totals, type Wanted } from './plan.js';
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
print(`worlds ${hash}${hash === frozenTaskHash ? '' : `: not the frozen ones, which are ${frozenTaskHash}`}`);
const wanted = searchesOf(values, hash);
const known = new Map((await readTrajectories<string>(values.out)).map((one) => [keyOf(one), one]));
const missing = wanted.filter(({ search }) => !known.has(keyOf(search)));
const worlds = await startWorlds();
let service: Service | null = null;
try {
  if (missing.some(({ by }) => 'algorithm' in by)) service = await startService(worlds.proposerUrl);
  for (const one of missing) {
    const { calls, steps } = await run(one);
    const trajectory: Trajectory<string> = { ...one.search, rollouts: calls, steps };
    known.set(keyOf(trajectory), trajectory);
    await appendTrajectory(values.out, trajectory);
    const { optimizer, kind, world } = trajectory;
    print(`${optimizer}, ${kind} ${world}: ${steps.at(-1)!.trueReward.toFixed(3)} after ${calls} calls`);
  }
} finally {
  await service?.stop();
  await worlds.close();
}
const all = [...known.values()].filter((trajectory) => trajectory.worlds === hash);
print(tablesOf(all, columnsOf(all, budgets)));

async function run({ by, setup, search }: Wanted) {
  if ('algorithm' in by) {
    const also = totals([...known.values()], search);
    return searchRatchet(service!, worlds, setup, by.algorithm, [...budgets, ...also]);
  }
  // MIPROv2 reads no feedback: what it did without is what it does with it.
  const other = kindName({ ...setup, feedback: !setup.feedback });
  const same = known.get(keyOf({ ...search, kind: other }));
  if (same) return { calls: same.rollouts, steps: same.steps };
  return searchDspy(await dspyPython(join(home, 'bench-venv')), worlds, { ...setup, auto: by.auto });
}

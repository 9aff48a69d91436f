/**
 * True reward against model calls, by graph jobs of the service and by the official gepa, which evolves the single prompt of the very
 * same tasks, on frozen worlds of lookups:
 *
 *   node scripts/tool.mjs bench/graph/main.ts [--kinds two-step,one-step] [--worlds 1-10] [--budgets 100,200,400] [--out FILE]
 *
 * Every call counts, of the task model and of the proposer, as the models' process counts them. What a job takes is not known before,
 * so gepa is read where it has taken as many calls in the same world. Writes a line of JSON for each search and leaves out those that
 * the file has; then prints the means.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { appendTrajectory, readTrajectories } from '../curve/file.js';
import { tablesOf } from '../curve/summary.js';
import { keyOf, type Search, type Trajectory } from '../curve/trajectory.js';
import { startService, type Service } from '../gepa/ratchet.js';
import { gepaPython } from '../peers/gepa/venv.js';
import { mean } from '../stats.js';
import { startWorlds } from '../worlds/client.js';
import { devSeeds, frozenLookupHash, lookupWorldsHash } from '../worlds/freeze.js';
import { lookupKinds, type LookupKind } from '../worlds/lookups.js';
import { gepaName, searchGepa } from './search-gepa.js';
import { budgets, ratchetName, searchRatchet } from './search-ratchet.js';

const home = join(import.meta.dirname, '..', '..', '.ratchet');

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: lookupKinds.join(',') },
    worlds: { type: 'string', default: `${devSeeds[0]}-${devSeeds[9]}` },
    budgets: { type: 'string', default: budgets.join(',') },
    out: { type: 'string', default: join(home, 'graph.jsonl') },
  },
});
const print = (line: string) => void process.stdout.write(`${line}\n`);

/** A line of the file; `kind` names the budget too. */
type GraphTrajectory = Trajectory<string> & { graph?: string };

const hash = lookupWorldsHash();
print(`worlds ${hash}${hash === frozenLookupHash ? '' : `: not the frozen ones, which are ${frozenLookupHash}`}`);
const known = new Map((await readTrajectories<string>(values.out)).map((one) => [keyOf(one), one as GraphTrajectory]));
const wanted = searches();
const python = await gepaPython(join(home, 'bench-venv'));
const worlds = await startWorlds();
let service: Service | null = null;
try {
  for (const { kind, world, rolloutBudget, of } of wanted) {
    const setup = { kind, world };
    const ours = of(ratchetName);
    const peer = of(gepaName);
    if (!known.has(keyOf(ours))) {
      service ??= await startService(worlds.proposerUrl);
      const { calls, steps, graph } = await searchRatchet(service, worlds, setup, rolloutBudget);
      await keep({ ...ours, rollouts: calls, steps, graph });
    }
    if (!known.has(keyOf(peer))) {
      const calls = known.get(keyOf(ours))!.rollouts;
      const searched = await searchGepa(python, worlds, setup, { rolloutBudget, calls });
      await keep({ ...peer, rollouts: searched.calls, steps: searched.steps });
    }
  }
} finally {
  await service?.stop();
  await worlds.close();
}
// What the others are compared with comes first.
const shown = [gepaName, ratchetName].flatMap((name) => wanted.map(({ of }) => known.get(keyOf(of(name)))!));
const taken = new Map(
  shown.filter(({ optimizer }) => optimizer === ratchetName).map((one) => [`${one.kind} ${one.world}`, one.rollouts]),
);
const asMany = {
  name: 'after as many calls',
  at: ({ kind, world }: Trajectory<string>) => taken.get(`${kind} ${world}`)!,
};
print(tablesOf(shown, [asMany]));
for (const kind of new Set(shown.map((one) => one.kind))) {
  const calls = [...taken].filter(([key]) => key.startsWith(`${kind} `)).map(([, count]) => count);
  print(`${kind}: ${mean(calls).toFixed(0)} calls (${Math.min(...calls)} to ${Math.max(...calls)})`);
}

async function keep(trajectory: GraphTrajectory): Promise<void> {
  known.set(keyOf(trajectory), trajectory);
  await appendTrajectory(values.out, trajectory);
  const { optimizer, kind, world, steps, rollouts } = trajectory;
  print(`${optimizer}, ${kind}, world ${world}: ${steps.at(-1)!.trueReward.toFixed(3)} after ${rollouts} calls`);
}

/** By budget first, so that all worlds are seen early. */
function searches() {
  const [from = NaN, to = from] = values.worlds.split('-').map(Number);
  if (![from, to].every(Number.isInteger))
    throw new Error(`--worlds ${values.worlds}: give a number, or two as in 1-10`);
  const all = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return values.budgets.split(',').flatMap((budget) =>
    values.kinds.split(',').flatMap((name) =>
      all.map((world) => {
        const kind = kindOf(name);
        const rolloutBudget = Number(budget);
        const of = (optimizer: string): Search<string> => ({
          ...{ optimizer, kind: `${kind}, ${budget} runs`, world, shuffledFeedback: false },
          ...{ maxRollouts: rolloutBudget, worlds: hash },
        });
        return { kind, world, rolloutBudget, of };
      }),
    ),
  );
}

function kindOf(name: string): LookupKind {
  const kind = lookupKinds.find((one) => one === name);
  if (!kind) throw new Error(`--kinds: there is no kind ${name}; give some of ${lookupKinds.join(',')}`);
  return kind;
}

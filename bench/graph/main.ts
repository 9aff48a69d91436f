/**
 * True reward by model calls, of graph jobs and of the official gepa on a single prompt, on frozen
 * worlds of lookups. All calls count: node scripts/tool.mjs bench/graph/main.ts [--worlds 1-10 …]
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { kindsIn, worldsIn } from '../curve/arguments.js';
import { appendTrajectory, readTrajectories } from '../curve/file.js';
import { summaryTables } from '../curve/summary.js';
import { searchKey, type Search, type Trajectory } from '../curve/trajectory.js';
import { startService, type Service } from '../service.js';
import { gepaPython } from '../peers/gepa/venv.js';
import { mean } from '../stats.js';
import { startWorlds } from '../worlds/client.js';
import { devSeeds, frozenLookupHash, lookupWorldsHash } from '../worlds/freeze.js';
import { lookupKinds } from '../worlds/lookups.js';
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

/** A line of the file; `kind` includes the budget. */
type GraphTrajectory = Trajectory<string> & { graph?: string };

const hash = lookupWorldsHash();
print(`worlds ${hash}${hash === frozenLookupHash ? '' : `: differs from the frozen worlds (${frozenLookupHash})`}`);
const known = new Map(
  (await readTrajectories<string>(values.out)).map((item) => [searchKey(item), item as GraphTrajectory]),
);
const wanted = searches();
const python = await gepaPython(join(home, 'bench-venv'));
const worlds = await startWorlds();
let service: Service | null = null;
try {
  for (const { kind, world, rolloutBudget, of } of wanted) {
    const setup = { kind, world };
    const ours = of(ratchetName);
    const peer = of(gepaName);
    if (!known.has(searchKey(ours))) {
      service ??= await startService(worlds.proposerUrl);
      const { calls, steps, graph } = await searchRatchet(service.client, worlds, setup, rolloutBudget);
      await keep({ ...ours, rollouts: calls, steps, graph });
    }
    if (!known.has(searchKey(peer))) {
      const calls = known.get(searchKey(ours))!.rollouts;
      const searched = await searchGepa(python, worlds, setup, { rolloutBudget, calls });
      await keep({ ...peer, rollouts: searched.calls, steps: searched.steps });
    }
  }
} finally {
  await service?.stop();
  await worlds.close();
}
// The reference of the comparison comes first.
const shown = [gepaName, ratchetName].flatMap((name) => wanted.map(({ of }) => known.get(searchKey(of(name)))!));
const taken = new Map(
  shown
    .filter(({ optimizer }) => optimizer === ratchetName)
    .map((search) => [`${search.kind} ${search.world}`, search.rollouts]),
);
const asMany = {
  name: 'after as many calls',
  at: ({ kind, world }: Trajectory<string>) => taken.get(`${kind} ${world}`)!,
};
print(summaryTables(shown, [asMany]));
for (const kind of new Set(shown.map(({ kind }) => kind))) {
  const calls = [...taken].filter(([key]) => key.startsWith(`${kind} `)).map(([, count]) => count);
  print(`${kind}: ${mean(calls).toFixed(0)} calls (${Math.min(...calls)} to ${Math.max(...calls)})`);
}

async function keep(trajectory: GraphTrajectory): Promise<void> {
  known.set(searchKey(trajectory), trajectory);
  await appendTrajectory(values.out, trajectory);
  const { optimizer, kind, world, steps, rollouts } = trajectory;
  print(`${optimizer}, ${kind}, world ${world}: ${steps.at(-1)!.trueReward.toFixed(3)} after ${rollouts} calls`);
}

/** By budget first, so that all worlds appear early. */
function searches() {
  return values.budgets.split(',').flatMap((budget) =>
    kindsIn(values.kinds, lookupKinds).flatMap((kind) =>
      worldsIn(values.worlds).map((world) => {
        const rolloutBudget = Number(budget);
        const of = (optimizer: string): Search<string> => ({
          optimizer,
          kind: `${kind}, ${budget} runs`,
          world,
          shuffledFeedback: false,
          maxRollouts: rolloutBudget,
          worlds: hash,
        });
        return { kind, world, rolloutBudget, of };
      }),
    ),
  );
}

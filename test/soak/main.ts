/**
 * npm run soak -- --minutes M --seed S: plays all kinds of job without faults on one `npm start`
 * for M minutes, lets it rest, and prints what was lost or bought twice by the rules of chaos, and
 * how memory, descriptors, connections and files grew. Exit code 1 if a promise was broken.
 */
import { Command } from 'commander';
import { mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mixture } from '../chaos/all.js';
import { check } from '../harness/rules/checker.js';
import { newRound, report, Worlds } from '../harness/round.js';
import { startSampler } from './sampler.js';
import { slopeTable } from './table.js';

/** The API, the worker and their servers return to their least after the load. */
const restMs = 120_000;

const options = new Command('soak')
  .option('--minutes <number>', 'time under load', Number, 30)
  .option('--seed <number>', 'where all chance comes from', Number, 1)
  .option('--out <folder>', 'for samples, and the evidence of broken rounds', join(tmpdir(), 'ratchet-soak'))
  .parse()
  .opts<{ minutes: number; seed: number; out: string }>();

mkdirSync(options.out, { recursive: true });
const worlds = new Worlds();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Processes in sessions of their own would survive otherwise.
  process.once(signal, () => void worlds.stop().then(() => process.exit(130)));
}
const world = await worlds.get('dev');
const sampler = startSampler(world, join(options.out, 'samples.jsonl'));
const began = Date.now();
const minutes = () => (Date.now() - began) / 60_000;
const totals = { rounds: 0, jobs: 0, rollouts: 0, violations: 0 };
for (let seed = options.seed; minutes() < options.minutes; seed += 1) await playRound(seed);
const loadEnd = minutes();
await delay(restMs);
await sampler.stop();
console.log(`\n${slopeTable(sampler.samples, loadEnd)}`);
for (const fault of sampler.faults) console.log(`a sample was not taken: ${fault}`);
console.log(
  `\n${totals.rounds} rounds, ${totals.jobs} jobs, ${totals.rollouts} rollouts in ${loadEnd.toFixed(1)} minutes; ` +
    `${totals.violations} promises broken`,
);
await worlds.stop();
process.exit(totals.violations > 0 ? 1 : 0);

async function playRound(seed: number): Promise<void> {
  const folder = join(options.out, `round-${seed}-${process.pid}`);
  const round = newRound('soak', seed, folder, worlds);
  mkdirSync(folder, { recursive: true });
  try {
    const evidence = await mixture(round, Math.min(60_000, options.minutes * 60_000));
    const violations = check(evidence);
    const { jobs } = evidence;
    const rollouts = jobs.reduce((sum, job) => sum + job.rollouts.length, 0);
    totals.rounds += 1;
    totals.jobs += jobs.length;
    totals.rollouts += rollouts;
    totals.violations += violations.length;
    const said = `minute ${minutes().toFixed(1)}, seed ${seed}: ${jobs.length} jobs, ${rollouts} rollouts`;
    console.log([said, ...violations.slice(0, 10)].join('\n    '));
    if (violations.length > 0) report(round, evidence, violations);
    else rmSync(folder, { recursive: true, force: true });
  } finally {
    for (const end of round.after.reverse()) await end();
  }
}

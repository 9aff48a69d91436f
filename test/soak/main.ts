/**
 * npm run soak -- --minutes M --seed S: runs all kinds of job on one `npm start` without faults for
 * M minutes, then leaves it idle. Checks the rules of chaos, and prints how memory, descriptors,
 * connections and the database grew. Exit code 1 if a rule was broken.
 */
import { Command } from 'commander';
import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { soakKind } from '../chaos/kinds.js';
import { playOne } from '../chaos/play.js';
import { Worlds } from '../harness/round.js';
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
const sampler = startSampler(await worlds.get('dev'), join(options.out, 'samples.jsonl'));
const stage = { worlds, out: options.out, say: (line: string) => console.log(line) };
const began = Date.now();
const minutes = () => (Date.now() - began) / 60_000;
let [rounds, broken] = [0, 0];
for (let seed = options.seed; minutes() < options.minutes; seed += 1) {
  const { violations } = await playOne(soakKind, seed, stage);
  rounds += 1;
  broken += violations.length;
}
const loadEnd = minutes();
await delay(restMs);
await sampler.stop();
console.log(`\n${slopeTable(sampler.samples, loadEnd)}`);
for (const fault of sampler.faults) console.log(`a sample was not taken: ${fault}`);
console.log(`\n${rounds} rounds in ${loadEnd.toFixed(1)} minutes, ${broken} violations`);
await worlds.stop();
process.exit(broken > 0 ? 1 : 0);

/**
 * npm run chaos -- --seed S --rounds N [--kind name …]: plays N rounds of each kind, with the seeds
 * S, S + 1, …, prints a line for each and a table at the end; exit code 1 if a promise was broken.
 * `--seed S --rounds 1 --kind name` plays one round again.
 *
 * npm run chaos -- --counts full: plays rounds of all kinds of job at once until each fault has the
 * count of a release, at most `--minutes`, and prints what was lost or bought again.
 */
import { Command } from 'commander';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kinds, soakKind } from './kinds.js';
import { countsTable, fullCounts, readCounts } from './counts.js';
import { play, playCounts, type Played } from './play.js';
import { Worlds } from '../harness/round.js';

const whole = (text: string) => {
  if (!/^\d+$/.test(text)) throw new Error(`${text} is no whole number`);
  return Number(text);
};
const options = new Command('chaos')
  .option('--seed <number>', 'where all chance comes from', whole, 1)
  .option('--rounds <number>', 'rounds of each kind', whole, 1)
  .option('--kind <name...>', `only these: ${kinds.map(({ name }) => name).join(', ')}`)
  .option('--counts <fault=count...>', '"full", or counts as in all-worker=10')
  .option('--minutes <number>', 'longest time of --counts', whole, 240)
  .option('--out <folder>', 'where broken rounds leave what is known of them', join(tmpdir(), 'ratchet-chaos'))
  .parse()
  .opts<{ seed: number; rounds: number; kind?: string[]; counts?: string[]; minutes: number; out: string }>();

const unknown = (options.kind ?? []).filter((name) => !kinds.some((kind) => kind.name === name));
if (unknown.length > 0) {
  console.error(`There is no kind ${unknown.join(', ')}; there are ${kinds.map(({ name }) => name).join(', ')}.`);
  process.exit(2);
}

const worlds = new Worlds();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  // Processes in sessions of their own would survive otherwise.
  process.once(signal, () => void worlds.stop().then(() => process.exit(130)));
}
const stage = { worlds, out: options.out, say: (line: string) => console.log(line) };
if (options.counts) {
  const counts = readCounts(options.counts);
  const wanted = kinds.flatMap((kind) => (counts[kind.name] ? [{ kind, count: counts[kind.name]! }] : []));
  const played = await playCounts(wanted, options, stage);
  await worlds.stop();
  const tallies = played.flatMap(({ kind, tally }) => (tally ? [{ kind, ...tally }] : []));
  console.log(`\n${countsTable(counts, tallies)}`);
  const reached = (kind: string) =>
    tallies.filter((tally) => tally.kind === kind).reduce((sum, { count }) => sum + count, 0);
  const isHeld = played.every(({ violations }) => violations.length === 0);
  process.exit(isHeld && wanted.every(({ kind, count }) => reached(kind.name) >= count) ? 0 : 1);
}
// The rounds of a counted run and of a soak come only if named.
const isLong = (name: string) => name in fullCounts || name === soakKind.name;
const wanted = kinds.filter(({ name }) => options.kind?.includes(name) ?? !isLong(name));
const played = await play(wanted, options, stage);
await worlds.stop();
console.log(`\n${table(played)}`);
process.exit(played.some(({ violations }) => violations.length > 0) ? 1 : 0);

/** Kinds, rounds, passed rounds, and the seconds of the shortest, middle and longest. */
function table(rounds: Played[]): string {
  const rows = kinds.flatMap(({ name }) => {
    const own = rounds.filter(({ kind }) => kind === name);
    if (own.length === 0) return [];
    const seconds = own.map((round) => round.seconds).sort((a, b) => a - b);
    const held = own.filter(({ violations }) => violations.length === 0).length;
    const times = [seconds[0]!, seconds[seconds.length >> 1]!, seconds.at(-1)!].map((s) => s.toFixed(1));
    return [[name, `${own.length}`, `${held}`, ...times]];
  });
  const head = ['kind', 'rounds', 'held', 'least s', 'median s', 'most s'];
  return [head, ...rows]
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(22) : cell.padStart(9))).join(''))
    .join('\n');
}

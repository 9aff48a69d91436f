import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Tally } from './counts.js';
import type { Kind } from './kinds.js';
import { newRound, report, type Worlds } from '../harness/round.js';

/** A finished round. */
export interface Played {
  kind: string;
  seed: number;
  seconds: number;
  violations: string[];
  tally?: Tally;
}

/** Where rounds run: `out` keeps the files of broken rounds, `say` gets a line for each round. */
interface Stage {
  worlds: Worlds;
  out: string;
  say(line: string): void;
}

/** Plays `rounds` rounds of each kind from `seed` on. */
export async function play(
  kinds: readonly Kind[],
  { seed, rounds }: { seed: number; rounds: number },
  stage: Stage,
): Promise<Played[]> {
  const played: Played[] = [];
  for (const kind of kinds) {
    for (let n = 0; n < rounds; n += 1) {
      const round = await playOne(kind, seed + n, stage);
      played.push(round);
      // Isolate the next round from the remains of a broken one.
      if (round.violations.length > 0) await stage.worlds.stop();
    }
  }
  return played;
}

/** Plays rounds of each kind until they have so many faults; until the time is up at the most. */
export async function playCounts(
  counts: readonly { kind: Kind; count: number }[],
  { seed, minutes }: { seed: number; minutes: number },
  stage: Stage,
): Promise<Played[]> {
  const { worlds, say } = stage;
  const deadline = Date.now() + minutes * 60_000;
  const played: Played[] = [];
  for (const { kind, count } of counts) {
    for (let n = 0, faults = 0; faults < count && Date.now() < deadline; n += 1) {
      const round = await playOne(kind, seed + n, stage);
      played.push(round);
      faults += round.tally?.count ?? 0;
      say(`    ${kind.name}: ${faults} of ${count} faults`);
      if (round.violations.length > 0) await worlds.stop();
    }
    // The worlds of other kinds take memory and CPU.
    await worlds.stop();
  }
  return played;
}

/** Plays a round; a round that breaks off has that as its violation. */
export async function playOne(kind: Kind, seed: number, { worlds, out, say }: Stage): Promise<Played> {
  const folder = join(out, `${kind.name}-${seed}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const round = newRound(kind.name, seed, folder, worlds);
  let said = '';
  let violations: string[];
  let tally: Tally | undefined;
  try {
    ({ said, violations, tally } = await kind.play(round));
  } catch (error) {
    // The harness itself failed, possibly because of the service.
    violations = [`the round broke off: ${(error as Error).stack}`];
    report(round, null, violations);
  } finally {
    for (const end of round.after.reverse()) await end();
  }
  const seconds = (Date.now() - round.startedAt) / 1_000;
  const held = violations.length === 0;
  const line = `${kind.name.padEnd(20)} seed ${seed}  ${held ? 'held  ' : 'BROKEN'} ${seconds.toFixed(1).padStart(6)} s  ${said}`;
  say([line, ...violations.slice(0, 10).map((what) => `    ${what}`)].join('\n'));
  if (held) rmSync(folder, { recursive: true, force: true });
  else {
    say(`    look into ${folder}`);
    say(`    again: npm run chaos -- --seed ${seed} --rounds 1 --kind ${kind.name}`);
  }
  return { kind: kind.name, seed, seconds, violations, ...(tally && { tally }) };
}

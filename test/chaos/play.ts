import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SeededChoice } from './seeded-choice.js';
import type { Kind } from './kinds.js';
import { report, type Round, type Worlds } from './round.js';

/** A finished round. */
export interface Played {
  kind: string;
  seed: number;
  seconds: number;
  violations: string[];
}

/**
 * Plays `rounds` rounds of each kind from `seed` on; calls `say` with a line for each. Passed
 * rounds leave no files.
 */
export async function play(
  kinds: readonly Kind[],
  { seed, rounds, out }: { seed: number; rounds: number; out: string },
  worlds: Worlds,
  say: (line: string) => void,
): Promise<Played[]> {
  const played: Played[] = [];
  for (const kind of kinds) {
    for (let n = 0; n < rounds; n += 1) {
      const round = await playOne(kind, seed + n, out, worlds, say);
      played.push(round);
      // Isolate the next round from the remains of a broken one.
      if (round.violations.length > 0) await worlds.stop();
    }
  }
  return played;
}

async function playOne(
  kind: Kind,
  seed: number,
  out: string,
  worlds: Worlds,
  say: (line: string) => void,
): Promise<Played> {
  const folder = join(out, `${kind.name}-${seed}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const round: Round = { kind: kind.name, seed, choice: new SeededChoice(seed, kind.name), folder, worlds, after: [] };
  const startedAt = Date.now();
  let said = '';
  let violations: string[];
  try {
    ({ said, violations } = await kind.play(round));
  } catch (error) {
    // The harness itself failed, possibly because of the service.
    violations = [`the round broke off: ${(error as Error).stack}`];
    report(round, null, violations);
  } finally {
    for (const end of round.after.reverse()) await end();
  }
  const seconds = (Date.now() - startedAt) / 1_000;
  const held = violations.length === 0;
  const line = `${kind.name.padEnd(20)} seed ${seed}  ${held ? 'held  ' : 'BROKEN'} ${seconds.toFixed(1).padStart(6)} s  ${said}`;
  say([line, ...violations.slice(0, 10).map((what) => `    ${what}`)].join('\n'));
  if (held) rmSync(folder, { recursive: true, force: true });
  else {
    say(`    look into ${folder}`);
    say(`    again: npm run chaos -- --seed ${seed} --rounds 1 --kind ${kind.name}`);
  }
  return { kind: kind.name, seed, seconds, violations };
}

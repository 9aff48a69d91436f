import { runGepa } from '../peers/gepa/run.js';
import type { Run, Worlds } from '../worlds/client.js';
import type { Ratchet } from '../../src/client/index.js';
import { searchSession } from './ratchet.js';
import type { Outcome, SearchTask } from './search.js';
import { reachedAfter, rewardSteps, ledgerUsage, type Step, type Usage } from './timeline.js';

/** A search as measured by the world. */
export interface Side {
  usage: Usage;
  steps: Step[];
  /** Of the returned prompt, over all instances. */
  trueReward: number;
  /** Time at which it reached the peer's final true reward; null: never, or no peer. */
  reachedMs: number | null;
}

/** Both searches of a world; `peer` null: none. */
export interface Pair {
  world: number;
  ours: Side;
  peer: Side | null;
}

/** Common settings. `python` has the peer; null: unavailable. `say` reports each search. */
export interface Bench {
  worlds: Worlds;
  ratchet: Ratchet;
  python: string | null;
  say: (line: string) => void;
}

/** Runs both in a world with `latencyMs` per answer, one after the other. */
export async function compare(bench: Bench, task: SearchTask, world: number, latencyMs: number): Promise<Pair> {
  const { worlds, ratchet, python, say } = bench;
  const open = () => worlds.open({ world, rolloutMs: latencyMs, proposerMs: latencyMs });
  const measure = async (
    name: string,
    search: (run: Run) => Promise<Outcome>,
    target: number | null,
  ): Promise<Side> => {
    const run = await open();
    const outcome = await search(run);
    const usage = ledgerUsage(await run.ledger(), outcome, task.maxConcurrent);
    if (usage.rollouts !== outcome.rollouts)
      throw new Error(`${name} counts ${outcome.rollouts} rollouts, the container ${usage.rollouts}`);
    const steps = await rewardSteps(outcome, (text) => run.trueReward(text));
    const trueReward = await run.trueReward(outcome.winner);
    const side = { usage, steps, trueReward, reachedMs: reachedAfter(steps, target ?? trueReward) };
    say(describe(`world ${world}, ${latencyMs} ms, ${name}`, side));
    return side;
  };
  const peer = python && (await measure('gepa', (run) => runGepa(python, worlds.proposerUrl, run, task), null));
  const target = peer ? peer.trueReward : null;
  const ours = await measure('ratchet', (run) => searchSession(ratchet, run, task), target);
  return { world, ours: target === null ? { ...ours, reachedMs: null } : ours, peer: peer || null };
}

function describe(what: string, { usage, trueReward, reachedMs }: Side): string {
  const { wallMs, rollouts, utilisation, gaps, meanGapMs, idleMs, proposingMs, depth } = usage;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  return [
    `${what}: ${seconds(wallMs)}, ${rollouts} rollouts, ${(wallMs / rollouts).toFixed(2)} ms each`,
    `true reward ${trueReward.toFixed(3)}`,
    reachedMs === null ? "gepa's never reached" : `gepa's reached after ${seconds(reachedMs)}`,
    `slots busy ${(100 * utilisation).toFixed(0)} %, nothing under way ${seconds(idleMs)} (${gaps} gaps of ${meanGapMs.toFixed(1)} ms), longest chain ${depth} calls`,
    `proposals alone ${seconds(proposingMs)}`,
  ].join('; ');
}

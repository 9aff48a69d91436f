/** Which searches a call of the bench asks for, and the columns of its tables. Pure. */
import type { Column } from '../curve/summary.js';
import type { Search, Trajectory } from '../curve/trajectory.js';
import type { Auto } from '../peers/dspy/run.js';
import type { TaskSetup } from '../worlds/client.js';
import { taskKinds } from '../worlds/tasks.js';
import { dspyName } from './search-dspy.js';
import { ratchetName, type Algorithm } from './search-ratchet.js';

type By = { auto: Auto } | { algorithm: Algorithm };
type Setup = Pick<TaskSetup, 'kind' | 'world' | 'feedback' | 'labels'>;

/** A search, who is to run it, and on what. */
export interface Wanted {
  by: By;
  setup: Setup;
  search: Search<string>;
}

const optimizers: Record<string, By> = {
  'mipro-light': { auto: 'light' },
  'mipro-heavy': { auto: 'heavy' },
  ratchet: { algorithm: 'mipro' },
  'ratchet-gepa': { algorithm: 'gepa' },
};

interface Options {
  kinds: string;
  worlds: string;
  feedback: string;
  labels: boolean;
  optimizers: string;
}

/** The kind of a world as tables name it. */
export function kindName({ kind, feedback, labels }: Omit<Setup, 'world'>): string {
  return `${kind}, ${feedback ? 'feedback' : 'rewards only'}${labels ? ', labels' : ''}`;
}

/** The searches in the order in which they are to be run: by optimizer first, as given. Throws on a name that is none. */
export function searchesOf({ kinds, worlds, feedback, labels, optimizers: names }: Options, hash: string): Wanted[] {
  const [from = NaN, to = from] = worlds.split('-').map(Number);
  if (![from, to].every(Number.isInteger)) throw new Error(`--worlds ${worlds}: give a number, or two as in 1-10`);
  const seeds = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  return names.split(',').flatMap((name) => {
    const by = optimizers[name];
    if (!by) throw new Error(`--optimizers: there is no ${name}; give some of ${Object.keys(optimizers).join(',')}`);
    const optimizer = 'auto' in by ? dspyName(by.auto) : ratchetName(by.algorithm);
    return seeds.flatMap((world) =>
      kinds.split(',').flatMap((given) => {
        const kind = taskKinds.find((one) => one === given);
        if (!kind) throw new Error(`--kinds: there is no kind ${given}; give some of ${taskKinds.join(',')}`);
        return feedback.split(',').map((told): Wanted => {
          const setup = { kind, world, labels, feedback: told === 'yes' };
          const search = {
            optimizer,
            kind: kindName(setup),
            world,
            shuffledFeedback: false,
            maxRollouts: 0,
            worlds: hash,
          };
          return { by, setup, search };
        });
      }),
    );
  });
}

const autos: readonly Auto[] = ['light', 'heavy'];

/** How many calls MIPROv2 took in all in the world of a search, for each of its modes that is known. */
export function totals(known: readonly Trajectory<string>[], { kind, world, worlds }: Search<string>): number[] {
  return autos.flatMap((auto) => {
    const peer = known.find(
      (one) => one.optimizer === dspyName(auto) && one.kind === kind && one.world === world && one.worlds === worlds,
    );
    return peer ? [peer.rollouts] : [];
  });
}

/** `budgets`, and what MIPROv2 took in all in the same world. */
export function columnsOf(known: readonly Trajectory<string>[], budgets: readonly number[]): Column[] {
  const ends = autos
    .filter((auto) => known.some(({ optimizer }) => optimizer === dspyName(auto)))
    .map((auto): Column => {
      const taken = new Map(
        known
          .filter((one) => one.optimizer === dspyName(auto))
          .map((one) => [`${one.kind} ${one.world}`, one.rollouts]),
      );
      return { name: `as ${auto}`, at: ({ kind, world }) => taken.get(`${kind} ${world}`) ?? Infinity };
    });
  return [...budgets, ...ends];
}

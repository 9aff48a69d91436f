/** The searches of a run of the bench, and the columns of its tables. Pure. */
import { kindsIn, worldsIn } from '../curve/arguments.js';
import type { Column } from '../curve/summary.js';
import type { Search, Trajectory } from '../curve/trajectory.js';
import type { Auto } from './search-dspy.js';
import type { TaskSetup } from '../worlds/client.js';
import { taskKinds } from '../worlds/tasks.js';
import { dspyName } from './search-dspy.js';
import { ratchetName, type Algorithm } from './search-ratchet.js';

type By = { auto: Auto } | { algorithm: Algorithm };
type Setup = Pick<TaskSetup, 'kind' | 'world' | 'feedback' | 'labels'>;

/** A search to run, with its runner and world. */
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

/** A world's kind as shown in tables. */
export function kindName({ kind, feedback, labels }: Omit<Setup, 'world'>): string {
  return `${kind}, ${feedback ? 'feedback' : 'rewards only'}${labels ? ', labels' : ''}`;
}

/** The searches in order, by optimizer first. Throws on an unknown name. */
export function plannedSearches(
  { kinds, worlds, feedback, labels, optimizers: names }: Options,
  hash: string,
): Wanted[] {
  return names.split(',').flatMap((name) => {
    const by = optimizers[name];
    if (!by)
      throw new Error(`--optimizers: unknown optimizer ${name}; expected some of ${Object.keys(optimizers).join(',')}`);
    const optimizer = 'auto' in by ? dspyName(by.auto) : ratchetName(by.algorithm);
    return worldsIn(worlds).flatMap((world) =>
      kindsIn(kinds, taskKinds).flatMap((kind) =>
        feedback.split(',').map((flag): Wanted => {
          const setup = { kind, world, labels, feedback: flag === 'yes' };
          const search = {
            optimizer,
            kind: kindName(setup),
            world,
            shuffledFeedback: false,
            maxRollouts: 0,
            worlds: hash,
          };
          return { by, setup, search };
        }),
      ),
    );
  });
}

const autos: readonly Auto[] = ['light', 'heavy'];

/** MIPROv2's total calls in a search's world, for each known mode. */
export function totals(known: readonly Trajectory<string>[], { kind, world, worlds }: Search<string>): number[] {
  return autos.flatMap((auto) => {
    const peer = known.find(
      (item) =>
        item.optimizer === dspyName(auto) && item.kind === kind && item.world === world && item.worlds === worlds,
    );
    return peer ? [peer.rollouts] : [];
  });
}

/** `budgets`, and MIPROv2's total calls in the same world. */
export function tableColumns(known: readonly Trajectory<string>[], budgets: readonly number[]): Column[] {
  const ends = autos
    .filter((auto) => known.some(({ optimizer }) => optimizer === dspyName(auto)))
    .map((auto): Column => {
      const taken = new Map(
        known
          .filter(({ optimizer }) => optimizer === dspyName(auto))
          .map((search) => [`${search.kind} ${search.world}`, search.rollouts]),
      );
      return { name: `as ${auto}`, at: ({ kind, world }) => taken.get(`${kind} ${world}`) ?? Infinity };
    });
  return [...budgets, ...ends];
}

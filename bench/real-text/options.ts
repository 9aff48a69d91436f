/** Options of `npm run bench -- real-text`. */
import { resolve } from 'node:path';
import { contestants, type Contestant } from './contestants.js';
import { modelSizes, type ModelSize } from './model/files.js';
import { allTasks, tasks, type TextTask } from './tasks.js';

export const realTextFlags = {
  tasks: { type: 'string' },
  contestants: { type: 'string' },
  splits: { type: 'string', default: '10' },
  heldout: { type: 'string', default: '200' },
  model: { type: 'string', default: '1.5b' },
  budget: { type: 'string', default: '300' },
  transcripts: { type: 'string' },
  fresh: { type: 'boolean', default: false },
} as const;

interface Values {
  tasks?: string | undefined;
  contestants?: string | undefined;
  splits: string;
  heldout: string;
  model: string;
  budget: string;
  transcripts?: string | undefined;
  fresh: boolean;
}

export interface RealTextOptions {
  tasks: readonly TextTask[];
  contestants: readonly Contestant[];
  splits: number;
  heldout: number;
  model: ModelSize;
  budget: number;
  transcripts: string | null;
  fresh: boolean;
}

/** Throws a RangeError that names the option. */
export function readRealTextOptions(values: Values): RealTextOptions {
  const size = modelSizes.find((each) => each === values.model);
  if (!size) throw new RangeError(`--model must be ${modelSizes.join(' or ')}; got "${values.model}".`);
  return {
    tasks: values.tasks === undefined ? tasks : chosen('tasks', allTasks, values.tasks),
    contestants: chosen('contestants', contestants, values.contestants),
    splits: wholeNumber('splits', values.splits, 1),
    heldout: wholeNumber('heldout', values.heldout, 1),
    // A session evaluates the base prompt and another one on the 40 rows.
    budget: wholeNumber('budget', values.budget, 90),
    model: size,
    transcripts: values.transcripts === undefined ? null : resolve(values.transcripts),
    fresh: values.fresh,
  };
}

function chosen<T extends { name: string }>(
  option: string,
  all: readonly T[],
  names: string | undefined,
): readonly T[] {
  if (names === undefined) return all;
  const wanted = names.split(',');
  const unknown = wanted.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length === 0) return all.filter(({ name }) => wanted.includes(name));
  throw new RangeError(
    `--${option} has no ${unknown.join(', ')}; choose from ${all.map(({ name }) => name).join(', ')}.`,
  );
}

function wholeNumber(option: string, text: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new RangeError(`--${option} must be a whole number of at least ${least}; got "${text}".`);
}

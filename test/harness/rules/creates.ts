import type { Rule } from './rule.js';

export const createRules: Rule[] = [
  {
    name: 'a create makes one job, however often it is repeated with its key',
    costs: 'purchase',
    broken: ({ jobs, found }) => {
      const known = new Set(jobs.map(({ id }) => id));
      return [
        ...jobs.flatMap(({ name, answered }) =>
          new Set(answered).size === 1 ? [] : [`${name} was answered with ${answered.join(' and ')}`],
        ),
        ...found.filter((id) => !known.has(id)).map((id) => `${id} is of no create`),
      ];
    },
  },
  {
    name: 'a job whose create was answered exists',
    costs: 'loss',
    broken: ({ jobs, found }) => jobs.filter(({ id }) => !found.includes(id)).map(({ id }) => `${id} is missing`),
  },
];
